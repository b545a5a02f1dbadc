import CKernels

// Pointers: codes and side records are those of a whole tile, panels and scratch as long as the
// protocol says.

extension Portable: ASTCPrimitives {
  typealias Factors = SIMD16<Int32>
  typealias ASTCTokens = TwoASTCTokens<ASTCPanel>
  typealias FewASTCTokens = OneASTCToken<ASTCPanel>

  struct ASTCPanel: ASTCPanelAccumulator {
    typealias Step = Halves<SIMD16<UInt16>>
    var accumulator: Sums
    @inline(__always) static var tileCount: Int { 1 }
    @inline(__always) static var addsPairs: Bool { false }
    @inline(__always) static var zero: Self { Self(accumulator: .zero) }

    @inline(__always) mutating func add(_ step: Step, _ x: UnsafeRawPointer) {
      unsafe accumulator &+= Portable.products(step, x)
    }

    @inline(__always) mutating func add(_ pair: Halves<Step>, _ x: UnsafeRawPointer) {
      unsafe add(pair.low, x)
      unsafe add(pair.high, x + 4)
    }

    @inline(__always) mutating func shift() { accumulator = accumulator &<< Sums(repeating: 7) }
    @inline(__always) func sums(tile: Int) -> Sums { accumulator }
  }

  @inline(__always)
  static func digitSums(_ digits: UnsafeRawPointer, _ x: UnsafeRawPointer) -> Sums {
    var high = ASTCPanel.zero
    var step = 0
    while step < 18 {
      if step == 9 { high.shift() }
      let column = 4 &* (step < 9 ? step : step &- 9)
      unsafe high.add(
        (digits + step &* 64).loadUnaligned(as: ASTCPanel.Step.self), x + column)
      step &+= 1
    }
    return high.accumulator
  }

  @inline(__always)
  private static func stepSums(_ digits: UnsafeRawPointer, _ x: UnsafeRawPointer) -> Sums {
    var sums = ASTCPanel.zero
    var step = 0
    while step < 9 {
      unsafe sums.add(
        (digits + step &* 64).loadUnaligned(as: ASTCPanel.Step.self), x + 4 &* step)
      step &+= 1
    }
    return sums.accumulator
  }

  @inline(__always)
  static func lineSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
    _ scratch: UnsafeMutableRawPointer
  ) -> Sums {
    unsafe unpackLine(codes, side, to: scratch, stride: 64)
    return unsafe stepSums(scratch, x)
  }

  @inline(__always)
  static func paletteSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
    _ scratch: UnsafeMutableRawPointer
  ) -> (sums: Sums, factors: ASTCFactors<Portable>) {
    let factors = unsafe unpackPalette(codes, side, to: scratch, stride: 64)
    return unsafe (stepSums(scratch, x), factors)
  }

  @inline(__always)
  static func line(_ side: UnsafeRawPointer, center: Int32) -> ASTCFactors<Portable> {
    var slope = Factors.zero
    var base = Factors.zero
    var row = 0
    while row < 16 {
      let first = unsafe ASTCTile.byte(side, row)
      slope[row] = unsafe ASTCTile.byte(side, 16 &+ row) &- first
      base[row] = 64 &* first &- center
      row &+= 1
    }
    return ASTCFactors(slope: slope, base: base, unit: .splat(ASTCTile.fractionUnit))
  }

  @inline(__always)
  static func unpackLine(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, to panel: UnsafeMutableRawPointer,
    stride: Int
  ) {
    var row = 0
    while row < 16 {
      unsafe ASTCTile.unpackRow(
        row, codes, side, ASTCTile.sixWeights, to: panel, stride: stride)
      row &+= 1
    }
  }

  @inline(__always)
  static func unpackPalette(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, to panel: UnsafeMutableRawPointer,
    stride: Int
  ) -> ASTCFactors<Portable> {
    var slope = Factors.zero
    var base = Factors.zero
    var unit = Reals.splat(0)
    var row = 0
    while row < 16 {
      let palette = unsafe ASTCPalette(
        low: ASTCTile.byte(side, row), high: ASTCTile.byte(side, 16 &+ row))
      slope[row] = 1 &<< palette.shift
      base[row] = palette.base
      unit[row] = palette.unit
      unsafe ASTCTile.unpackRow(row, codes, side, palette.entries, to: panel, stride: stride)
      row &+= 1
    }
    return ASTCFactors(slope: slope, base: base, unit: unit)
  }

  @inline(__always)
  static func storePalette(
    _ pairs: UInt64, _ lines: Int32, to palette: UnsafeMutableRawPointer
  ) {
    unsafe ASTCTile.storeLines(pairs, lines, to: palette)
  }

  @inline(__always)
  static func lookUpDigits(
    _ codes: UnsafeRawPointer, threes: UInt16, scratch: UnsafeMutableRawPointer,
    to digits: UnsafeMutableRawPointer, stride: Int
  ) {
    unsafe ASTCTile.lookUpTriples(
      codes, threes: threes, scratch: scratch, to: digits, stride: stride)
  }

  @inline(__always)
  static func partSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer, total: Int32,
    hasThree: Bool, tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer
  ) -> Sums {
    unsafe ASTCTile.unpackDigits(
      Portable.self, hasThree ? 3 : 2, codes, side, isHDR: false, tables: tables,
      scratch: scratch, to: scratch, stride: 64, units: scratch + ASTCTile.unitsOffset)
    return unsafe affine(
      digitSums(scratch, x), multiplier: 1, offset: ASTCTile.center &* total)
  }

  @inline(__always)
  static func total(_ sums: Sums, _ factors: ASTCFactors<Portable>, x: Float) -> Reals {
    // Below 2^27: the conversion rounds once.
    reals(factors.slope &* sums &+ factors.base &* Sums(repeating: Int32(x)))
  }
}
