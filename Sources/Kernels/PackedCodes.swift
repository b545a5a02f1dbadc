/// How the codes of one format are multiplied and unpacked at one instruction set.
protocol PackedCodes {
  associatedtype Primitives: TilePrimitives
  associatedtype Quad: QuadAccumulator where Quad.Sums == Primitives.Sums
  associatedtype Panel: PanelAccumulator
  where Panel.Sums == Primitives.Sums, Panel.Bytes == Primitives.Bytes
  associatedtype Tokens: TokenTile where Tokens.Accumulator == Panel
  associatedtype FewTokens: TokenTile where FewTokens.Accumulator == Panel

  /// The columns of a quad: of 256 bytes of codes of 16 rows.
  static var quadColumns: Int { get }
  /// The columns whose products are summed as integers before they meet a scale, where activations
  /// have one per chunk: the weights' group, or the chunk where they have none.
  static var groupColumns: Int { get }

  /// Unpacks one of the four steps of 4 columns of a piece, which is 16 columns: `quadColumns` in
  /// 256 bytes.
  static func step(_ index: Int, _ piece: UnsafeRawPointer) -> Primitives.Bytes
}

extension PackedCodes {
  /// Bytes of a piece of 16 columns.
  @inline(__always) static var pieceBytes: Int { 256 &* 16 / quadColumns }
}

/// What the formats need beside it whose activations have one scale a token.
protocol PerTokenCodes: PackedCodes {
  static var maximumCode: Int { get }
  /// The integer of the contract is sums · multiplier − zeroPoint · Σ x.
  static var multiplier: Int32 { get }
  static var zeroPoint: Int32 { get }
  /// What the token scale is multiplied by to make up for the multiplier; a power of two.
  static var factor: Float { get }
}

/// 8-bit codes.
enum ByteCodes<Primitives: TilePrimitives>: PackedCodes {
  typealias Quad = Primitives.ByteQuad
  typealias Panel = Primitives.BytePanel
  typealias Tokens = Primitives.ByteTokens
  typealias FewTokens = Primitives.FewByteTokens
  @inline(__always) static var quadColumns: Int { 16 }
  @inline(__always) static var groupColumns: Int { 64 }

  @inline(__always)
  static func step(_ index: Int, _ piece: UnsafeRawPointer) -> Primitives.Bytes {
    // Four vectors.
    unsafe Primitives.bytes(piece + index &* 64)
  }
}

/// 8-bit codes of groups of 32 columns.
enum GroupedByteCodes<Primitives: TilePrimitives>: PackedCodes {
  typealias Quad = Primitives.ByteQuad
  typealias Panel = Primitives.BytePanel
  typealias Tokens = Primitives.ByteTokens
  typealias FewTokens = Primitives.FewByteTokens
  @inline(__always) static var quadColumns: Int { 16 }
  @inline(__always) static var groupColumns: Int { 32 }

  @inline(__always)
  static func step(_ index: Int, _ piece: UnsafeRawPointer) -> Primitives.Bytes {
    unsafe ByteCodes<Primitives>.step(index, piece)
  }
}

/// 4-bit codes.
enum NibbleCodes<Primitives: TilePrimitives>: PackedCodes {
  typealias Quad = Primitives.NibbleQuad
  typealias Panel = Primitives.SmallPanel
  typealias Tokens = Primitives.SmallTokens
  typealias FewTokens = Primitives.FewSmallTokens
  @inline(__always) static var quadColumns: Int { 32 }
  @inline(__always) static var groupColumns: Int { 32 }

  @inline(__always)
  static func step(_ index: Int, _ piece: UnsafeRawPointer) -> Primitives.Bytes {
    // Two vectors of two steps.
    unsafe Primitives.nibbles(piece + index / 2 &* 64, field: index % 2)
  }
}

/// 2-bit codes.
enum PairCodes<Primitives: TilePrimitives>: PerTokenCodes {
  typealias Quad = Primitives.PairQuad
  typealias Panel = Primitives.SmallPanel
  typealias Tokens = Primitives.SmallTokens
  typealias FewTokens = Primitives.FewSmallTokens
  @inline(__always) static var quadColumns: Int { 64 }
  @inline(__always) static var groupColumns: Int { 64 }
  @inline(__always) static var maximumCode: Int { 3 }
  @inline(__always) static var multiplier: Int32 { 2 }
  @inline(__always) static var zeroPoint: Int32 { 3 }
  @inline(__always) static var factor: Float { 0.5 }

  @inline(__always)
  static func step(_ index: Int, _ piece: UnsafeRawPointer) -> Primitives.Bytes {
    // One vector.
    unsafe Primitives.pairs(piece, field: index)
  }
}

/// How the weights' scales enter where activations have a scale per chunk.
protocol WeightScales {
  associatedtype Primitives: TilePrimitives
  /// The scales (and minimums) of one group of 16 rows; nothing where they are per channel.
  associatedtype Scales: BitwiseCopyable
  static var byteCount: Int { get }
  static func load(_ p: UnsafeRawPointer) -> Scales
  /// What the group's activations give to every row, from their sums of 32 columns.
  static func offset(_ groupSums: UnsafePointer<Float>) -> Float
  /// The group's part of the result, before the activations' scale.
  static func apply(
    _ scales: Scales, _ sums: Primitives.Reals, offset: Float
  ) -> Primitives.Reals
  /// The result from the sum of all parts; the scales are those of the tile, where per channel.
  static func finish(_ total: Primitives.Reals, _ tileScales: UnsafeRawPointer) -> Primitives.Reals
}

