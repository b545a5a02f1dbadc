/// The columns of s8c and s8g32 that share a scale: value = code · scale, codes −127…127.
enum SignedByteRow: SymmetricLattice {
  /// Adding 1.5 · 2^23 leaves a number of magnitude below 2^22 rounded to the nearest integer (ties
  /// to even) in the low bits of the sum. Plain x86-64 has no rounding instruction.
  static let roundingMagic: Float = 12_582_912

  static var outermost: Float { 127 }
  static var step: Float { 100.0 / 101 }
  static var leastScale: Float { 0.012 }

  /// The nearest level of a ratio of magnitude and scale: 0, 1 … 127.
  @inline(__always)
  static func level(_ ratio: Lane) -> Lane {
    let top = Lane(repeating: 127)
    let magic = Lane(repeating: roundingMagic)
    return (ratio.replacing(with: top, where: ratio .> top) + magic) - magic
  }

  /// Writes the nearest codes, one byte for each of `x`; all zero where the scale is.
  static func encode(
    _ x: UnsafeBufferPointer<Float>, scale: Float, codes: UnsafeMutableRawBufferPointer
  ) {
    guard scale > 0 else {
      unsafe codes.initializeMemory(as: UInt8.self, repeating: 0)
      return
    }
    // `codes` has a byte for each weight.
    let output = unsafe codes.bindMemory(to: Int8.self)
    for index in x.indices {
      let ratio = unsafe x[index] / scale
      let low = ratio > -127 ? ratio : -127
      let sum = (low < 127 ? low : 127) + roundingMagic
      let code = Int32(bitPattern: sum.bitPattern) &- 0x4B40_0000
      unsafe output[index] = Int8(truncatingIfNeeded: code)
    }
  }

  /// absmax / 127, or the next larger number where rounding among the denormals made it so small
  /// that the largest weight would need a code above 127.
  static func scale(largest: Float) -> Float {
    let scale = largest / 127
    guard largest > 0 else { return 0 }
    return scale > 0 && largest / scale < 127.5 ? scale : scale.nextUp
  }

  /// The same as a binary16; 0 where the largest magnitude is below half of the smallest one.
  ///
  /// - Throws: where it overflows.
  static func halfScale(largest: Float) throws(PackedFormatError) -> Float {
    let exact = largest / 127
    guard exact < 65520 else { throw PackedFormatError(.outOfRange) }
    let scale = HalfPrecision.rounded(exact)
    guard scale > 0, largest / scale >= 127.5 else { return scale }
    // Only among the denormals, whose next one is 2^-24 away.
    return scale + 0x1p-24
  }
}
