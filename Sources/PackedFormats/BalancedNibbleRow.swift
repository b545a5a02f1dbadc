/// One row of u4c: value = (code − 7.5) · scale.
enum BalancedNibbleRow: SymmetricLattice {
  static var outermost: Float { 7.5 }
  static var step: Float { 20.0 / 21 }
  static var leastScale: Float { 0.2 }

  /// The nearest level of a ratio of magnitude and scale: 0.5, 1.5 … 7.5.
  @inline(__always)
  static func level(_ ratio: Lane) -> Lane {
    // Any number between 7 and 7.5, so that what is beyond gets the last level.
    let top = Lane(repeating: 7.25)
    let clamped = ratio.replacing(with: top, where: ratio .> top)
    let magic = Lane(repeating: SignedByteRow.roundingMagic)
    let half = Lane(repeating: 0.5)
    // Rounding one half less rounds down, except for the ratio 0 (to even), which it leaves there.
    return ((clamped - half + magic) - magic) + half
  }

  /// absmax / 7.5.
  static func scale(largest: Float) -> Float {
    guard largest > 0 else { return 0 }
    return max(largest / 7.5, .leastNonzeroMagnitude)
  }

  /// Writes the nearest codes, two a byte, the even column in the low four bits:
  /// 8 + ⌊weight / scale⌋, clamped to 0…15; a zero scale gets the code 8 throughout. `codes` holds
  /// half a byte for each of `x`, rounded up.
  ///
  /// - Throws: where 7.5 times the scale overflows.
  static func encode(
    _ x: UnsafeBufferPointer<Float>, scale: Float, codes: UnsafeMutableRawBufferPointer
  ) throws(PackedFormatError) {
    guard (7.5 * scale).isFinite else { throw PackedFormatError(.outOfRange) }
    @inline(__always) func code(_ column: Int) -> UInt8 {
      guard scale > 0 else { return 8 }
      let ratio = unsafe x[column] / scale
      let low = ratio > -8 ? ratio : -8
      let clamped = low < 7 ? low : 7
      // Adding the magic number rounds to nearest; one less where that was up.
      let sum = clamped + SignedByteRow.roundingMagic
      let nearest = Int32(bitPattern: sum.bitPattern) &- 0x4B40_0000
      let isAbove = sum - SignedByteRow.roundingMagic > clamped
      return UInt8(truncatingIfNeeded: nearest &+ (isAbove ? 7 : 8))
    }
    for byte in codes.indices {
      let high = byte * 2 + 1 < x.count ? code(byte * 2 + 1) : 0
      unsafe codes[byte] = code(byte * 2) | high &<< 4
    }
  }
}
