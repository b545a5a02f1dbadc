import CKernels

/// The bytes of ASTC tiles as the layout has them: 16 rows × 36 columns.
enum ASTCTile {
  /// Bytes of three code vectors.
  @inline(__always) static var codeBytes: Int { 192 }
  /// Columns of a tile.
  @inline(__always) static var columns: Int { 36 }
  /// Steps of four columns.
  @inline(__always) static var steps: Int { 9 }
  /// Tiles of a run.
  @inline(__always) static var runTiles: Int { 8 }
  /// In a tile's working memory: two digits, units, and for each row a palette of 16 numbers of 16
  /// bits, the address of its pattern, its pairs of ends and its `ASTCLines`; then digits of 8 rows.
  @inline(__always) static var unitsOffset: Int { 2 &* 9 &* 64 }
  @inline(__always) static var palettesOffset: Int { unitsOffset &+ 64 }
  @inline(__always) static var patternsOffset: Int { palettesOffset &+ 16 &* 32 }
  @inline(__always) static var pairsOffset: Int { patternsOffset &+ 16 &* 8 }
  @inline(__always) static var linesOffset: Int { pairsOffset &+ 16 &* 8 }
  @inline(__always) static var rowDigitsOffset: Int { linesOffset &+ 16 &* 4 }
  /// Where sums of rows with partitions go, behind what they are made of.
  @inline(__always) static var partSumsOffset: Int { 2 &* 448 }
  /// What LDR subtracts from 64 times a value: half of 64 · 255.
  @inline(__always) static var center: Int32 { 8160 }
  /// 257/65536 of a 64th: the unit of a row without logarithms in HDR.
  @inline(__always) static var fractionUnit: Float { 257 * 0x1p-22 }

  @inline(__always) static func sideBytes(isHDR: Bool) -> Int { isHDR ? 88 : 56 }
}

/// How products with ASTC tiles are done at one instruction set.
protocol ASTCPrimitives: TilePrimitives {
  /// A number a row that sums are multiplied by.
  associatedtype Factors: BitwiseCopyable
  associatedtype ASTCPanel: ASTCPanelAccumulator where ASTCPanel.Sums == Sums
  associatedtype ASTCTokens: ASTCTokenTile where ASTCTokens.Accumulator == ASTCPanel
  associatedtype FewASTCTokens: ASTCTokenTile where FewASTCTokens.Accumulator == ASTCPanel

  /// Kind 0: Σ w·x over 36 columns; `scratch` is a tile's working memory.
  static func lineSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
    _ scratch: UnsafeMutableRawPointer
  ) -> Sums
  /// Kind 1: Σ q·x over 36 columns, and what it is multiplied by.
  static func paletteSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
    _ scratch: UnsafeMutableRawPointer
  ) -> (sums: Sums, factors: ASTCFactors<Self>)
  /// Kind 0: e1 − e0 and 64·e0 − center.
  static func line(_ side: UnsafeRawPointer, center: Int32) -> ASTCFactors<Self>
  /// Nine steps of w, 64 bytes each, `stride` bytes apart.
  static func unpackLine(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, to panel: UnsafeMutableRawPointer,
    stride: Int)
  /// Nine steps of q likewise.
  static func unpackPalette(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, to panel: UnsafeMutableRawPointer,
    stride: Int
  ) -> ASTCFactors<Self>
  /// A row's palette from up to three pairs of ends, two bytes each.
  static func storePalette(_ pairs: UInt64, _ lines: Int32, to palette: UnsafeMutableRawPointer)
  /// Kinds 2 and 3: two digits of every value, out of the palettes and patterns in the tile's
  /// working memory; [2][9] steps of 64 bytes, `stride` bytes apart.
  static func lookUpDigits(
    _ codes: UnsafeRawPointer, threes: UInt16, scratch: UnsafeMutableRawPointer,
    to digits: UnsafeMutableRawPointer, stride: Int)
  /// Kinds 2 and, with three partitions, 3 in LDR: Σ v·x over 36 columns less `center`·Σ x, which is
  /// `center`·total.
  static func partSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer, total: Int32,
    hasThree: Bool, tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer
  ) -> Sums
  /// f32(slope·sums + base·x), rounded once; x is an integer.
  static func total(_ sums: Sums, _ factors: ASTCFactors<Self>, x: Float) -> Reals
  /// 128 · Σ high·x + Σ low·x over 36 columns of two digits.
  static func digitSums(_ digits: UnsafeRawPointer, _ x: UnsafeRawPointer) -> Sums
}

/// What a row's palette is made of.
enum ASTCLines {
  /// One line of six values.
  @inline(__always) static var one: Int32 { 0 }
  /// Two of five values, from 0 and from 8 on.
  @inline(__always) static var two: Int32 { 1 }
  /// Three of four values, from 0, 4 and 8 on.
  @inline(__always) static var three: Int32 { 2 }
  /// No line: logarithms, which are there already.
  @inline(__always) static var none: Int32 { 3 }
}

