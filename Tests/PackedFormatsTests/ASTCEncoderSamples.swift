import PackedFormats
import TestSupport

/// Weights and the blocks that the encoder makes of them, a block at a time.
enum ASTCEncoderSamples {
  /// How weights are spread.
  enum Kind: String, CaseIterable {
    /// Standard normal.
    case gaussian
    /// The same, with a weight of 5 in each row.
    case planted
    /// The same, cubed: a heavy tail.
    case cubed
    /// From −1 to 1.
    case uniform
    /// Standard normal, of which three of four are zero.
    case sparse
  }

  static func weights(_ kind: Kind, rowCount: Int, columnCount: Int, seed: UInt64) -> [Float] {
    var weights = gaussian(rowCount * columnCount, seed: seed)
    switch kind {
    case .gaussian: break
    case .planted: for row in 0..<rowCount { weights[row * columnCount + row % columnCount] = 5 }
    case .cubed: weights = weights.map { $0 * $0 * $0 }
    case .uniform:
      var generator = SeededGenerator(seed: seed)
      weights = weights.map { _ in Float.random(in: -1...1, using: &generator) }
    case .sparse: weights = weights.enumerated().map { $0 % 4 == 0 ? $1 : 0 }
    }
    return weights
  }

  /// ‖weights − values‖ / ‖weights‖.
  static func relativeError(_ weights: [Float], _ values: [Float]) -> Double {
    var squares = 0.0
    var whole = 0.0
    for (weight, value) in zip(weights, values) {
      squares += (Double(weight) - Double(value)) * (Double(weight) - Double(value))
      whole += Double(weight) * Double(weight)
    }
    return (squares / whole).squareRoot()
  }

  static func blocks(_ tensor: PackedTensor) -> [ASTCBlock] {
    stride(from: 0, to: tensor.codes.count, by: ASTCBlock.byteCount).map { offset in
      // 16 bytes at each offset.
      unsafe tensor.codes.withUnsafeBytes { unsafe ASTCBlock($0, at: offset) }
    }
  }

  /// The same block but for its grid weights, which all have one code.
  static func constant(_ block: ASTCBlock, mode: ASTCWeightMode, code: UInt8) -> ASTCBlock {
    var weights = ASTCBlock()
    let codes = [UInt8](repeating: code, count: ASTCBlock.texelCount)
    ASTCSequenceTests.pack(codes, range: mode.codeRange, into: &weights, at: 0)
    let used = mode.codeRange.sequenceBitCount(ASTCBlock.texelCount)
    let reversed = weights.bitReversed
    // The sequence takes the top bits, 72 or more.
    let mask: UInt64 = ~0 << UInt64(128 - used)
    return ASTCBlock(low: block.low & ~mask | reversed.low & mask, high: reversed.high)
  }
}

extension PackedTensor {
  /// The same planes with other blocks.
  func with(_ blocks: [ASTCBlock]) -> PackedTensor {
    var copy = self
    copy.codes = ASTCBlocks.bytes(blocks)
    return copy
  }
}
