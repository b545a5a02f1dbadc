import CKernels

/// Eight components of two texels, side by side.
typealias ASTCTexelPair = SIMD8<Float>

/// What texels are unpacked to. The functions write four texels, of which they get 2²³ + C, where C
/// is a 16-bit interpolated component; the caller vouches for the room.
protocol ASTCTexelOutput {
  associatedtype Texel

  static func constant(_ color: SIMD4<Float>) -> Texel
  /// Writes a block's texels: the pointers are to what `CKTexels` says.
  static func write(_ texels: UnsafePointer<CKTexels>, isWide: Bool)
  /// All components linear.
  static func ldr(_ ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer)
  /// The same for the sRGB profile.
  static func srgb(_ ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer)
  /// All components logarithms.
  static func hdr(_ ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer)
  /// Logarithms where the masks are all ones.
  static func mixed(
    _ ab: ASTCTexelPair, _ cd: ASTCTexelPair, _ abMask: SIMD8<UInt32>, _ cdMask: SIMD8<UInt32>,
    into output: UnsafeMutableRawPointer)
}

/// Binary16 results as binary32.
enum ASTCFloatTexels: ASTCTexelOutput {
  typealias Texel = SIMD4<Float>

  @inline(__always)
  static func constant(_ color: SIMD4<Float>) -> Texel { color }

  @inline(__always)
  static func ldr(_ ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer) {
    unsafe store(result(ldr: ab), result(ldr: cd), into: output)
  }

  @inline(__always)
  static func srgb(_ ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer) {
    // The upper eight bits, repeated.
    @inline(__always) func repeated(_ pair: ASTCTexelPair) -> ASTCTexelPair {
      let upper = (pair.bits &>> 8) & 0xFF
      return ASTCTexelPair(bits: upper | upper &<< 8 | ASTCLine.magic.bitPattern)
    }
    unsafe store(result(ldr: repeated(ab)), result(ldr: repeated(cd)), into: output)
  }

  @inline(__always)
  static func hdr(_ ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer) {
    let halves = ASTCHalves(ab, cd)
    unsafe store(halves.even, halves.odd, into: output)
  }

  @inline(__always)
  static func mixed(
    _ ab: ASTCTexelPair, _ cd: ASTCTexelPair, _ abMask: SIMD8<UInt32>, _ cdMask: SIMD8<UInt32>,
    into output: UnsafeMutableRawPointer
  ) {
    let halves = ASTCHalves(ab, cd)
    unsafe store(
      halves.even.joined(result(ldr: ab), mask: abMask),
      halves.odd.joined(result(ldr: cd), mask: cdMask), into: output)
  }

  @inline(__always)
  private static func store(
    _ ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer
  ) {
    unsafe output.storeBytes(of: ab, as: ASTCTexelPair.self)
    unsafe output.storeBytes(of: cd, toByteOffset: 32, as: ASTCTexelPair.self)
  }

  /// As `ASTCResult.float(ldr:)`.
  @inline(__always)
  private static func result(ldr shifted: ASTCTexelPair) -> ASTCTexelPair {
    let c = shifted - ASTCTexelPair(repeating: ASTCLine.magic)
    let value = ASTCTexelPair(bits: c.bits & 0xFFFF_E000) * 0x1p-16
    return value + ASTCTexelPair(repeating: 0).replacing(with: 0x1p-11, where: c .== 65535)
  }
}

/// Results from 0 for 0 to 255 for 1, rounded to nearest even, at most 255.
enum ASTCByteTexels: ASTCTexelOutput {
  typealias Texel = SIMD4<UInt8>

  @inline(__always)
  static func constant(_ color: SIMD4<Float>) -> Texel { ASTCResult.bytes(constant: color) }

  @inline(__always)
  static func ldr(_ ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer) {
    unsafe store(rounding: scaled(ldr: ab), scaled(ldr: cd), into: output)
  }

  @inline(__always)
  static func srgb(_ ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer) {
    // The upper eight bits: repeated, as a binary16 and times 255 they are what they were.
    unsafe store(ab.bits &>> 8, cd.bits &>> 8, into: output)
  }

  @inline(__always)
  static func hdr(_ ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer) {
    let halves = ASTCHalves(upToOne: ab, cd)
    unsafe store(rounding: halves.scaledEven, halves.scaledOdd, into: output)
  }

  @inline(__always)
  static func mixed(
    _ ab: ASTCTexelPair, _ cd: ASTCTexelPair, _ abMask: SIMD8<UInt32>, _ cdMask: SIMD8<UInt32>,
    into output: UnsafeMutableRawPointer
  ) {
    let halves = ASTCHalves(upToOne: ab, cd)
    unsafe store(
      rounding: halves.scaledEven.joined(scaled(ldr: ab), mask: abMask),
      halves.scaledOdd.joined(scaled(ldr: cd), mask: cdMask), into: output)
  }

  /// 255 times the LDR result; for 65535, whose result is 1, what rounds to 255.
  @inline(__always)
  private static func scaled(ldr shifted: ASTCTexelPair) -> ASTCTexelPair {
    let c = shifted - ASTCTexelPair(repeating: ASTCLine.magic)
    return ASTCTexelPair(bits: c.bits & 0xFFFF_E000) * (255 * 0x1p-16)
  }

  /// Components from 0 to 255.
  @inline(__always)
  private static func store(
    rounding ab: ASTCTexelPair, _ cd: ASTCTexelPair, into output: UnsafeMutableRawPointer
  ) {
    // The sums' low bits are the nearest integers.
    let magic = ASTCTexelPair(repeating: ASTCLine.magic)
    unsafe store((ab + magic).bits, (cd + magic).bits, into: output)
  }

  /// The lowest eight bits of every component.
  @inline(__always)
  private static func store(
    _ ab: SIMD8<UInt32>, _ cd: SIMD8<UInt32>, into output: UnsafeMutableRawPointer
  ) {
    unsafe output.storeBytes(
      of: SIMD8<UInt8>(truncatingIfNeeded: ab & 0xFF), as: SIMD8<UInt8>.self)
    unsafe output.storeBytes(
      of: SIMD8<UInt8>(truncatingIfNeeded: cd & 0xFF), toByteOffset: 8, as: SIMD8<UInt8>.self)
  }
}

extension SIMD8<Float> {
  /// The bit patterns of the lanes.
  @inline(__always)
  var bits: SIMD8<UInt32> {
    // Both are eight lanes of 32 bits, all of whose patterns are values.
    unsafe unsafeBitCast(self, to: SIMD8<UInt32>.self)
  }

  @inline(__always)
  init(bits: SIMD8<UInt32>) {
    // As above.
    self = unsafe unsafeBitCast(bits, to: SIMD8<Float>.self)
  }

  /// These lanes where the mask is all ones, the other's where it is zero.
  @inline(__always)
  fileprivate func joined(_ other: SIMD8<Float>, mask: SIMD8<UInt32>) -> SIMD8<Float> {
    SIMD8(bits: bits & mask | other.bits & ~mask)
  }
}
