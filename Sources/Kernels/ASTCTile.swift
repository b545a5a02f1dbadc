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
  /// Steps of two columns.
  @inline(__always) static var valueSteps: Int { 18 }
  /// In a tile's working memory, behind values of 64 bytes a step: what values are made from, and
  /// then activations of 16 bits, those of a token `wideBytes` behind the one's before.
  @inline(__always) static var partsOffset: Int { valueSteps &* 64 }
  @inline(__always) static var wideOffset: Int { valueSteps &* 64 }
  @inline(__always) static var wideBytes: Int { 80 }
  /// What LDR subtracts from 64 times a value: half of 64 · 255.
  @inline(__always) static var center: Int32 { 8160 }
  /// 257/65536 of a 64th: the unit of a row without logarithms in HDR.
  @inline(__always) static var fractionUnit: Float { 257 * 0x1p-22 }

  @inline(__always) static func sideBytes(isHDR: Bool) -> Int { isHDR ? 96 : 56 }

  /// Whether a tile of a band is of a kind that does not exist (above 3, and 1 in LDR): the results of
  /// its rows are no numbers then. Eight kinds at a time; a band's are padded to 64 bytes.
  ///
  /// From the arguments where they lie: a kernel that kept its copies for this has fewer registers
  /// for its loops.
  @inline(__always)
  static func hasUnknownKind(
    _ arguments: UnsafePointer<CKProduct>, band: Int, isHDR: Bool
  ) -> Bool {
    let kinds = unsafe arguments.pointee.codes + band &* arguments.pointee.codeTileBytes
    let count = unsafe arguments.pointee.chunkCount
    var faults: UInt64 = 0
    var block = 0
    while block < count {
      var word = unsafe UInt64(
        littleEndian: kinds.loadUnaligned(fromByteOffset: block, as: UInt64.self))
      let left = count &- block
      // Padding is no kind, and need not be zero.
      if left < 8 { word &= (1 &<< UInt64(truncatingIfNeeded: 8 &* left)) &- 1 }
      faults |= word & 0xFCFC_FCFC_FCFC_FCFC
      if !isHDR { faults |= word & ~(word &>> 1) & 0x0101_0101_0101_0101 }
      block &+= 8
    }
    return faults != 0
  }

  /// Σ x of a tile as the integer that it is; 0 for floats that are no such sum, which memory holds
  /// where nobody has quantized.
  @inline(__always) static func integer(_ sum: Float) -> Int32 {
    sum.magnitude < 0x1p24 ? Int32(sum) : 0
  }
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
  /// Kind 1, in which rows are lines or palettes: Σ q·x over 36 columns, and what it is multiplied by.
  static func paletteSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
    _ scratch: UnsafeMutableRawPointer
  ) -> (sums: Sums, factors: ASTCFactors<Self>)
  /// Whether two tiles of kind 1 at a time are cheaper.
  static var pairsPalettes: Bool { get }
  /// The same of a tile and the next one of its run.
  static func twoPaletteSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
    _ scratch: UnsafeMutableRawPointer
  ) -> TwoPaletteSums<Self>
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
  /// Kinds 2 and 3: Σ (v − center)·x over 36 columns, and units; Σ x is `total`.
  static func partSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer, total: Int32,
    center: Int32, hasThree: Bool, isHDR: Bool, tables: UnsafeRawPointer,
    scratch: UnsafeMutableRawPointer
  ) -> (sums: Sums, unit: Reals)
  /// Kinds 2 and 3, and others where panels have two tiles: 18 steps of v − center, 64 bytes each,
  /// `stride` bytes apart; returns units.
  static func unpackValues(
    _ kind: UInt8, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, center: Int32, isHDR: Bool,
    tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer,
    to values: UnsafeMutableRawPointer, stride: Int
  ) -> Reals
  /// 36 activations in 16 bits each.
  static func widen(_ x: UnsafeRawPointer, to wide: UnsafeMutableRawPointer)
  /// f32(slope·sums + base·x), rounded once; x is an integer.
  static func total(_ sums: Sums, _ factors: ASTCFactors<Self>, x: Float) -> Reals
}

extension ASTCPrimitives {
  @inline(__always) static var pairsPalettes: Bool { false }

  @inline(__always)
  static func twoPaletteSums(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ x: UnsafeRawPointer,
    _ scratch: UnsafeMutableRawPointer
  ) -> TwoPaletteSums<Self> {
    let first = unsafe paletteSums(codes, side, x, scratch)
    let second = unsafe paletteSums(
      codes + ASTCTile.codeBytes, side + ASTCTile.sideBytes(isHDR: true), x + ASTCTile.columns,
      scratch)
    return TwoPaletteSums(
      sums: Halves(low: first.sums, high: second.sums), factors: (first.factors, second.factors))
  }
}

/// Two tiles' sums, and what they are multiplied by.
struct TwoPaletteSums<P: ASTCPrimitives> {
  var sums: Halves<P.Sums>
  var factors: (ASTCFactors<P>, ASTCFactors<P>)
}

/// What the integer sums of a tile are multiplied by, a number a row.
struct ASTCFactors<P: ASTCPrimitives>: BitwiseCopyable {
  var slope: P.Factors
  var base: P.Factors
  /// What the integer is multiplied by, in HDR.
  var unit: P.Reals
}

/// The products of one token with a panel.
protocol ASTCPanelAccumulator: BitwiseCopyable {
  associatedtype Sums
  /// One step in registers.
  associatedtype Step: BitwiseCopyable
  /// Row tiles beside one another in a panel.
  static var tileCount: Int { get }
  /// Whether two steps of bytes up to 64 at a time are cheaper.
  static var addsPairs: Bool { get }
  static var zero: Self { get }
  /// Adds a step of bytes up to 128, four columns.
  mutating func add(_ step: Step, _ x: UnsafeRawPointer)
  /// Adds two steps of bytes up to 64.
  mutating func add(_ pair: Halves<Step>, _ x: UnsafeRawPointer)
  /// Adds a step of values of 16 bits, two columns; activations have 16 bits too.
  mutating func addValues(_ step: Step, _ wide: UnsafeRawPointer)
  func sums(tile: Int) -> Sums
}

/// The accumulators of several tokens against one panel, in registers: as `TokenTile`.
protocol ASTCTokenTile: BitwiseCopyable {
  associatedtype Accumulator: ASTCPanelAccumulator
  static var tokenCount: Int { get }
  static var zero: Self { get }
  mutating func add(_ step: Accumulator.Step, _ x: UnsafeRawPointer, stride: Int)
  mutating func add(_ pair: Halves<Accumulator.Step>, _ x: UnsafeRawPointer, stride: Int)
  mutating func addValues(_ step: Accumulator.Step, _ wide: UnsafeRawPointer, stride: Int)
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

  @inline(__always)
  mutating func addValues(_ step: Accumulator.Step, _ wide: UnsafeRawPointer, stride: Int) {
    unsafe accumulator.addValues(step, wide)
  }

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

  @inline(__always)
  mutating func addValues(_ step: Accumulator.Step, _ wide: UnsafeRawPointer, stride: Int) {
    unsafe first.addValues(step, wide, stride: stride)
    unsafe second.addValues(step, wide + First.tokenCount &* stride, stride: stride)
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
