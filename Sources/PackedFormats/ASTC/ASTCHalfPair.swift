/// Binary16 results of logarithms: the components of two texels, one's in the even of eight 16-bit
/// lanes, the other's in the odd ones. All are positive and finite.
struct ASTCHalfPair {
  private var bits: SIMD4<UInt32>

  /// From 2²³ + C.
  @inline(__always)
  init(_ even: SIMD4<Float>, _ odd: SIMD4<Float>) {
    // 65504, the largest finite number.
    self.init(even, odd, atMost: 0x7BFF)
  }

  /// The same, but no more than 1.
  @inline(__always)
  init(upToOne even: SIMD4<Float>, _ odd: SIMD4<Float>) {
    self.init(even, odd, atMost: 0x3C00)
  }

  /// With m = C mod 2048 the format's binary16 is ⌊C / 2048⌋ · 1024 + ⌊t / 8⌋, where t is 3 m below
  /// 512, 5 m − 2048 from 1536 on, and 4 m − 512 between them: altogether ⌊(4 C − 512 + e) / 8⌋,
  /// where e is what |m − 1024| exceeds 512 by. That is ⌊(C − 128 + ⌊e / 4⌋) / 2⌋, of which
  /// every part fits 16 bits; and with the larger of m, 2048 − m and 1536, e is that − 1536.
  @inline(__always)
  private init(_ even: SIMD4<Float>, _ odd: SIMD4<Float>, atMost largest: Int16) {
    // Vectors of 128 bits, all of whose patterns are values.
    let c = unsafe unsafeBitCast(
      even.bits & 0xFFFF | odd.bits &<< 16, to: SIMD8<UInt16>.self)
    let m = SIMD8<Int16>(truncatingIfNeeded: c & 2047)
    let other = 2048 &- m
    let larger = m.replacing(with: other, where: other .> m)
    let floor = SIMD8<Int16>(repeating: 1536)
    let distance = larger.replacing(with: floor, where: floor .> larger)
    let correction = SIMD8<UInt16>(truncatingIfNeeded: distance &>> 2) &- (384 + 128)
    let half = SIMD8<Int16>(truncatingIfNeeded: (c &+ correction) &>> 1)
    let limit = SIMD8<Int16>(repeating: largest)
    let limited = half.replacing(with: limit, where: half .> limit)
    bits = unsafe unsafeBitCast(limited, to: SIMD4<UInt32>.self)
  }

  /// The first texel.
  @inline(__always)
  var even: SIMD4<Float> { Self.exact(movedEven) }

  /// The second texel.
  @inline(__always)
  var odd: SIMD4<Float> { Self.exact(movedOdd) }

  /// 255 times the first texel; less than 1/2 where that is.
  @inline(__always)
  var scaledEven: SIMD4<Float> { movedEven * 255 }

  /// 255 times the second texel; less than 1/2 where that is.
  @inline(__always)
  var scaledOdd: SIMD4<Float> { movedOdd * 255 }

  // Exponent and fraction move to their binary32 places, and the bias grows by 112. Below 2⁻¹⁴,
  // where a binary16 has no leading one, that is 2⁻¹⁵ + value / 2; no operand ever lacks its leading
  // one in binary32, which would take hundreds of cycles.
  @inline(__always)
  private var movedEven: SIMD4<Float> {
    SIMD4<Float>(bits: (bits &<< 16) &>> 3 &+ 112 &<< 23)
  }

  @inline(__always)
  private var movedOdd: SIMD4<Float> {
    SIMD4<Float>(bits: (bits & 0xFFFF_0000) &>> 3 &+ 112 &<< 23)
  }

  @inline(__always)
  private static func exact(_ moved: SIMD4<Float>) -> SIMD4<Float> {
    let zero = SIMD4<Float>(repeating: 0)
    let below = moved - 0x1p-14
    return moved + below.replacing(with: zero, where: below .> zero)
  }
}
