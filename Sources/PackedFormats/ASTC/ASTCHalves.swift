/// Binary16 results of logarithms: the components of four texels, two's in the even of sixteen 16-bit
/// lanes, the others' in the odd ones. All are positive and finite.
struct ASTCHalves {
  private var bits: SIMD8<UInt32>

  /// From 2²³ + C.
  @inline(__always)
  init(_ even: ASTCTexelPair, _ odd: ASTCTexelPair) {
    // 65504, the largest finite number.
    self.init(even, odd, atMost: 0x7BFF)
  }

  /// The same, but no more than 1.
  @inline(__always)
  init(upToOne even: ASTCTexelPair, _ odd: ASTCTexelPair) {
    self.init(even, odd, atMost: 0x3C00)
  }

  /// With m = C mod 2048 the format's binary16 is ⌊C / 2048⌋ · 1024 + ⌊t / 8⌋, where t is 3 m below
  /// 512, 5 m − 2048 from 1536 on, and 4 m − 512 between them: altogether ⌊(4 C − 512 + e) / 8⌋,
  /// where e is what |m − 1024| exceeds 512 by. That is ⌊(C − 128 + ⌊e / 4⌋) / 2⌋, of which
  /// every part fits 16 bits; and with the larger of m, 2048 − m and 1536, e is that − 1536.
  @inline(__always)
  private init(_ even: ASTCTexelPair, _ odd: ASTCTexelPair, atMost largest: Int16) {
    // Vectors of 256 bits, all of whose patterns are values.
    let c = unsafe unsafeBitCast(
      even.bits & 0xFFFF | odd.bits &<< 16, to: SIMD16<UInt16>.self)
    let m = SIMD16<Int16>(truncatingIfNeeded: c & 2047)
    let other = 2048 &- m
    let larger = m.replacing(with: other, where: other .> m)
    let floor = SIMD16<Int16>(repeating: 1536)
    let distance = larger.replacing(with: floor, where: floor .> larger)
    let correction = SIMD16<UInt16>(truncatingIfNeeded: distance &>> 2) &- (384 + 128)
    let half = SIMD16<Int16>(truncatingIfNeeded: (c &+ correction) &>> 1)
    let limit = SIMD16<Int16>(repeating: largest)
    let limited = half.replacing(with: limit, where: half .> limit)
    bits = unsafe unsafeBitCast(limited, to: SIMD8<UInt32>.self)
  }

  /// The first two texels.
  @inline(__always)
  var even: ASTCTexelPair { Self.exact(movedEven) }

  /// The second two texels.
  @inline(__always)
  var odd: ASTCTexelPair { Self.exact(movedOdd) }

  /// 255 times the first two texels; less than 1/2 where that is.
  @inline(__always)
  var scaledEven: ASTCTexelPair { movedEven * 255 }

  /// 255 times the second two texels; less than 1/2 where that is.
  @inline(__always)
  var scaledOdd: ASTCTexelPair { movedOdd * 255 }

  // Exponent and fraction move to their binary32 places, and the bias grows by 112. Below 2⁻¹⁴,
  // where a binary16 has no leading one, that is 2⁻¹⁵ + value / 2; no operand ever lacks its leading
  // one in binary32, which would take hundreds of cycles.
  @inline(__always)
  private var movedEven: ASTCTexelPair {
    ASTCTexelPair(bits: (bits &<< 16) &>> 3 &+ 112 &<< 23)
  }

  @inline(__always)
  private var movedOdd: ASTCTexelPair {
    ASTCTexelPair(bits: (bits & 0xFFFF_0000) &>> 3 &+ 112 &<< 23)
  }

  @inline(__always)
  private static func exact(_ moved: ASTCTexelPair) -> ASTCTexelPair {
    let zero = ASTCTexelPair(repeating: 0)
    let below = moved - 0x1p-14
    return moved + below.replacing(with: zero, where: below .> zero)
  }
}
