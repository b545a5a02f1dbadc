#if arch(x86_64)
  import CKernels

  // Pointers: the C primitives read and write exactly the 64 bytes (32 for binary16 and for one
  // register) that their arguments name; the callers pass tiles of that size or local variables.

  /// The `avx2` level: a tile is two registers; small codes are summed in 16 bits.
  enum AVX2: TilePrimitives {
    typealias Sums = Halves<__m256i>
    typealias Reals = Halves<SIMD8<Float>>
    typealias Bytes = Halves<__m256i>
    typealias ByteTokens = FourTokens<BytePanel>
    typealias SmallTokens = SixTokens<SmallPanel>
    typealias FewByteTokens = FourTokens<BytePanel>
    typealias FewSmallTokens = FourTokens<SmallPanel>

    @inline(__always) static var byteBias: Int32 { 0 }
    @inline(__always) static var zeroSums: Sums { Sums(low: .zero, high: .zero) }

    struct ByteQuad: QuadAccumulator {
      var sums: Sums
      @inline(__always) static var zero: Self { Self(sums: zeroSums) }

      @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
        unsafe ck_avx2_dot_bytes(&sums, codes, x)
        unsafe ck_avx2_dot_bytes(&sums, codes + 64, x + 4)
        unsafe ck_avx2_dot_bytes(&sums, codes + 128, x + 8)
        unsafe ck_avx2_dot_bytes(&sums, codes + 192, x + 12)
      }
    }

    struct NibbleQuad: QuadAccumulator {
      var sums: Sums
      @inline(__always) static var zero: Self { Self(sums: zeroSums) }

      @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
        var narrow = zeroSums
        unsafe ck_avx2_dot_nibbles(&narrow, codes, x)
        unsafe ck_avx2_dot_nibbles(&narrow, codes + 64, x + 8)
        unsafe ck_avx2_dot_nibbles(&narrow, codes + 128, x + 16)
        unsafe ck_avx2_dot_nibbles(&narrow, codes + 192, x + 24)
        unsafe ck_avx2_widen(&sums, &narrow)
      }
    }

    struct PairQuad: QuadAccumulator {
      var sums: Sums
      @inline(__always) static var zero: Self { Self(sums: zeroSums) }

      @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
        var low = zeroSums
        var high = zeroSums
        unsafe ck_avx2_dot_pairs(&low, &high, codes, x)
        unsafe ck_avx2_dot_pairs(&low, &high, codes + 64, x + 16)
        unsafe ck_avx2_dot_pairs(&low, &high, codes + 128, x + 32)
        unsafe ck_avx2_dot_pairs(&low, &high, codes + 192, x + 48)
        unsafe ck_avx2_widen_pairs(&sums, &low, &high)
      }
    }

    struct BytePanel: PanelAccumulator {
      var accumulator: Sums
      @inline(__always) static var tileCount: Int { 1 }
      @inline(__always) static func codes(_ tile: (Int) -> Bytes) -> Bytes { tile(0) }
      @inline(__always) static var zero: Self { Self(accumulator: zeroSums) }
      @inline(__always) static func runLength(maximumCode: Int) -> Int { 1 << 20 }

      @inline(__always) mutating func dot(_ codes: Sums, _ x: UnsafeRawPointer) {
        var codes = codes
        unsafe ck_avx2_panel_signed(&accumulator, &codes, x)
      }

      @inline(__always) func sums(tile: Int) -> Sums { accumulator }
    }

    struct SmallPanel: PanelAccumulator {
      /// 32 sums of 16 bits, two a row.
      var accumulator: Sums
      @inline(__always) static var tileCount: Int { 1 }
      @inline(__always) static func codes(_ tile: (Int) -> Bytes) -> Bytes { tile(0) }
      @inline(__always) static var zero: Self { Self(accumulator: zeroSums) }
      @inline(__always) static func runLength(maximumCode: Int) -> Int {
        32767 / (2 * 127 * maximumCode) & ~15
      }

      @inline(__always) mutating func dot(_ codes: Sums, _ x: UnsafeRawPointer) {
        var codes = codes
        unsafe ck_avx2_panel_small(&accumulator, &codes, x)
      }

      @inline(__always) func sums(tile: Int) -> Sums {
        var sums = zeroSums
        var narrow = accumulator
        unsafe ck_avx2_widen(&sums, &narrow)
        return sums
      }
    }

    @inline(__always) static func bytes(_ codes: UnsafeRawPointer) -> Bytes {
      var bytes = zeroSums
      unsafe ck_avx2_bytes(&bytes, codes)
      return bytes
    }

    @inline(__always) static func nibbles(_ codes: UnsafeRawPointer, field: Int) -> Bytes {
      var bytes = zeroSums
      unsafe ck_avx2_nibbles(&bytes, codes, Int32(truncatingIfNeeded: 4 &* field))
      return bytes
    }

    @inline(__always) static func pairs(_ codes: UnsafeRawPointer, field: Int) -> Bytes {
      var bytes = zeroSums
      unsafe ck_avx2_pairs(&bytes, codes, Int32(truncatingIfNeeded: 2 &* field))
      return bytes
    }

    @inline(__always) static func add(_ a: Sums, _ b: Sums) -> Sums {
      Sums(low: add(a.low, b.low), high: add(a.high, b.high))
    }

    @inline(__always) private static func add(_ a: __m256i, _ b: __m256i) -> __m256i {
      // The same 32 bytes, as lanes of 32 bits.
      unsafe unsafeBitCast(
        unsafeBitCast(a, to: SIMD8<Int32>.self) &+ unsafeBitCast(b, to: SIMD8<Int32>.self),
        to: __m256i.self)
    }

    @inline(__always)
    static func affine(_ a: Sums, multiplier: Int32, offset: Int32) -> Sums {
      var sums = a
      unsafe ck_avx2_affine(&sums, multiplier, offset)
      return sums
    }

    @inline(__always) static func reals(_ a: Sums) -> Reals {
      var sums = a
      var reals = Reals.splat(0)
      unsafe ck_avx2_reals(&reals, &sums)
      return reals
    }

    @inline(__always) static func smallReals(_ a: Sums) -> Reals { reals(a) }

    @inline(__always) static func halves(_ p: UnsafeRawPointer) -> Reals {
      var reals = Reals.splat(0)
      unsafe ck_avx2_halves(&reals, p)
      return reals
    }
  }
#endif
