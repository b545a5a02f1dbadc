/// One row of s8c: value = code · scale, codes −127…127.
enum SignedByteRow {
  /// Adding 1.5 · 2^23 leaves a number of magnitude below 2^22 rounded to the nearest integer (ties
  /// to even) in the low bits of the sum. Plain x86-64 has no rounding instruction.
  static let roundingMagic: Float = 12_582_912

  /// Writes codes of finite weights, one byte for each of `x`, and returns the scale: absmax / 127.
  static func quantize(
    _ x: UnsafeBufferPointer<Float>, codes: UnsafeMutableRawBufferPointer
  ) -> Float {
    var largest: Float = 0
    for index in x.indices {
      let magnitude = unsafe x[index].magnitude
      largest = largest < magnitude ? magnitude : largest
    }
    let scale = scale(largest: largest)
    guard scale > 0 else {
      unsafe codes.initializeMemory(as: UInt8.self, repeating: 0)
      return 0
    }
    // `codes` has a byte for each weight.
    let output = unsafe codes.bindMemory(to: Int8.self)
    for index in x.indices {
      let sum = unsafe x[index] / scale + roundingMagic
      let code = Int32(bitPattern: sum.bitPattern) &- 0x4B40_0000
      unsafe output[index] = Int8(truncatingIfNeeded: max(-127, min(127, code)))
    }
    return scale
  }

  /// absmax / 127, or the next larger number where rounding among the denormals made it so small
  /// that the largest weight would need a code above 127.
  static func scale(largest: Float) -> Float {
    let scale = largest / 127
    guard largest > 0 else { return 0 }
    return scale > 0 && largest / scale < 127.5 ? scale : scale.nextUp
  }
}
