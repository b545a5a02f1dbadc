/// From a 16-bit interpolated component to the result, which is a binary16 in all profiles.
enum ASTCResult {
  /// LDR: C/65536 rounded toward zero to a binary16, 1 for 65535.
  ///
  /// Eleven significant bits are kept. Below 2⁻¹⁴, where a binary16 has fewer, C is 1, 2 or 3.
  @inline(__always)
  static func float(ldr c: SIMD4<Float>) -> SIMD4<Float> {
    let kept = c.bits & SIMD4(repeating: 0xFFFF_E000)
    let value = SIMD4<Float>(bits: kept) * 0x1p-16
    return value.replacing(with: 1, where: c .== 65535)
  }

  /// The same from 2²³ + C.
  @inline(__always)
  static func float(ldrShifted shifted: SIMD4<Float>) -> SIMD4<Float> {
    float(ldr: shifted - SIMD4(repeating: ASTCLine.magic))
  }

  /// The binary16 bits of the HDR result: C as a logarithm, at most the largest finite number.
  @inline(__always)
  static func halfBits(hdr c: SIMD4<UInt32>) -> SIMD4<UInt32> {
    let mantissa = SIMD4<Int32>(truncatingIfNeeded: c & 0x7FF)
    // 3 m below 512, 5 m − 2048 from 1536 on, between them 4 m − 512.
    let low = SIMD4<Int32>(repeating: 512) &- mantissa
    let high = mantissa &- SIMD4<Int32>(repeating: 1536)
    let zero = SIMD4<Int32>(repeating: 0)
    let bent =
      mantissa &* 4 &- 512 &+ low.replacing(with: zero, where: low .< zero)
      &+ high.replacing(with: zero, where: high .< zero)
    let bits = SIMD4<Int32>(truncatingIfNeeded: (c &>> 11) &<< 10) &+ bent &>> 3
    let largest = SIMD4<Int32>(repeating: 0x7BFF)
    return SIMD4<UInt32>(truncatingIfNeeded: bits.replacing(with: largest, where: bits .> largest))
  }

  @inline(__always)
  static func float(hdr c: SIMD4<UInt32>) -> SIMD4<Float> {
    // Finite and positive: moving exponent and fraction to their binary32 places and the bias by
    // 2¹¹² is all there is to convert.
    SIMD4<Float>(bits: halfBits(hdr: c) &<< 13) * SIMD4(repeating: 0x1p112)
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

  /// A result from 2²³ + C.
  @inline(__always)
  static func float(
    _ shifted: SIMD4<Float>, line: ASTCLine, profile: ASTCProfile
  ) -> SIMD4<Float> {
    var c = shifted - SIMD4(repeating: ASTCLine.magic)
    if profile == .srgb {
      // The upper eight bits, repeated.
      let upper = (shifted.bits &>> 8) & 0xFF
      let repeated = upper &* 257 | SIMD4(repeating: ASTCLine.magic.bitPattern)
      c = SIMD4<Float>(bits: repeated) - SIMD4(repeating: ASTCLine.magic)
    }
    guard line.isColorHDR || line.isAlphaHDR else { return float(ldr: c) }
    var value = float(hdr: shifted.bits & 0xFFFF)
    if !line.isAlphaHDR { value.w = float(ldr: c).w }
    return value
  }

  /// 255 times a result, rounded to nearest even, at most 255. Not for constants: `value` ≥ 0.
  @inline(__always)
  static func bytes(_ value: SIMD4<Float>) -> SIMD4<UInt8> {
    let one = SIMD4<Float>(repeating: 1)
    let clamped = value.replacing(with: one, where: value .> one)
    // The sum's low bits are the nearest integer.
    let sum = clamped * 255 + SIMD4(repeating: ASTCLine.magic)
    return SIMD4<UInt8>(truncatingIfNeeded: sum.bits)
  }

  /// The same for a constant of any sign and kind, as libastcenc computes it: a NaN in red is
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
  fileprivate var bits: SIMD4<UInt32> {
    // Both are four lanes of 32 bits, all of whose patterns are values.
    unsafe unsafeBitCast(self, to: SIMD4<UInt32>.self)
  }

  @inline(__always)
  fileprivate init(bits: SIMD4<UInt32>) {
    // As above.
    self = unsafe unsafeBitCast(bits, to: SIMD4<Float>.self)
  }
}
