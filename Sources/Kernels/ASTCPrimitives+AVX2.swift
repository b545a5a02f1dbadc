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

      @inline(__always) mutating func shift() { unsafe ck_avx2_astc_panel_shift(&accumulator) }
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
    static func storePalette(
      _ pairs: UInt64, _ lines: Int32, to palette: UnsafeMutableRawPointer
    ) {
      unsafe ck_avx2_astc_store_palette(palette, pairs, lines)
    }

    @inline(__always)
    static func lookUpDigits(
      _ codes: UnsafeRawPointer, threes: UInt16, scratch: UnsafeMutableRawPointer,
      to digits: UnsafeMutableRawPointer, stride: Int
    ) {
      let palettes = unsafe scratch + ASTCTile.palettesOffset
      let patterns = unsafe scratch + ASTCTile.patternsOffset
      let rowDigits = unsafe scratch + ASTCTile.rowDigitsOffset
      var half = 0
      while half < 2 {
        var row = 8 &* half
        while row < 8 &* half &+ 4 {
          unsafe ck_avx2_astc_look_up_rows(
            rowDigits + (row & 3) &* 32, codes + 4 &* row, palettes + 32 &* row,
            patterns + 8 &* row, UInt32(threes &>> UInt16(truncatingIfNeeded: row)))
          row &+= 1
        }
        var digit = 0
        while digit < 6 {
          let step = digit < 3 ? digit : digit &+ 6
          unsafe ck_avx2_astc_store_steps(
            digits + (step &* stride &+ 32 &* half), rowDigits + digit &* 128, stride)
          digit &+= 1
        }
        half &+= 1
      }
    }

    @inline(__always)
    static func partSums(
      _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer, total: Int32,
      hasThree: Bool, tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer
    ) -> Sums {
      let patterns = unsafe tables + Int(CK_ASTC_PLANES)
      let sums = unsafe scratch + ASTCTile.partSumsOffset
      let center = ASTCTile.center &* total
      if hasThree {
        unsafe ck_avx2_astc_parts(scratch, codes, side, patterns)
        unsafe ck_avx2_astc_part_sums(sums, scratch, codes, x, total, center)
      } else {
        unsafe ck_avx2_astc_pairs(scratch, side, patterns)
        var half = 0
        while half < 2 {
          unsafe ck_avx2_astc_pair_sums(
            sums + 32 &* half, scratch, codes, x, half, total, center)
          half &+= 1
        }
      }
      return unsafe sums.loadUnaligned(as: Sums.self)
    }

    @inline(__always)
    static func total(_ sums: Sums, _ factors: ASTCFactors<AVX2>, x: Float) -> Reals {
      var sums = sums
      var factors = factors
      var total = Reals.splat(0)
      unsafe ck_avx2_astc_total(&total, &sums, &factors.slope, &factors.base, x)
      return total
    }

    @inline(__always)
    static func digitSums(_ digits: UnsafeRawPointer, _ x: UnsafeRawPointer) -> Sums {
      var sums = ASTCPanel.zero
      unsafe addSteps(&sums, digits, x)
      sums.shift()
      unsafe addSteps(&sums, digits + 576, x)
      return sums.accumulator
    }

    @inline(__always)
    private static func addSteps(
      _ sums: inout ASTCPanel, _ digits: UnsafeRawPointer, _ x: UnsafeRawPointer
    ) {
      typealias Step = ASTCPanel.Step
      var step = 0
      while step < 9 {
        let place = unsafe digits + step &* 64
        unsafe sums.add(place.loadUnaligned(as: Step.self), x + step &* 4)
        unsafe sums.add((place + 64).loadUnaligned(as: Step.self), x + (step &* 4 &+ 4))
        unsafe sums.add((place + 128).loadUnaligned(as: Step.self), x + (step &* 4 &+ 8))
        step &+= 3
      }
    }
  }
#endif
