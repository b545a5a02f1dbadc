/// What an ASTC result means as a weight, in one packed block.
struct ASTCWeightValue {
  var profile: ASTCProfile
  var scale: Float
  /// The block's minimum; 0 for `.ldr`.
  var minimum: Float

  /// LDR: (C − 32767.5) · scale; HDR: (minimum + H) · scale. The argument is 2²³ + C.
  @inline(__always)
  func callAsFunction(shifted: SIMD4<Float>, isHDR: Bool) -> SIMD4<Float> {
    let c = shifted - SIMD4(repeating: ASTCLine.magic)
    if profile == .ldr {
      // Exact before the product.
      return (c - SIMD4(repeating: 32767.5)) * SIMD4(repeating: scale)
    }
    let result = isHDR ? ASTCResult.float(hdrShifted: shifted) : ASTCResult.float(ldr: c)
    return (result + SIMD4(repeating: minimum)) * SIMD4(repeating: scale)
  }

  /// The weight of a constant; nil where it is infinite or NaN.
  func callAsFunction(_ constant: ASTCVoidExtent) -> Float? {
    guard constant.isFinite(firstComponentOnly: true) else { return nil }
    guard !constant.isHDR else {
      return (minimum + HalfPrecision.float(bits: constant.color.x)) * scale
    }
    let shifted = ASTCLine.magic + Float(constant.color.x)
    return self(shifted: SIMD4(repeating: shifted), isHDR: false).x
  }
}
