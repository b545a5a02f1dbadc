/// One row of f16.
enum HalfRow {
  /// Writes two little-endian bytes a weight; `codes` holds 2 bytes for each of `x`.
  static func quantize(
    _ x: UnsafeBufferPointer<Float>, codes: UnsafeMutableRawBufferPointer
  ) throws(PackedFormatError) {
    for column in x.indices {
      let bits = unsafe HalfPrecision.bits(x[column])
      guard bits & 0x7C00 != 0x7C00 else { throw PackedFormatError(.outOfRange, column: column) }
      unsafe codes.storeBytes(of: bits.littleEndian, toByteOffset: column * 2, as: UInt16.self)
    }
  }
}
