import CKernels

// Pointers: loads of codes read 16 bytes, `x` names two numbers of 16 bits; callers stay inside of
// their panels.

/// What an instruction set gives to products of 16-bit with 8-bit numbers.
protocol CodePanelPrimitives: TilePrimitives {
  /// 16 columns of two rows of B.
  associatedtype CodePairs: BitwiseCopyable
  static func codePairs(_ even: UnsafeRawPointer, _ odd: UnsafeRawPointer) -> CodePairs
  /// A row and zeros.
  static func lastCodes(_ even: UnsafeRawPointer) -> CodePairs
  /// sums += even · x[0] + odd · x[1].
  static func add(_ codes: CodePairs, _ x: UnsafeRawPointer, to sums: inout Sums)
}

#if arch(x86_64)
  extension AVX2: CodePanelPrimitives {
    typealias CodePairs = Halves<__m256i>

    @inline(__always)
    static func codePairs(_ even: UnsafeRawPointer, _ odd: UnsafeRawPointer) -> CodePairs {
      var pairs = CodePairs(low: .zero, high: .zero)
      unsafe ck_avx2_code_pairs(&pairs, even, odd)
      return pairs
    }

    @inline(__always) static func lastCodes(_ even: UnsafeRawPointer) -> CodePairs {
      var pairs = CodePairs(low: .zero, high: .zero)
      unsafe ck_avx2_last_codes(&pairs, even)
      return pairs
    }

    @inline(__always)
    static func add(_ codes: CodePairs, _ x: UnsafeRawPointer, to sums: inout Sums) {
      var codes = codes
      unsafe ck_avx2_add_pairs(&sums, &codes, x)
    }
  }

  extension AVX512: CodePanelPrimitives {
    typealias CodePairs = __m512i

    @inline(__always)
    static func codePairs(_ even: UnsafeRawPointer, _ odd: UnsafeRawPointer) -> CodePairs {
      var pairs = CodePairs.zero
      unsafe ck_avx512_code_pairs(&pairs, even, odd)
      return pairs
    }

    @inline(__always) static func lastCodes(_ even: UnsafeRawPointer) -> CodePairs {
      var pairs = CodePairs.zero
      unsafe ck_avx512_last_codes(&pairs, even)
      return pairs
    }

    @inline(__always)
    static func add(_ codes: CodePairs, _ x: UnsafeRawPointer, to sums: inout Sums) {
      var codes = codes
      unsafe ck_avx512_add_pairs(&sums, &codes, x)
    }
  }
#endif

extension Portable: CodePanelPrimitives {
  typealias CodePairs = Halves<SIMD16<Int8>>

  @inline(__always)
  static func codePairs(_ even: UnsafeRawPointer, _ odd: UnsafeRawPointer) -> CodePairs {
    unsafe CodePairs(
      low: even.loadUnaligned(as: SIMD16<Int8>.self), high: odd.loadUnaligned(as: SIMD16<Int8>.self)
    )
  }

  @inline(__always) static func lastCodes(_ even: UnsafeRawPointer) -> CodePairs {
    unsafe CodePairs(low: even.loadUnaligned(as: SIMD16<Int8>.self), high: .zero)
  }

  @inline(__always)
  static func add(_ codes: CodePairs, _ x: UnsafeRawPointer, to sums: inout Sums) {
    let even = unsafe Int32(x.loadUnaligned(as: Int16.self))
    let odd = unsafe Int32(x.loadUnaligned(fromByteOffset: 2, as: Int16.self))
    // Lane by lane: conversions of vectors would be calls.
    var lane = 0
    while lane < 16 {
      sums[lane] &+= even &* Int32(codes.low[lane]) &+ odd &* Int32(codes.high[lane])
      lane &+= 1
    }
  }
}
