#if arch(x86_64)
  import CKernels

  // Pointers: the C primitives read and write exactly the 64 bytes (128 for a panel, 32 for
  // binary16) that their arguments name; the callers pass tiles of that size or local variables.

  /// The `avx512vnni` level: a tile is one register; `vpdpbusd` sums in 32 bits.
  enum AVX512: TilePrimitives {
    typealias Sums = __m512i
    typealias Reals = SIMD16<Float>
    typealias Bytes = __m512i
    typealias BytePanel = TwoTilePanel
    typealias SmallPanel = TwoTilePanel
    typealias ByteTokens = TwelveTokens<TwoTilePanel>
    typealias SmallTokens = TwelveTokens<TwoTilePanel>
    typealias FewByteTokens = FourTokens<TwoTilePanel>
    typealias FewSmallTokens = FourTokens<TwoTilePanel>

    @inline(__always) static var byteBias: Int32 { 128 }
    @inline(__always) static var zeroSums: Sums { .zero }

    // `vpdpbusd` takes four cycles or more: each quad keeps four or eight chains going.

    struct ByteQuad: QuadAccumulator {
      var a: __m512i, b: __m512i, c: __m512i, d: __m512i
      @inline(__always) static var zero: Self { Self(a: .zero, b: .zero, c: .zero, d: .zero) }

      @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
        unsafe ck_avx512_dot_bytes(&a, codes, x)
        unsafe ck_avx512_dot_bytes(&b, codes + 64, x + 4)
        unsafe ck_avx512_dot_bytes(&c, codes + 128, x + 8)
        unsafe ck_avx512_dot_bytes(&d, codes + 192, x + 12)
      }

      @inline(__always) var sums: Sums { AVX512.add(AVX512.add(a, b), AVX512.add(c, d)) }
    }

    struct NibbleQuad: QuadAccumulator {
      var a: __m512i, b: __m512i, c: __m512i, d: __m512i
      @inline(__always) static var zero: Self { Self(a: .zero, b: .zero, c: .zero, d: .zero) }

      @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
        unsafe ck_avx512_dot_nibbles(&a, &b, codes, x)
        unsafe ck_avx512_dot_nibbles(&c, &d, codes + 64, x + 8)
        unsafe ck_avx512_dot_nibbles(&a, &b, codes + 128, x + 16)
        unsafe ck_avx512_dot_nibbles(&c, &d, codes + 192, x + 24)
      }

      @inline(__always) var sums: Sums { AVX512.add(AVX512.add(a, b), AVX512.add(c, d)) }
    }

    struct PairQuad: QuadAccumulator {
      /// Field f of even and of odd vectors, 4^f times too large.
      var a0: __m512i, a1: __m512i, a2: __m512i, a3: __m512i
      var b0: __m512i, b1: __m512i, b2: __m512i, b3: __m512i

      @inline(__always) static var zero: Self {
        Self(
          a0: .zero, a1: .zero, a2: .zero, a3: .zero, b0: .zero, b1: .zero, b2: .zero, b3: .zero)
      }

      @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
        unsafe ck_avx512_dot_pairs(&a0, &a1, &a2, &a3, codes, x)
        unsafe ck_avx512_dot_pairs(&b0, &b1, &b2, &b3, codes + 64, x + 16)
        unsafe ck_avx512_dot_pairs(&a0, &a1, &a2, &a3, codes + 128, x + 32)
        unsafe ck_avx512_dot_pairs(&b0, &b1, &b2, &b3, codes + 192, x + 48)
      }

      @inline(__always) var sums: Sums {
        var sums = Sums.zero
        var s0 = AVX512.add(a0, b0)
        var s1 = AVX512.add(a1, b1)
        var s2 = AVX512.add(a2, b2)
        var s3 = AVX512.add(a3, b3)
        unsafe ck_avx512_join_pairs(&sums, &s0, &s1, &s2, &s3)
        return sums
      }
    }

    /// 32 rows: a broadcast of activations serves two products.
    struct TwoTilePanel: PanelAccumulator {
      var first: __m512i
      var second: __m512i
      @inline(__always) static var tileCount: Int { 2 }
      @inline(__always) static func codes(_ tile: (Int) -> Bytes) -> Halves<__m512i> {
        Halves(low: tile(0), high: tile(1))
      }
      @inline(__always) static var zero: Self { Self(first: .zero, second: .zero) }
      @inline(__always) static func runLength(maximumCode: Int) -> Int { 1 << 20 }

      @inline(__always) mutating func dot(_ codes: Halves<__m512i>, _ x: UnsafeRawPointer) {
        var codes = codes
        unsafe ck_avx512_panel(&first, &second, &codes, x)
      }

      @inline(__always) func sums(tile: Int) -> __m512i { tile == 0 ? first : second }
    }

    @inline(__always) static func bytes(_ codes: UnsafeRawPointer) -> Bytes {
      unsafe codes.loadUnaligned(as: Bytes.self)
    }

    @inline(__always) static func nibbles(_ codes: UnsafeRawPointer, field: Int) -> Bytes {
      var bytes = Bytes.zero
      unsafe ck_avx512_nibbles(&bytes, codes, UInt32(truncatingIfNeeded: 4 &* field))
      return bytes
    }

    @inline(__always) static func pairs(_ codes: UnsafeRawPointer, field: Int) -> Bytes {
      var bytes = Bytes.zero
      unsafe ck_avx512_pairs(&bytes, codes, UInt32(truncatingIfNeeded: 2 &* field))
      return bytes
    }

    @inline(__always) static func add(_ a: Sums, _ b: Sums) -> Sums {
      // The same 64 bytes, as lanes of 32 bits.
      unsafe unsafeBitCast(
        unsafeBitCast(a, to: SIMD16<Int32>.self) &+ unsafeBitCast(b, to: SIMD16<Int32>.self),
        to: Sums.self)
    }

    @inline(__always)
    static func affine(_ a: Sums, multiplier: Int32, offset: Int32) -> Sums {
      var sums = a
      unsafe ck_avx512_affine(&sums, multiplier, offset)
      return sums
    }

    @inline(__always) static func reals(_ a: Sums) -> Reals {
      var sums = a
      var reals = Reals.splat(0)
      unsafe ck_avx512_reals(&reals, &sums)
      return reals
    }

    @inline(__always) static func smallReals(_ a: Sums) -> Reals { reals(a) }

    @inline(__always) static func halves(_ p: UnsafeRawPointer) -> Reals {
      var reals = Reals.splat(0)
      unsafe ck_avx512_halves(&reals, p)
      return reals
    }
  }
#endif
