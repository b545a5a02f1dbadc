/// What an instruction set gives to the packed products: arithmetic on tiles of 16 rows.
///
/// A *vector of codes* is 64 bytes, 16 rows × 4 columns of bytes; a byte holds one 8-bit code, two
/// 4-bit codes (columns c and c + 4) or four 2-bit codes (columns c, c + 4, c + 8, c + 12), lowest
/// bits first. A *quad* is four vectors. `Sums` are 16 Int32, `Reals` 16 Float, row after row.
protocol TilePrimitives {
  associatedtype Sums: BitwiseCopyable
  associatedtype Reals: RealVector
  /// A vector of codes in registers, one code a byte.
  associatedtype Bytes: BitwiseCopyable
  /// Quads of 8-bit, 4-bit and 2-bit codes against one token.
  associatedtype ByteQuad: QuadAccumulator where ByteQuad.Sums == Sums
  associatedtype NibbleQuad: QuadAccumulator where NibbleQuad.Sums == Sums
  associatedtype PairQuad: QuadAccumulator where PairQuad.Sums == Sums
  /// Panels of unpacked 8-bit, and of unpacked smaller codes, against one token.
  associatedtype BytePanel: PanelAccumulator where BytePanel.Sums == Sums, BytePanel.Bytes == Bytes
  associatedtype SmallPanel: PanelAccumulator
  where SmallPanel.Sums == Sums, SmallPanel.Bytes == Bytes
  /// The tokens that one pass over a strip takes: as many as the registers hold.
  associatedtype ByteTokens: TokenTile where ByteTokens.Accumulator == BytePanel
  associatedtype SmallTokens: TokenTile where SmallTokens.Accumulator == SmallPanel
  /// Fewer: for what is left, and for the pass that unpacks, which needs registers for it.
  associatedtype FewByteTokens: TokenTile where FewByteTokens.Accumulator == BytePanel
  associatedtype FewSmallTokens: TokenTile where FewSmallTokens.Accumulator == SmallPanel

  /// What sums of 8-bit codes carry: Σ (c + byteBias)·x.
  static var byteBias: Int32 { get }
  static var zeroSums: Sums { get }

  /// The codes of one vector as `BytePanel` multiplies them.
  static func bytes(_ codes: UnsafeRawPointer) -> Bytes
  /// Those of one vector that begin at bit 4 · field or 2 · field of its bytes.
  static func nibbles(_ codes: UnsafeRawPointer, field: Int) -> Bytes
  static func pairs(_ codes: UnsafeRawPointer, field: Int) -> Bytes

  static func add(_ a: Sums, _ b: Sums) -> Sums
  /// a · multiplier − offset, modulo 2^32.
  static func affine(_ a: Sums, multiplier: Int32, offset: Int32) -> Sums
  /// To nearest even.
  static func reals(_ a: Sums) -> Reals
  /// The same for magnitudes below 2^22, where a cheaper way may exist.
  static func smallReals(_ a: Sums) -> Reals
  /// 16 binary16 numbers.
  static func halves(_ p: UnsafeRawPointer) -> Reals
}

/// The products of one token with quads of codes.
protocol QuadAccumulator: BitwiseCopyable {
  associatedtype Sums
  static var zero: Self { get }
  /// Adds 256 bytes of codes times the activations that belong to them.
  mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer)
  var sums: Sums { get }
}

/// The products of one token with a panel: codes unpacked to bytes, 4 columns × `tileCount` tiles
/// a step.
protocol PanelAccumulator: BitwiseCopyable {
  associatedtype Sums
  associatedtype Bytes
  /// The codes of one step in registers, loaded once for all tokens.
  associatedtype Codes: BitwiseCopyable
  /// Row tiles beside one another in a panel: 1 or 2.
  static var tileCount: Int { get }
  static var zero: Self { get }
  /// The codes of one step from those of each tile.
  static func codes(_ tile: (Int) -> Bytes) -> Codes
  /// The steps that may be accumulated before the sums are taken, for codes up to a maximum; a
  /// multiple of 16.
  static func runLength(maximumCode: Int) -> Int
  /// Adds one step.
  mutating func dot(_ codes: Codes, _ x: UnsafeRawPointer)
  func sums(tile: Int) -> Sums
}

/// Floats with the operations that contracts name, each rounded on its own.
protocol RealVector: BitwiseCopyable {
  static func splat(_ value: Float) -> Self
  static func + (a: Self, b: Self) -> Self
  static func - (a: Self, b: Self) -> Self
  static func * (a: Self, b: Self) -> Self
}

extension SIMD4<Float>: RealVector {
  @inline(__always) static func splat(_ value: Float) -> Self { Self(repeating: value) }
}

extension SIMD8<Float>: RealVector {
  @inline(__always) static func splat(_ value: Float) -> Self { Self(repeating: value) }
}

extension SIMD16<Float>: RealVector {
  @inline(__always) static func splat(_ value: Float) -> Self { Self(repeating: value) }
}

/// Two vectors that are treated as one: a tile in more than one register.
struct Halves<Vector: BitwiseCopyable>: BitwiseCopyable {
  var low: Vector
  var high: Vector
}

extension Halves: RealVector where Vector: RealVector {
  @inline(__always) static func splat(_ value: Float) -> Self {
    Self(low: .splat(value), high: .splat(value))
  }
  @inline(__always) static func + (a: Self, b: Self) -> Self {
    Self(low: a.low + b.low, high: a.high + b.high)
  }
  @inline(__always) static func - (a: Self, b: Self) -> Self {
    Self(low: a.low - b.low, high: a.high - b.high)
  }
  @inline(__always) static func * (a: Self, b: Self) -> Self {
    Self(low: a.low * b.low, high: a.high * b.high)
  }
}
