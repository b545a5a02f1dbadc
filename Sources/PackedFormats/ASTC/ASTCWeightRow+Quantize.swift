extension ASTCWeightRow {
  /// Chooses blocks for a row of finite weights.
  ///
  /// - Parameters:
  ///   - tensorScale: the scale of the tensor for HDR; nil for LDR, whose rows have their own.
  ///   - blocks: 16 bytes for every 36 columns, all written.
  ///   - minimums: a binary16 a block for HDR, else empty.
  /// - Returns: the row's scale (that of the tensor for HDR), and what was clipped.
  static func quantize(
    _ x: UnsafeBufferPointer<Float>, options: QuantizationOptions, tensorScale: Float?,
    blocks: UnsafeMutableRawBufferPointer,
    minimums: UnsafeMutableRawBufferPointer
  ) throws(PackedFormatError) -> (scale: Float, outcome: QuantizationOutcome) {
    var encoder = ASTCEncoder(effort: options.effort, partitionLimit: options.partitionLimit)
    guard let tensorScale else {
      return unsafe encoder.quantizeLDR(x, options: options, blocks: blocks)
    }
    try unsafe encoder.quantizeHDR(
      x, scale: tensorScale, options: options, blocks: blocks, minimums: minimums)
    return (tensorScale, QuantizationOutcome())
  }
}

extension ASTCEncoder {
  /// The caller vouches for the sizes that `ASTCWeightRow.quantize` documents.
  mutating func quantizeLDR(
    _ x: UnsafeBufferPointer<Float>, options: QuantizationOptions,
    blocks: UnsafeMutableRawBufferPointer
  ) -> (scale: Float, outcome: QuantizationOutcome) {
    let range = unsafe ASTCRowRange(x, clipping: options.clipping)
    let scale = range.scale
    let factor = scale > 0 ? 1 / (Double(scale) * 257) : 0
    var start = 0
    for block in 0..<blocks.count / ASTCBlock.byteCount {
      let count = min(36, x.count - start)
      for texel in 0..<36 {
        // The last block of a row repeats its last weight, for nothing.
        let column = start + min(texel, count - 1)
        let level = unsafe Float(Double(x[column]) * factor + 127.5)
        unsafe scratch.levels[texel] = level < 0 ? 0 : level > 255 ? 255 : level
      }
      setImportance(options.importance, columns: start..<start + count)
      search(spread: range.spread)
      _ = assign(best)
      unsafe self.block(best).store(to: blocks, at: block * ASTCBlock.byteCount)
      start += 36
    }
    return (scale, QuantizationOutcome(clippedCount: range.clippedCount))
  }
}

extension ASTCEncoder {
  /// The importances of a block's columns, the largest of them 1; padding has none.
  func setImportance(_ importance: [Float]?, columns: Range<Int>) {
    // 36 importances, of which a block has up to 36.
    for texel in 0..<36 { unsafe scratch.importance[texel] = texel < columns.count ? 1 : 0 }
    guard let importance else { return }
    let greatest = importance[columns].max() ?? 0
    guard greatest > 0 else { return }
    for (texel, value) in importance[columns].enumerated() {
      unsafe scratch.importance[texel] = value / greatest
    }
  }
}

/// What the 16-bit results of a row's blocks have to reach.
struct ASTCRowRange {
  /// value = (C − 32767.5) · scale.
  var scale: Float
  /// How many root mean squares the range reaches.
  var spread: Float
  /// Weights beyond the range.
  var clippedCount: Int

  /// The range of least error that codebooks of few levels allow: between these two the offset
  /// modes at the greater one do better than direct endpoints, measured on Gaussian rows.
  private static let unfavourable: ClosedRange<Double> = 4.3...7.2

  /// Covers every weight, or `clipping` root mean squares where that is less.
  init(_ x: UnsafeBufferPointer<Float>, clipping: Float?) {
    var greatest: Float = 0
    var squares = 0.0
    for index in x.indices {
      let weight = unsafe x[index]
      greatest = max(greatest, weight.magnitude)
      squares += Double(weight) * Double(weight)
    }
    let rootMeanSquare = (squares / Double(max(x.count, 1))).squareRoot()
    var range = Double(greatest)
    clippedCount = 0
    if let clipping {
      let limit = Double(clipping) * rootMeanSquare
      if limit < range {
        range = limit
        for index in x.indices where unsafe Double(x[index].magnitude) > limit { clippedCount += 1 }
      }
    }
    var spread = rootMeanSquare > 0 ? range / rootMeanSquare : 1
    if Self.unfavourable ~= spread {
      spread = Self.unfavourable.upperBound
      range = spread * rootMeanSquare
    }
    self.spread = Float(spread)
    scale = Float(range / 32767.5)
    if scale == 0 && range > 0 { scale = .leastNonzeroMagnitude }
    // Rounded up, the greatest float times 32767.5 would overflow.
    while !(scale * 32767.5).isFinite { scale = scale.nextDown }
  }
}
