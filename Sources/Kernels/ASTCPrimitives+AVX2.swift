#if arch(x86_64)
  import CKernels

  // Pointers: codes and side records are those of a whole tile, panels and scratch as long as the
  // protocol says; the C primitives read and write tiles, panels and local variables only.

  extension AVX2: ASTCPrimitives {
    typealias Factors = Reals
    typealias ASTCTokens = FourASTCTokens<ASTCPanel>
    typealias FewASTCTokens = TwoASTCTokens<ASTCPanel>

    struct ASTCPanel: ASTCPanelAccumulator {
      typealias Step = Halves<__m256i>
      var accumulator: Sums
      @inline(__always) static var tileCount: Int { 1 }
      @inline(__always) static var addsPairs: Bool { true }
      @inline(__always) static var zero: Self { Self(accumulator: zeroSums) }

      @inline(__always) mutating func add(_ step: Step, _ x: UnsafeRawPointer) {
        var step = step
        unsafe ck_avx2_astc_panel_step(&accumulator, &step, x)
      }

      @inline(__always) mutating func add(_ pair: Halves<Step>, _ x: UnsafeRawPointer) {
        var pair = pair
        unsafe ck_avx2_astc_panel_pair(&accumulator, &pair, x)
      }

      @inline(__always) mutating func addValues(_ step: Step, _ wide: UnsafeRawPointer) {
        var step = step
        unsafe ck_avx2_astc_panel_values(&accumulator, &step, wide)
      }

      @inline(__always) func sums(tile: Int) -> Sums { accumulator }
    }

    @inline(__always)
    static func lineSums(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
      _: UnsafeMutableRawPointer
    ) -> Sums {
      var sums = zeroSums
      unsafe ck_avx2_astc_line_sums(&sums, codes, side, x)
      return sums
    }

    /// What a palette is made to, and the factors.
    @inline(__always)
    private static func palette(
      _ side: UnsafeRawPointer
    ) -> (tables: Halves<Halves<__m256i>>, factors: ASTCFactors<AVX2>) {
      let none = Halves(low: __m256i.zero, high: .zero)
      var tables = Halves(low: none, high: none)
      var slope = Reals.splat(0)
      var base = slope
      var unit = slope
      unsafe ck_avx2_astc_palette(&tables, &slope, &base, &unit, side)
      unsafe ck_avx2_astc_palette_lines(&tables, &slope, &base, &unit, side)
      return (tables, ASTCFactors(slope: slope, base: base, unit: unit))
    }

    @inline(__always)
    static func paletteSums(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
      _: UnsafeMutableRawPointer
    ) -> (sums: Sums, factors: ASTCFactors<AVX2>) {
      var palette = unsafe palette(side)
      var sums = zeroSums
      unsafe ck_avx2_astc_palette_sums(&sums, codes, side, x, &palette.tables)
      return (sums, palette.factors)
    }

    @inline(__always)
    static func line(_ side: UnsafeRawPointer, center: Int32) -> ASTCFactors<AVX2> {
      var slope = Reals.splat(0)
      var base = slope
      unsafe ck_avx2_astc_line(&slope, &base, side, Float(center))
      return ASTCFactors(slope: slope, base: base, unit: .splat(ASTCTile.fractionUnit))
    }

    @inline(__always)
    static func unpackLine(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, to panel: UnsafeMutableRawPointer,
      stride: Int
    ) {
      unsafe ck_avx2_astc_unpack_line(panel, codes, side, stride)
    }

    @inline(__always)
    static func unpackPalette(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, to panel: UnsafeMutableRawPointer,
      stride: Int
    ) -> ASTCFactors<AVX2> {
      var palette = unsafe palette(side)
      unsafe ck_avx2_astc_unpack(panel, codes, side, &palette.tables, stride)
      return palette.factors
    }

    @inline(__always)
    static func partSums(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer, total: Int32,
      center: Int32, hasThree: Bool, isHDR: Bool, tables: UnsafeRawPointer,
      scratch: UnsafeMutableRawPointer
    ) -> (sums: Sums, unit: Reals) {
      if !isHDR && !hasThree {
        let sums = unsafe scratch + ASTCTile.wideOffset
        unsafe ck_avx2_astc_pairs(scratch, side, tables + Int(CK_ASTC_PLANES))
        var half = 0
        while half < 2 {
          unsafe ck_avx2_astc_pair_sums(
            sums + 32 &* half, scratch, codes, x, half, total, center &* total)
          // A loop in the code too: both halves side by side have not enough registers.
          half = ck_unknown(half &+ 1)
        }
        return unsafe (sums.loadUnaligned(as: Sums.self), .splat(0))
      }
      let wide = unsafe scratch + ASTCTile.wideOffset
      let unit = unsafe unpackValues(
        hasThree ? 3 : 2, codes, side, center: center, isHDR: isHDR, tables: tables,
        scratch: scratch, to: scratch, stride: 64)
      unsafe widen(x, to: wide)
      var sums = zeroSums
      unsafe ck_avx2_astc_value_sums(&sums, scratch, wide)
      return (sums, unit)
    }

    @inline(__always)
    static func unpackValues(
      _ kind: UInt8, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, center: Int32,
      isHDR: Bool, tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer,
      to values: UnsafeMutableRawPointer, stride: Int
    ) -> Reals {
      let parts = unsafe scratch + ASTCTile.partsOffset
      unsafe ck_avx2_astc_parts(parts, codes, side, tables + Int(CK_ASTC_PLANES), center)
      guard unsafe isHDR && ck_avx2_astc_has_logs(parts) != 0 else {
        unsafe ck_avx2_astc_values(values, parts, codes, stride, 0)
        return .splat(isHDR ? ASTCTile.fractionUnit : 0)
      }
      let none = Halves(low: __m256i.zero, high: .zero)
      var tables = Halves(low: none, high: none)
      var slope = Reals.splat(0)
      var base = slope
      var unit = slope
      unsafe ck_avx2_astc_palette(&tables, &slope, &base, &unit, side)
      unsafe ck_avx2_astc_part_logs(parts, &unit, &tables, &slope, &base)
      unsafe ck_avx2_astc_values(values, parts, codes, stride, 1)
      return unit
    }

    @inline(__always)
    static func widen(_ x: UnsafeRawPointer, to wide: UnsafeMutableRawPointer) {
      unsafe ck_avx2_astc_widen(wide, x)
    }

    @inline(__always)
    static func total(_ sums: Sums, _ factors: ASTCFactors<AVX2>, x: Float) -> Reals {
      var sums = sums
      var factors = factors
      var total = Reals.splat(0)
      unsafe ck_avx2_astc_total(&total, &sums, &factors.slope, &factors.base, x)
      return total
    }
  }
#endif
