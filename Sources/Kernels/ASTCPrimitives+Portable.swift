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

    @inline(__always) mutating func addValues(_ step: Step, _ wide: UnsafeRawPointer) {
      // Two words of 8 rows each.
      let low = unsafe unsafeBitCast(step.low, to: SIMD8<Int32>.self)
      let high = unsafe unsafeBitCast(step.high, to: SIMD8<Int32>.self)
      let sixteen = SIMD8<Int32>(repeating: 16)
      let first = unsafe SIMD8(repeating: Int32(wide.load(as: Int16.self)))
      let second = unsafe SIMD8(
        repeating: Int32(wide.load(fromByteOffset: 2, as: Int16.self)))
      accumulator &+= Sums(
        lowHalf: (low &<< sixteen) &>> sixteen &* first &+ low &>> sixteen &* second,
        highHalf: (high &<< sixteen) &>> sixteen &* first &+ high &>> sixteen &* second)
    }

    @inline(__always) func sums(tile: Int) -> Sums { accumulator }
  }

  @inline(__always)
  private static func stepSums(_ bytes: UnsafeRawPointer, _ x: UnsafeRawPointer) -> Sums {
    var sums = ASTCPanel.zero
    var step = 0
    while step < 9 {
      unsafe sums.add(
        (bytes + step &* 64).loadUnaligned(as: ASTCPanel.Step.self), x + 4 &* step)
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
      let (low, high) = unsafe (ASTCTile.byte(side, row), ASTCTile.byte(side, 16 &+ row))
      if unsafe !ASTCTile.isLogarithmic(side, row) {
        slope[row] = high &- low
        base[row] = 64 &* low
        unit[row] = ASTCTile.fractionUnit
        unsafe ASTCTile.unpackRow(
          row, codes, side, ASTCTile.sixWeights, to: panel, stride: stride)
        row &+= 1
        continue
      }
      let palette = ASTCPalette(low: low, high: high)
      slope[row] = 1 &<< palette.shift
      base[row] = palette.base
      unit[row] = palette.unit
      unsafe ASTCTile.unpackRow(row, codes, side, palette.entries, to: panel, stride: stride)
      row &+= 1
    }
    return ASTCFactors(slope: slope, base: base, unit: unit)
  }

  @inline(__always)
  static func partSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer, total: Int32,
    center: Int32, hasThree: Bool, isHDR: Bool, tables: UnsafeRawPointer,
    scratch: UnsafeMutableRawPointer
  ) -> (sums: Sums, unit: Reals) {
    let wide = unsafe scratch + ASTCTile.wideOffset
    let unit = unsafe unpackValues(
      hasThree ? 3 : 2, codes, side, center: center, isHDR: isHDR, tables: tables,
      scratch: scratch, to: scratch, stride: 64)
    unsafe widen(x, to: wide)
    var sums = ASTCPanel.zero
    var step = 0
    while step < ASTCTile.valueSteps {
      unsafe sums.addValues(
        (scratch + step &* 64).loadUnaligned(as: ASTCPanel.Step.self), wide + 4 &* step)
      step &+= 1
    }
    return (sums.accumulator, unit)
  }

  @inline(__always)
  static func unpackValues(
    _ kind: UInt8, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, center: Int32, isHDR: Bool,
    tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer,
    to values: UnsafeMutableRawPointer, stride: Int
  ) -> Reals {
    let parts = unsafe scratch + ASTCTile.partsOffset
    unsafe ASTCTile.unpackRows(
      codes, side, center: center, isHDR: isHDR, tables: tables, palette: parts + 64, to: values,
      stride: stride, units: parts)
    return unsafe isHDR ? parts.load(as: Reals.self) : .splat(0)
  }

  @inline(__always)
  static func widen(_ x: UnsafeRawPointer, to wide: UnsafeMutableRawPointer) {
    var column = 0
    while column < ASTCTile.columns {
      unsafe wide.storeBytes(
        of: Int16(x.load(fromByteOffset: column, as: Int8.self)), toByteOffset: 2 &* column,
        as: Int16.self)
      column &+= 1
    }
  }

  @inline(__always)
  static func total(_ sums: Sums, _ factors: ASTCFactors<Portable>, x: Float) -> Reals {
    // Below 2^27: the conversion rounds once.
    reals(factors.slope &* sums &+ factors.base &* Sums(repeating: ASTCTile.integer(x)))
  }
}
