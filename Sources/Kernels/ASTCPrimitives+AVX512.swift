#if arch(x86_64)
  import CKernels

  // Pointers: codes and side records are those of a whole tile, panels and scratch as long as the
  // protocol says; the C primitives read and write tiles, panels and local variables only.

  /// Kernels over these need VBMI and VBMI2 beside the level.
  extension AVX512: ASTCPrimitives {
    typealias Factors = Reals
    typealias ASTCTokens = TwelveASTCTokens<ASTCPanel>
    typealias FewASTCTokens = FourASTCTokens<ASTCPanel>

    /// 32 rows: a broadcast of activations serves two products.
    struct ASTCPanel: ASTCPanelAccumulator {
      typealias Step = Halves<__m512i>
      var first: __m512i
      var second: __m512i
      @inline(__always) static var tileCount: Int { 2 }
      @inline(__always) static var addsPairs: Bool { false }
      @inline(__always) static var zero: Self { Self(first: .zero, second: .zero) }

      @inline(__always) mutating func add(_ step: Step, _ x: UnsafeRawPointer) {
        var step = step
        unsafe ck_avx512_panel(&first, &second, &step, x)
      }

      @inline(__always) mutating func add(_ pair: Halves<Step>, _ x: UnsafeRawPointer) {
        unsafe add(pair.low, x)
        unsafe add(pair.high, x + 4)
      }

      @inline(__always) mutating func addValues(_ step: Step, _ wide: UnsafeRawPointer) {
        var step = step
        unsafe ck_avx512_astc_panel_values(&first, &second, &step, wide)
      }

      @inline(__always) func sums(tile: Int) -> __m512i { tile == 0 ? first : second }
    }

    @inline(__always)
    static func lineSums(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
      _: UnsafeMutableRawPointer
    ) -> Sums {
      var sums = Sums.zero
      unsafe ck_avx512_astc_line_sums(&sums, codes, side, x)
      return sums
    }

    typealias Two = Halves<Halves<__m512i>>

    /// Palettes of two tiles, and the tables that are made of them.
    @inline(__always)
    private static func twoPalettes(
      _ side: UnsafeRawPointer, stride: Int, lines: UInt32
    ) -> (palettes: Halves<Two>, tables: Two) {
      let zero = Halves(low: __m512i.zero, high: .zero)
      var palettes = Halves(
        low: Two(low: zero, high: zero), high: Two(low: zero, high: zero))
      unsafe ck_avx512_astc_palettes(&palettes, side, stride, lines)
      var tables = Two(low: zero, high: zero)
      unsafe ck_avx512_astc_two_tables(&tables, &palettes)
      return (palettes, tables)
    }

    /// The factors of the first or the second of both tiles.
    @inline(__always)
    private static func factors(
      _ palettes: inout Halves<Two>, _ index: Int
    ) -> ASTCFactors<AVX512> {
      var factors = ASTCFactors<AVX512>(slope: .zero, base: .zero, unit: .zero)
      unsafe ck_avx512_astc_two_factors(
        &factors.slope, &factors.base, &factors.unit, &palettes, index)
      return factors
    }

    /// The tables and factors of one tile: two are as cheap.
    @inline(__always)
    private static func palette(
      _ side: UnsafeRawPointer, lines: UInt32
    ) -> (tables: Halves<__m512i>, factors: ASTCFactors<AVX512>) {
      var made = unsafe twoPalettes(side, stride: 0, lines: lines)
      return (made.tables.low, factors(&made.palettes, 0))
    }

    @inline(__always)
    static func paletteSums(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
      _: UnsafeMutableRawPointer
    ) -> (sums: Sums, factors: ASTCFactors<AVX512>) {
      var palette = unsafe palette(side, lines: ck_avx512_astc_lines(side, 0))
      var sums = Sums.zero
      unsafe ck_avx512_astc_palette_sums(&sums, codes, side, x, &palette.tables)
      return (sums, palette.factors)
    }

    @inline(__always) static var pairsPalettes: Bool { true }

    @inline(__always)
    static func twoPaletteSums(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
      _: UnsafeMutableRawPointer
    ) -> TwoPaletteSums<AVX512> {
      let stride = ASTCTile.sideBytes(isHDR: true)
      var made = unsafe twoPalettes(
        side, stride: stride, lines: ck_avx512_astc_lines(side, stride))
      var first = Sums.zero
      var second = Sums.zero
      unsafe ck_avx512_astc_palette_sums(&first, codes, side, x, &made.tables.low)
      unsafe ck_avx512_astc_palette_sums(
        &second, codes + ASTCTile.codeBytes, side + stride, x + ASTCTile.columns,
        &made.tables.high)
      return TwoPaletteSums(
        sums: Halves(low: first, high: second),
        factors: (factors(&made.palettes, 0), factors(&made.palettes, 1)))
    }

    @inline(__always)
    static func line(_ side: UnsafeRawPointer, center: Int32) -> ASTCFactors<AVX512> {
      var slope = Reals.zero
      var base = slope
      unsafe ck_avx512_astc_line(&slope, &base, side, Float(center))
      return ASTCFactors(slope: slope, base: base, unit: .splat(ASTCTile.fractionUnit))
    }

    @inline(__always)
    static func unpackLine(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, to panel: UnsafeMutableRawPointer,
      stride: Int
    ) {
      unsafe ck_avx512_astc_unpack_line(panel, codes, side, stride)
    }

    @inline(__always)
    static func unpackPalette(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, to panel: UnsafeMutableRawPointer,
      stride: Int
    ) -> ASTCFactors<AVX512> {
      var palette = unsafe palette(side, lines: ck_avx512_astc_lines(side, 0))
      unsafe ck_avx512_astc_unpack(panel, codes, side, &palette.tables, stride)
      return palette.factors
    }

    /// All of a tile of kind 2 or 3 but the codes, for sums or for values; rows of logarithms get
    /// their palettes, of which tables are returned.
    @inline(__always)
    private static func parts(
      _ parts: UnsafeMutableRawPointer, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer,
      center: Int32, hasThree: Bool, isHDR: Bool, forValues: Bool, tables: UnsafeRawPointer
    ) -> (tables: Halves<__m512i>, hasLogs: Bool, unit: Reals) {
      let none = Halves(low: __m512i.zero, high: .zero)
      unsafe ck_avx512_astc_part_planes(
        parts, side, tables + Int(CK_ASTC_PLANES), hasThree ? 1 : 0)
      unsafe ck_avx512_astc_part_ends(
        parts, codes, side, center, hasThree ? 1 : 0, forValues ? 1 : 0)
      let logs = unsafe isHDR ? ck_avx512_astc_logs(parts) : 0
      guard logs != 0 else {
        return (none, false, .splat(isHDR ? ASTCTile.fractionUnit : 0))
      }
      var palette = unsafe palette(side, lines: ~(logs | logs &<< 16))
      unsafe ck_avx512_astc_part_logs(
        parts, &palette.factors.slope, &palette.factors.base, forValues ? 1 : 0)
      return (palette.tables, true, palette.factors.unit)
    }

    @inline(__always)
    static func partSums(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer, total: Int32,
      center: Int32, hasThree: Bool, isHDR: Bool, tables: UnsafeRawPointer,
      scratch: UnsafeMutableRawPointer
    ) -> (sums: Sums, unit: Reals) {
      let place = unsafe scratch + ASTCTile.partsOffset
      var made = unsafe parts(
        place, codes, side, center: center, hasThree: hasThree, isHDR: isHDR, forValues: false,
        tables: tables)
      var sums = Sums.zero
      unsafe ck_avx512_astc_part_sums(
        &sums, place, codes, x, &made.tables, total, center &* total, hasThree ? 1 : 0,
        made.hasLogs ? 1 : 0)
      return (sums, made.unit)
    }

    @inline(__always)
    static func unpackValues(
      _ kind: UInt8, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, center: Int32,
      isHDR: Bool, tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer,
      to values: UnsafeMutableRawPointer, stride: Int
    ) -> Reals {
      let place = unsafe scratch + ASTCTile.partsOffset
      if kind < 2 {
        var factors: ASTCFactors<AVX512>
        if isHDR && kind == 1 {
          factors = unsafe unpackPalette(codes, side, to: place, stride: 64)
        } else {
          unsafe unpackLine(codes, side, to: place, stride: 64)
          factors = unsafe line(side, center: center)
        }
        unsafe ck_avx512_astc_line_values(values, place, &factors.slope, &factors.base, stride)
        return factors.unit
      }
      var made = unsafe parts(
        place, codes, side, center: center, hasThree: kind == 3, isHDR: isHDR, forValues: true,
        tables: tables)
      unsafe ck_avx512_astc_values(
        values, place, codes, &made.tables, stride, kind == 3 ? 1 : 0, made.hasLogs ? 1 : 0)
      return made.unit
    }

    @inline(__always)
    static func widen(_ x: UnsafeRawPointer, to wide: UnsafeMutableRawPointer) {
      unsafe ck_avx512_astc_widen(wide, x)
    }

    @inline(__always)
    static func total(_ sums: Sums, _ factors: ASTCFactors<AVX512>, x: Float) -> Reals {
      var sums = sums
      var factors = factors
      var total = Reals.zero
      unsafe ck_avx512_astc_total(&total, &sums, &factors.slope, &factors.base, x)
      return total
    }
  }
#endif
