/// From a 16-bit interpolated component to the result, which is a binary16 in all profiles.
enum ASTCResult {
  /// LDR: C/65536 rounded toward zero to a binary16, 1 for 65535.
  ///
  /// Eleven significant bits are kept. Below 2⁻¹⁴, where a binary16 has fewer, C is 1, 2 or 3.
  @inline(__always)
  static func float(ldr c: SIMD4<Float>) -> SIMD4<Float> {
    let kept = c.bits & SIMD4(repeating: 0xFFFF_E000)
    let value = SIMD4<Float>(bits: kept) * 0x1p-16
    // What 65535 lacks to 1 is 2⁻¹¹.
    let rest = SIMD4<Float>(repeating: 0).replacing(with: 0x1p-11, where: c .== 65535)
    return value + rest
  }

  /// The same from 2²³ + C.
  @inline(__always)
  static func float(ldrShifted shifted: SIMD4<Float>) -> SIMD4<Float> {
    float(ldr: shifted - SIMD4(repeating: ASTCLine.magic))
  }

  /// The HDR result of C as a logarithm, at most the largest finite binary16.
  ///
  /// With m = C mod 2048 the format's binary16 is ⌊C / 2048⌋ · 1024 + ⌊t / 8⌋, where t is 3 m below
  /// 512, 5 m − 2048 from 1536 on, and 4 m − 512 between them: altogether ⌊(4 C − 512 + e) / 8⌋,
  /// where e is what |m − 1024| exceeds 512 by.
  @inline(__always)
  static func float(hdr c: SIMD4<UInt32>) -> SIMD4<Float> {
    // Arithmetic modulo 2³²; shifted right as signed numbers, negative ones are all ones.
    let distance = SIMD4<Int32>(truncatingIfNeeded: c & 0x7FF) &- 1024
    let sign = distance &>> 31
    let excess = (distance ^ sign) &- sign &- 512
    let positive = excess & ~(excess &>> 31)
    let sum = SIMD4<Int32>(truncatingIfNeeded: c) &<< 2 &+ positive &- 512
    let bits = SIMD4<UInt32>(truncatingIfNeeded: sum &>> 3)
    // Positive: exponent and fraction move to their binary32 places, and the bias grows by 112, even
    // beyond the largest. Below 2⁻¹⁴, where a binary16 has no leading one, that is 2⁻¹⁵ + value / 2;
    // no operand ever lacks its leading one in binary32, which would take hundreds of cycles.
    let moved = SIMD4<Float>(bits: bits &<< 13 &+ 112 &<< 23)
    let zero = SIMD4<Float>(repeating: 0)
    let below = moved - 0x1p-14
    let value = moved + below.replacing(with: zero, where: below .> zero)
    let largest = SIMD4<Float>(repeating: 65504)
    return value.replacing(with: largest, where: value .> largest)
  }

  /// The same from 2²³ + C.
  @inline(__always)
  static func float(hdrShifted shifted: SIMD4<Float>) -> SIMD4<Float> {
    float(hdr: shifted.bits & 0xFFFF)
  }

  /// Numbers below 2²³.
  @inline(__always)
  static func float(small numbers: SIMD4<UInt32>) -> SIMD4<Float> {
    let magic = SIMD4<Float>(repeating: ASTCLine.magic)
    return SIMD4<Float>(bits: numbers | magic.bits) - magic
  }

  /// The result of the sRGB profile from 2²³ + C: of the upper eight bits, repeated.
  @inline(__always)
  static func float(srgbShifted shifted: SIMD4<Float>) -> SIMD4<Float> {
    let magic = SIMD4<Float>(repeating: ASTCLine.magic)
    let upper = (shifted.bits &>> 8) & 0xFF
    return float(ldr: SIMD4<Float>(bits: upper | upper &<< 8 | magic.bits) - magic)
  }

  /// 255 times a constant of any sign and kind, as libastcenc computes it, at most 255: a NaN in red is
  /// magenta, elsewhere 1, and negative numbers are not clamped but borrow from the next byte.
  static func bytes(constant: SIMD4<Float>) -> SIMD4<UInt8> {
    guard !constant.x.isNaN else { return SIMD4(255, 0, 255, 255) }
    var packed: Int32 = 0
    for component in 0..<4 {
      let value = constant[component] < 1 ? constant[component] * 255 : 255
      // −∞ converts to the smallest number.
      let rounded = Int32(exactly: value.rounded(.toNearestOrEven)) ?? .min
      packed &+= rounded &<< Int32(8 * component)
    }
    return SIMD4<UInt8>(
      truncatingIfNeeded: SIMD4<Int32>(packed, packed >> 8, packed >> 16, packed >> 24))
  }

  /// A binary16 as binary32, NaNs quiet.
  static func float(halfBits: UInt16) -> Float {
    let value = HalfPrecision.float(bits: halfBits)
    return value.isNaN ? Float(bitPattern: value.bitPattern | 0x40_0000) : value
  }

  /// What all components of an illegal block read as: the NaN that libastcenc writes.
  static var error: Float { Float(bitPattern: 0xFFFF_E000) }
}

extension SIMD4<Float> {
  /// The bit patterns of the lanes.
  @inline(__always)
  var bits: SIMD4<UInt32> {
    // Both are four lanes of 32 bits, all of whose patterns are values.
    unsafe unsafeBitCast(self, to: SIMD4<UInt32>.self)
  }

  @inline(__always)
  init(bits: SIMD4<UInt32>) {
    // As above.
    self = unsafe unsafeBitCast(bits, to: SIMD4<Float>.self)
  }
}
