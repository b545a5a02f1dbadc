/// One row of a tensor in ASTC blocks.
enum ASTCWeightRow {}

extension ASTCWeightRow {
  /// Writes a row's values as `WeightFormat.dequantize` defines them. Any bytes are accepted; the
  /// columns of an illegal block become NaN.
  ///
  /// - Parameters:
  ///   - blocks: 16 bytes for every 36 of the output's columns.
  ///   - minimums: a binary16 a block for `.hdr`, else empty.
  static func dequantize(
    _ blocks: UnsafeRawBufferPointer, profile: ASTCProfile, scale: Float,
    minimums: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<Float>
  ) {
    preconditionFailure("not here yet")
  }

  /// The first illegal block of a row.
  static func firstFault(
    _ blocks: UnsafeRawBufferPointer, profile: ASTCProfile
  ) -> (block: Int, fault: ASTCBlockFault)? {
    preconditionFailure("not here yet")
  }
}
