import CKernels

// Pointers: loads of codes read 32 bytes, `x` names two numbers of 16 bits; callers stay inside of
// their panels.

/// What an instruction set gives to products of 16-bit with 8-bit numbers.
protocol CodePanelPrimitives: TilePrimitives {
  /// 16 columns of two rows of B, which stand side by side.
  associatedtype CodePairs: BitwiseCopyable
  static func codePairs(_ codes: UnsafeRawPointer) -> CodePairs
  /// The first row and zeros.
  static func lastCodes(_ codes: UnsafeRawPointer) -> CodePairs
  /// sums += first · x[0] + second · x[1].
  static func add(_ codes: CodePairs, _ x: UnsafeRawPointer, to sums: inout Sums)
}

#if arch(x86_64)
  extension AVX2: CodePanelPrimitives {
    typealias CodePairs = Halves<__m256i>

    @inline(__always)
    static func codePairs(_ codes: UnsafeRawPointer) -> CodePairs {
      var pairs = CodePairs(low: .zero, high: .zero)
      unsafe ck_avx2_code_pairs(&pairs, codes)
      return pairs
    }

    @inline(__always) static func lastCodes(_ codes: UnsafeRawPointer) -> CodePairs {
      var pairs = CodePairs(low: .zero, high: .zero)
      unsafe ck_avx2_last_codes(&pairs, codes)
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
    static func codePairs(_ codes: UnsafeRawPointer) -> CodePairs {
      var pairs = CodePairs.zero
      unsafe ck_avx512_code_pairs(&pairs, codes)
      return pairs
    }

    @inline(__always) static func lastCodes(_ codes: UnsafeRawPointer) -> CodePairs {
      var pairs = CodePairs.zero
      unsafe ck_avx512_last_codes(&pairs, codes)
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
  /// 8 columns each.
  typealias CodePairs = Halves<SIMD16<Int8>>

  @inline(__always)
  static func codePairs(_ codes: UnsafeRawPointer) -> CodePairs {
    unsafe CodePairs(
      low: codes.loadUnaligned(as: SIMD16<Int8>.self),
      high: codes.loadUnaligned(fromByteOffset: 16, as: SIMD16<Int8>.self))
  }

  @inline(__always) static func lastCodes(_ codes: UnsafeRawPointer) -> CodePairs {
    var pairs = unsafe codePairs(codes)
    var lane = 1
    while lane < 16 {
      pairs.low[lane] = 0
      pairs.high[lane] = 0
      lane &+= 2
    }
    return pairs
  }

  @inline(__always)
  static func add(_ codes: CodePairs, _ x: UnsafeRawPointer, to sums: inout Sums) {
    let first = unsafe Int32(x.loadUnaligned(as: Int16.self))
    let second = unsafe Int32(x.loadUnaligned(fromByteOffset: 2, as: Int16.self))
    // Lane by lane: conversions of vectors would be calls.
    var lane = 0
    while lane < 8 {
      let pair = 2 &* lane
      sums[lane] &+=
        first &* Int32(codes.low[pair]) &+ second &* Int32(codes.low[pair &+ 1])
      sums[lane &+ 8] &+=
        first &* Int32(codes.high[pair]) &+ second &* Int32(codes.high[pair &+ 1])
      lane &+= 1
    }
  }
}