extension WeightScales {
  @inline(__always)
  static func finish(_ total: Primitives.Reals, _: UnsafeRawPointer) -> Primitives.Reals { total }
}

/// s8c: Σ c·x, and the channel's scale at the end.
enum ChannelScales<Primitives: TilePrimitives>: WeightScales {
  struct Scales: BitwiseCopyable {}
  @inline(__always) static var byteCount: Int { 0 }

  @inline(__always) static func load(_: UnsafeRawPointer) -> Scales { Scales() }

  @inline(__always) static func offset(_ groupSums: UnsafePointer<Float>) -> Float {
    // Sums with the bias are below 64 · 255 · 127 < 2^21: everything is exact.
    unsafe (groupSums[0] + groupSums[1]) * Float(Primitives.byteBias)
  }

  @inline(__always)
  static func apply(_: Scales, _ sums: Primitives.Reals, offset: Float) -> Primitives.Reals {
    Primitives.byteBias == 0 ? sums : sums - .splat(offset)
  }

  @inline(__always)
  static func finish(
    _ total: Primitives.Reals, _ tileScales: UnsafeRawPointer
  ) -> Primitives.Reals {
    unsafe total * tileScales.loadUnaligned(as: Primitives.Reals.self)
  }
}

/// s8g32: scale · Σ c·x.
enum GroupScales<Primitives: TilePrimitives>: WeightScales {
  typealias Scales = Primitives.Reals
  @inline(__always) static var byteCount: Int { 32 }

  @inline(__always) static func load(_ p: UnsafeRawPointer) -> Scales {
    unsafe Primitives.halves(p)
  }

  @inline(__always) static func offset(_ groupSums: UnsafePointer<Float>) -> Float {
    // Sums with the bias are below 32 · 255 · 127 < 2^20: everything is exact.
    unsafe groupSums[0] * Float(Primitives.byteBias)
  }

  @inline(__always)
  static func apply(
    _ scales: Scales, _ sums: Primitives.Reals, offset: Float
  ) -> Primitives.Reals {
    scales * (Primitives.byteBias == 0 ? sums : sums - .splat(offset))
  }
}

/// u4c: Σ c·x − 7.5·Σ x, and the channel's scale at the end.
enum BalancedScales<Primitives: TilePrimitives>: WeightScales {
  struct Scales: BitwiseCopyable {}
  @inline(__always) static var byteCount: Int { 0 }

  @inline(__always) static func load(_: UnsafeRawPointer) -> Scales { Scales() }

  @inline(__always) static func offset(_ groupSums: UnsafePointer<Float>) -> Float {
    // Halves of integers below 2^17: everything is exact.
    unsafe groupSums[0] * 7.5
  }

  @inline(__always)
  static func apply(_: Scales, _ sums: Primitives.Reals, offset: Float) -> Primitives.Reals {
    sums - .splat(offset)
  }

  @inline(__always)
  static func finish(
    _ total: Primitives.Reals, _ tileScales: UnsafeRawPointer
  ) -> Primitives.Reals {
    unsafe total * tileScales.loadUnaligned(as: Primitives.Reals.self)
  }
}

/// u2g64: scale · (Σ c·x − 1.5·Σ x).
enum CenteredScales<Primitives: TilePrimitives>: WeightScales {
  typealias Scales = Primitives.Reals
  @inline(__always) static var byteCount: Int { 32 }

  @inline(__always) static func load(_ p: UnsafeRawPointer) -> Scales {
    unsafe Primitives.halves(p)
  }

  @inline(__always) static func offset(_ groupSums: UnsafePointer<Float>) -> Float {
    // A group of 64 has two sums of 32; integers below 2^14, so that everything is exact.
    unsafe (groupSums[0] + groupSums[1]) * 1.5
  }

  @inline(__always)
  static func apply(
    _ scales: Scales, _ sums: Primitives.Reals, offset: Float
  ) -> Primitives.Reals {
    scales * (sums - .splat(offset))
  }
}

/// u4g32: scale · Σ c·x + minimum · Σ x.
enum AffineScales<Primitives: TilePrimitives>: WeightScales {
  struct Scales: BitwiseCopyable {
    var scale: Primitives.Reals
    var minimum: Primitives.Reals
  }
  @inline(__always) static var byteCount: Int { 64 }

  @inline(__always) static func load(_ p: UnsafeRawPointer) -> Scales {
    Scales(scale: unsafe Primitives.halves(p), minimum: unsafe Primitives.halves(p + 32))
  }

  @inline(__always) static func offset(_ groupSums: UnsafePointer<Float>) -> Float {
    unsafe groupSums[0]
  }

  @inline(__always)
  static func apply(
    _ scales: Scales, _ sums: Primitives.Reals, offset: Float
  ) -> Primitives.Reals {
    scales.scale * sums + scales.minimum * .splat(offset)
  }
}
