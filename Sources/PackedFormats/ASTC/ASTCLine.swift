/// The interpolation of a partition: 2²³ + C, where C is the 16-bit result of the format.
///
/// C = ⌊(first · (64 − w) + second · w + 32) / 64⌋. With 16-bit endpoints all of first + 1/128 +
/// (second − first) / 64 · w is exact in binary32. The sum is C and a rest from 1/128 to 1 − 1/128,
/// less one half: adding 2²³ rounds it to the nearest integer, which is C.
struct ASTCLine: BitwiseCopyable {
  var base = SIMD4<Float>()
  var slope = SIMD4<Float>()
  var isColorHDR = false
  var isAlphaHDR = false

  /// All ones in the components that are logarithms.
  var hdrLanes = SIMD4<UInt32>()

  static let magic: Float = 0x1p23

  init() {}

  @inline(__always)
  init(_ endpoints: ASTCEndpoints) {
    // 16 bits each, so both and their difference are exact.
    let first = ASTCResult.float(small: SIMD4(truncatingIfNeeded: endpoints.first))
    let second = ASTCResult.float(small: SIMD4(truncatingIfNeeded: endpoints.second))
    base = first + 0x1p-7
    slope = (second - first) * 0x1p-6
    isColorHDR = endpoints.isColorHDR
    isAlphaHDR = endpoints.isAlphaHDR
    let color: UInt32 = isColorHDR ? .max : 0
    hdrLanes = SIMD4(color, color, color, isAlphaHDR ? .max : 0)
  }

  /// 2²³ + C for a weight of each component.
  @inline(__always)
  func shifted(_ weight: SIMD4<Float>) -> SIMD4<Float> {
    (base + slope * weight) + SIMD4(repeating: Self.magic)
  }
}

/// The first component of a line.
struct ASTCLuminance {
  var base: Float
  var slope: Float
  var isHDR: Bool

  @inline(__always)
  init(_ line: ASTCLine) {
    base = line.base.x
    slope = line.slope.x
    isHDR = line.isColorHDR
  }

  /// Between two 8-bit endpoints.
  @inline(__always)
  init(_ first: UInt8, _ second: UInt8) {
    // Both times 257, and as `ASTCLine` has them.
    base = Float(Int32(first) &* 257) + 0x1p-7
    slope = Float((Int32(second) &- Int32(first)) &* 257) * 0x1p-6
    isHDR = false
  }

  /// 2²³ + C for four weights.
  @inline(__always)
  func shifted(_ weights: SIMD4<Float>) -> SIMD4<Float> {
    (SIMD4(repeating: base) + SIMD4(repeating: slope) * weights)
      + SIMD4(repeating: ASTCLine.magic)
  }
}
