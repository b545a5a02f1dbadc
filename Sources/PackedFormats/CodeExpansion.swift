/// Codes of some columns of a row to values. The columns begin at a byte of `codes`, which holds the
/// row; `output` holds the row too.
enum CodeExpansion {
  /// 8-bit codes: code · scale.
  @inline(__always)
  static func bytes(
    _ codes: UnsafeRawBufferPointer, _ columns: Range<Int>, scale: Float,
    into output: UnsafeMutableBufferPointer<Float>
  ) {
    for column in columns {
      unsafe output[column] = Float(Int8(bitPattern: codes[column])) * scale
    }
  }

  /// 4-bit codes: (code − zeroPoint) · scale, or minimum + code · scale.
  @inline(__always)
  static func nibbles(
    _ codes: UnsafeRawBufferPointer, _ columns: Range<Int>, scale: Float, zeroPoint: Float,
    minimum: Float?, into output: UnsafeMutableBufferPointer<Float>
  ) {
    var column = columns.lowerBound
    // A code in bits 4i + 1 … 4i + 4 of a number between 2^(22 − 4i) and twice that stands for itself.
    let masks = SIMD4<UInt32>(15 << 1, 15 << 5, 15 << 9, 15 << 13)
    let bases = SIMD4<Float>(0x1p22, 0x1p18, 0x1p14, 0x1p10)
    let zeros = bases + zeroPoint
    while column &+ 4 <= columns.upperBound {
      let packed = unsafe UInt32(loadHalfBits(codes, column / 2))
      let fields = SIMD4<UInt32>(repeating: packed << 1) & masks
      let numbers = unsafe unsafeBitCast(
        fields | unsafeBitCast(bases, to: SIMD4<UInt32>.self), to: SIMD4<Float>.self)
      let products = (numbers - zeros) * SIMD4(repeating: scale)
      let values = if let minimum { SIMD4(repeating: minimum) + products } else { products }
      // Four columns of the row.
      unsafe UnsafeMutableRawBufferPointer(output).storeBytes(
        of: values, toByteOffset: column * 4, as: SIMD4<Float>.self)
      column &+= 4
    }
    while column < columns.upperBound {
      let code = unsafe (codes[column >> 1] &>> UInt8((column & 1) * 4)) & 15
      let product = (Float(code) - zeroPoint) * scale
      unsafe output[column] = if let minimum { minimum + product } else { product }
      column &+= 1
    }
  }

  /// 2-bit codes: (code − 1.5) · scale.
  @inline(__always)
  static func pairs(
    _ codes: UnsafeRawBufferPointer, _ columns: Range<Int>, scale: Float,
    into output: UnsafeMutableBufferPointer<Float>
  ) {
    var column = columns.lowerBound
    // As for nibbles, in bits 2i + 1 and 2i + 2 of a number from 2^(22 − 2i) on.
    let masks = SIMD4<UInt32>(3 << 1, 3 << 3, 3 << 5, 3 << 7)
    let bases = SIMD4<Float>(0x1p22, 0x1p20, 0x1p18, 0x1p16)
    let zeros = bases + 1.5
    while column &+ 4 <= columns.upperBound {
      let packed = unsafe UInt32(codes[column / 4])
      let fields = SIMD4<UInt32>(repeating: packed << 1) & masks
      let numbers = unsafe unsafeBitCast(
        fields | unsafeBitCast(bases, to: SIMD4<UInt32>.self), to: SIMD4<Float>.self)
      // Four columns of the row.
      unsafe UnsafeMutableRawBufferPointer(output).storeBytes(
        of: (numbers - zeros) * SIMD4(repeating: scale), toByteOffset: column * 4,
        as: SIMD4<Float>.self)
      column &+= 4
    }
    while column < columns.upperBound {
      let code = unsafe (codes[column >> 2] &>> UInt8((column & 3) * 2)) & 3
      unsafe output[column] = (Float(code) - 1.5) * scale
      column &+= 1
    }
  }
}
