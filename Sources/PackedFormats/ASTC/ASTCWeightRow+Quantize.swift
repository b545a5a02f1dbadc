extension ASTCWeightRow {
  /// Chooses blocks for a row of finite weights.
  ///
  /// - Parameters:
  ///   - tensorScale: the scale of the tensor for `.hdr`; nil for `.ldr`, whose rows have their own.
  ///   - blocks: 16 bytes for every 36 columns, all written.
  ///   - minimums: a binary16 a block for `.hdr`, else empty.
  /// - Returns: the row's scale (that of the tensor for `.hdr`), and what was clipped.
  static func quantize(
    _ x: UnsafeBufferPointer<Float>, profile: ASTCProfile, options: QuantizationOptions,
    tensorScale: Float?, blocks: UnsafeMutableRawBufferPointer,
    minimums: UnsafeMutableRawBufferPointer
  ) throws(PackedFormatError) -> (scale: Float, outcome: QuantizationOutcome) {
    preconditionFailure("not here yet")
  }
}