/// What the integer sums of a tile are multiplied by, a number a row.
struct ASTCFactors<P: ASTCPrimitives>: BitwiseCopyable {
  var slope: P.Factors
  var base: P.Factors
  /// What the integer is multiplied by, in HDR.
  var unit: P.Reals
}

/// The products of one token with a panel of digits.
protocol ASTCPanelAccumulator: BitwiseCopyable {
  associatedtype Sums
  /// The digits of one step in registers.
  associatedtype Step: BitwiseCopyable
  /// Row tiles beside one another in a panel.
  static var tileCount: Int { get }
  /// Whether two steps of digits up to 64 at a time are cheaper.
  static var addsPairs: Bool { get }
  static var zero: Self { get }
  /// Adds a step of digits up to 128.
  mutating func add(_ step: Step, _ x: UnsafeRawPointer)
  /// Adds two steps of digits up to 64.
  mutating func add(_ pair: Halves<Step>, _ x: UnsafeRawPointer)
  /// Multiplies by 128.
  mutating func shift()
  func sums(tile: Int) -> Sums
}

/// The accumulators of several tokens against one panel, in registers: as `TokenTile`.
protocol ASTCTokenTile: BitwiseCopyable {
  associatedtype Accumulator: ASTCPanelAccumulator
  static var tokenCount: Int { get }
  static var zero: Self { get }
  mutating func add(_ step: Accumulator.Step, _ x: UnsafeRawPointer, stride: Int)
  mutating func add(_ pair: Halves<Accumulator.Step>, _ x: UnsafeRawPointer, stride: Int)
  mutating func shift()
  func forEach(from first: Int, _ body: (Int, Accumulator) -> Void)
}

struct OneASTCToken<Accumulator: ASTCPanelAccumulator>: ASTCTokenTile {
  var accumulator: Accumulator

  @inline(__always) static var tokenCount: Int { 1 }
  @inline(__always) static var zero: Self { Self(accumulator: .zero) }

  @inline(__always)
  mutating func add(_ step: Accumulator.Step, _ x: UnsafeRawPointer, stride: Int) {
    unsafe accumulator.add(step, x)
  }

  @inline(__always)
  mutating func add(_ pair: Halves<Accumulator.Step>, _ x: UnsafeRawPointer, stride: Int) {
    unsafe accumulator.add(pair, x)
  }

  @inline(__always) mutating func shift() { accumulator.shift() }

  @inline(__always) func forEach(from first: Int, _ body: (Int, Accumulator) -> Void) {
    body(first, accumulator)
  }
}

/// Two tiles, the second one's tokens after the first one's.
struct BothASTCTokens<First: ASTCTokenTile, Second: ASTCTokenTile>: ASTCTokenTile
where First.Accumulator == Second.Accumulator {
  typealias Accumulator = First.Accumulator
  var first: First
  var second: Second

  @inline(__always) static var tokenCount: Int { First.tokenCount &+ Second.tokenCount }
  @inline(__always) static var zero: Self { Self(first: .zero, second: .zero) }

  @inline(__always)
  mutating func add(_ step: Accumulator.Step, _ x: UnsafeRawPointer, stride: Int) {
    unsafe first.add(step, x, stride: stride)
    unsafe second.add(step, x + First.tokenCount &* stride, stride: stride)
  }

  @inline(__always)
  mutating func add(_ pair: Halves<Accumulator.Step>, _ x: UnsafeRawPointer, stride: Int) {
    unsafe first.add(pair, x, stride: stride)
    unsafe second.add(pair, x + First.tokenCount &* stride, stride: stride)
  }

  @inline(__always) mutating func shift() {
    first.shift()
    second.shift()
  }

  @inline(__always) func forEach(from index: Int, _ body: (Int, Accumulator) -> Void) {
    first.forEach(from: index, body)
    second.forEach(from: index &+ First.tokenCount, body)
  }
}

typealias TwoASTCTokens<A: ASTCPanelAccumulator> = BothASTCTokens<OneASTCToken<A>, OneASTCToken<A>>
typealias FourASTCTokens<A: ASTCPanelAccumulator> =
  BothASTCTokens<TwoASTCTokens<A>, TwoASTCTokens<A>>
typealias SixASTCTokens<A: ASTCPanelAccumulator> =
  BothASTCTokens<FourASTCTokens<A>, TwoASTCTokens<A>>
typealias TwelveASTCTokens<A: ASTCPanelAccumulator> =
  BothASTCTokens<SixASTCTokens<A>, SixASTCTokens<A>>
