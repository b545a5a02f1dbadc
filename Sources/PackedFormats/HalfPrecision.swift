/// Conversions between binary16 and binary32, as bulk loops that vectorize without F16C.
///
/// The results are those of `Float(Float16)` and `Float16(Float)` (round to nearest even) for
/// every finite value and infinity; NaNs stay NaNs.
package enum HalfPrecision {
  /// The value of binary16 bits; exact.
  @inline(__always)
  package static func float(bits: UInt16) -> Float {
    let sign = UInt32(bits & 0x8000) << 16
    // Exponent and fraction at their binary32 places, the exponent still biased by 15.
    let magnitude = UInt32(bits & 0x7FFF) << 13
    // 2^112 moves the bias from 15 to 127 and normalises denormals, exactly.
    let scaled = Float(bitPattern: magnitude) * Float(bitPattern: 0x7780_0000)
    // 2^16 and more can only come from the exponent 31: infinity and NaN.
    let special = scaled.bitPattern | 0x7F80_0000
    let value = magnitude >= 0x0F80_0000 ? special : scaled.bitPattern
    return Float(bitPattern: value | sign)
  }

  /// The nearest binary16 bits, ties to even; infinity from 65520 up.
  @inline(__always)
  package static func bits(_ value: Float) -> UInt16 {
    let sign = UInt16(truncatingIfNeeded: (value.bitPattern >> 16) & 0x8000)
    let magnitude = value.bitPattern & 0x7FFF_FFFF
    if magnitude >= 0x477F_F000 {  // 65520: infinity or NaN
      return sign | (magnitude > 0x7F80_0000 ? 0x7E00 : 0x7C00)
    }
    if magnitude < 0x3880_0000 {  // below 2^-14: a denormal
      // Adding 0.5 aligns the last binary16 bit with the last bit of the sum, which rounds it.
      let sum = Float(bitPattern: magnitude) + 0.5
      return sign | UInt16(truncatingIfNeeded: sum.bitPattern &- 0x3F00_0000)
    }
    // Rebias, and add just under half a unit, or half where the last kept bit is odd.
    let rounded = magnitude &- 0x3800_0000 &+ 0x0FFF &+ ((magnitude >> 13) & 1)
    return sign | UInt16(truncatingIfNeeded: rounded >> 13)
  }

  /// The nearest value that binary16 holds.
  @inline(__always)
  package static func rounded(_ value: Float) -> Float { float(bits: bits(value)) }

  /// The largest binary16 value that is not above `value`, which is at least −65504 and finite.
  package static func roundedDown(_ value: Float) -> Float {
    let nearest = bits(value)
    if nearest & 0x7C00 != 0x7C00, float(bits: nearest) <= value { return float(bits: nearest) }
    // The next one below: a positive number's bits count down, a negative one's up; below both
    // zeros comes the negative number of least magnitude.
    if nearest & 0x7FFF == 0 { return float(bits: 0x8001) }
    return float(bits: nearest & 0x8000 == 0 ? nearest - 1 : nearest + 1)
  }
}
