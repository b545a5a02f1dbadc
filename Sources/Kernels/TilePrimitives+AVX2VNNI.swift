#if arch(x86_64)
  import CKernels

  // Pointers: the C primitives read and write exactly the 64 bytes that their arguments name; the
  // callers pass tiles of that size or local variables.

  /// The `avx2vnni` level: a tile is two registers; `vpdpbusd` sums in 32 bits.
  enum AVX2VNNI: TilePrimitives {
    typealias Sums = AVX2.Sums
    typealias Reals = AVX2.Reals
    typealias Bytes = AVX2.Bytes
    typealias BytePanel = Panel
    typealias SmallPanel = Panel
    typealias ByteTokens = SixTokens<Panel>
    typealias SmallTokens = SixTokens<Panel>
    typealias FewByteTokens = FourTokens<Panel>
    typealias FewSmallTokens = FourTokens<Panel>

    @inline(__always) static var byteBias: Int32 { 128 }
    @inline(__always) static var zeroSums: Sums { AVX2.zeroSums }

    // `vpdpbusd` takes four cycles or more: each quad keeps eight chains going.

    struct ByteQuad: QuadAccumulator {
      var a: Sums, b: Sums, c: Sums, d: Sums
      @inline(__always) static var zero: Self {
        Self(a: zeroSums, b: zeroSums, c: zeroSums, d: zeroSums)
      }

      @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
        unsafe ck_avx2vnni_dot_bytes(&a, codes, x)
        unsafe ck_avx2vnni_dot_bytes(&b, codes + 64, x + 4)
        unsafe ck_avx2vnni_dot_bytes(&c, codes + 128, x + 8)
        unsafe ck_avx2vnni_dot_bytes(&d, codes + 192, x + 12)
      }

      @inline(__always) var sums: Sums { AVX2.add(AVX2.add(a, b), AVX2.add(c, d)) }
    }

    struct NibbleQuad: QuadAccumulator {
      var a: Sums, b: Sums, c: Sums, d: Sums
      @inline(__always) static var zero: Self {
        Self(a: zeroSums, b: zeroSums, c: zeroSums, d: zeroSums)
      }

      @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
        unsafe ck_avx2vnni_dot_nibbles(&a, &b, codes, x)
        unsafe ck_avx2vnni_dot_nibbles(&c, &d, codes + 64, x + 8)
        unsafe ck_avx2vnni_dot_nibbles(&a, &b, codes + 128, x + 16)
        unsafe ck_avx2vnni_dot_nibbles(&c, &d, codes + 192, x + 24)
      }

      @inline(__always) var sums: Sums { AVX2.add(AVX2.add(a, b), AVX2.add(c, d)) }
    }

    struct PairQuad: QuadAccumulator {
      /// Field f, 4^f times too large.
      var a0: Sums, a1: Sums, a2: Sums, a3: Sums
      @inline(__always) static var zero: Self {
        Self(a0: zeroSums, a1: zeroSums, a2: zeroSums, a3: zeroSums)
      }

      @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
        unsafe ck_avx2vnni_dot_pairs(&a0, &a1, &a2, &a3, codes, x)
        unsafe ck_avx2vnni_dot_pairs(&a0, &a1, &a2, &a3, codes + 64, x + 16)
        unsafe ck_avx2vnni_dot_pairs(&a0, &a1, &a2, &a3, codes + 128, x + 32)
        unsafe ck_avx2vnni_dot_pairs(&a0, &a1, &a2, &a3, codes + 192, x + 48)
      }

      @inline(__always) var sums: Sums {
        var sums = zeroSums
        var (s0, s1, s2, s3) = (a0, a1, a2, a3)
        unsafe ck_avx2vnni_join_pairs(&sums, &s0, &s1, &s2, &s3)
        return sums
      }
    }

    struct Panel: PanelAccumulator {
      var accumulator: Sums
      @inline(__always) static var tileCount: Int { 1 }
      @inline(__always) static func codes(_ tile: (Int) -> Bytes) -> Bytes { tile(0) }
      @inline(__always) static var zero: Self { Self(accumulator: zeroSums) }
      @inline(__always) static func runLength(maximumCode: Int) -> Int { 1 << 20 }

      @inline(__always) mutating func dot(_ codes: Sums, _ x: UnsafeRawPointer) {
        var codes = codes
        unsafe ck_avx2vnni_dot_bytes(&accumulator, &codes, x)
      }

      @inline(__always) func sums(tile: Int) -> Sums { accumulator }
    }

    @inline(__always) static func bytes(_ codes: UnsafeRawPointer) -> Bytes {
      unsafe codes.loadUnaligned(as: Bytes.self)
    }

    @inline(__always) static func nibbles(_ codes: UnsafeRawPointer, field: Int) -> Bytes {
      unsafe AVX2.nibbles(codes, field: field)
    }

    @inline(__always) static func pairs(_ codes: UnsafeRawPointer, field: Int) -> Bytes {
      unsafe AVX2.pairs(codes, field: field)
    }

    @inline(__always) static func add(_ a: Sums, _ b: Sums) -> Sums { AVX2.add(a, b) }

    @inline(__always)
    static func affine(_ a: Sums, multiplier: Int32, offset: Int32) -> Sums {
      AVX2.affine(a, multiplier: multiplier, offset: offset)
    }

    @inline(__always) static func reals(_ a: Sums) -> Reals { AVX2.reals(a) }
    @inline(__always) static func smallReals(_ a: Sums) -> Reals { AVX2.reals(a) }
    @inline(__always) static func halves(_ p: UnsafeRawPointer) -> Reals { unsafe AVX2.halves(p) }
  }
#endif
