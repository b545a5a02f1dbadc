/// The lanes of level `portable`: plain Swift, which the compiler turns into baseline vectors.
///
/// Memory pointers are under the contract of the kernel that calls.
enum PortableFloats: FloatLanes {
  @inline(__always) static var panelVectorCount: Int { 1 }

  @inline(__always)
  static func multiplyAdd(_ sum: Lanes, _ a: Lanes, _ b: Lanes) -> Lanes { sum + a * b }

  @inline(__always)
  static func squareRoot(_ value: Float) -> Float { value.squareRoot() }

  @inline(__always)
  static func maximum(_ a: Lanes, _ b: Lanes) -> Lanes { b.replacing(with: a, where: a .> b) }

  @inline(__always)
  static func minimum(_ a: Lanes, _ b: Lanes) -> Lanes { b.replacing(with: a, where: a .< b) }

  @inline(__always)
  static func zero(_ v: Lanes, where x: Lanes, isBelow threshold: Float) -> Lanes {
    v.replacing(with: 0, where: x .< threshold)
  }

  @inline(__always)
  static func equal(_ v: Lanes, _ value: Float) -> UInt32 { bits(v .== value) }

  @inline(__always)
  static func above(_ v: Lanes, _ value: Float) -> UInt32 { bits(v .> value) }

  @inline(__always)
  static func unordered(_ v: Lanes) -> UInt32 { bits(v .!= v) }

  @inline(__always)
  private static func bits(_ mask: SIMDMask<SIMD16<Int32>>) -> UInt32 {
    var bits: UInt32 = 0
    for lane in 0..<16 where mask[lane] { bits |= 1 &<< UInt32(lane) }
    return bits
  }

  @inline(__always)
  static func loadF32Part(_ source: UnsafeRawPointer, _ count: Int) -> Lanes {
    var v = Lanes.zero
    for lane in 0..<count {
      unsafe v[lane] = source.loadUnaligned(fromByteOffset: lane * 4, as: Float.self)
    }
    return v
  }

  @inline(__always)
  static func storeF32Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
    for lane in 0..<count {
      unsafe target.storeBytes(of: v[lane], toByteOffset: lane * 4, as: Float.self)
    }
  }

  @inline(__always)
  static func loadF16(_ source: UnsafeRawPointer) -> Lanes {
    let halves = unsafe source.loadUnaligned(as: SIMD16<UInt16>.self)
    var words = SIMD16<UInt32>.zero
    for lane in 0..<16 { words[lane] = UInt32(halves[lane]) }
    return widen(words)
  }

  @inline(__always)
  static func loadF16Part(_ source: UnsafeRawPointer, _ count: Int) -> Lanes {
    var words = SIMD16<UInt32>.zero
    for lane in 0..<count {
      unsafe words[lane] = UInt32(source.loadUnaligned(fromByteOffset: lane * 2, as: UInt16.self))
    }
    return widen(words)
  }

  /// binary16 to binary32: the exponent is rebased by a multiplication, which is exact and also
  /// right for subnormals; infinities and NaN get the largest exponent back.
  @inline(__always)
  private static func widen(_ words: SIMD16<UInt32>) -> Lanes {
    let magnitude = words & 0x7FFF
    let rebased = unsafe unsafeBitCast(magnitude &<< 13, to: Lanes.self) * 0x1p112
    // Bit 15 of the sum is set from 0x7C00 on, infinities and NaN; 2^31 − 2^23 are f32's exponent
    // bits. No comparison: those of unsigned lanes are slow at this level.
    let top = (magnitude &+ 0x0400) & 0x8000
    let special = (top &<< 16) &- (top &<< 8)
    let sign = (words & 0x8000) &<< 16
    // Float and UInt32 lanes have the same size.
    return unsafe unsafeBitCast(
      unsafeBitCast(rebased, to: SIMD16<UInt32>.self) | special | sign, to: Lanes.self)
  }

  @inline(__always)
  static func storeF16(_ target: UnsafeMutableRawPointer, _ v: Lanes) {
    unsafe storeF16Part(target, v, 16)
  }

  @inline(__always)
  static func storeF16Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
    for lane in 0..<count {
      unsafe target.storeBytes(
        of: Float16(v[lane]).bitPattern, toByteOffset: lane * 2, as: UInt16.self)
    }
  }

  @inline(__always)
  static func storeS8Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
    // Adding 1.5 · 2^23 leaves the rounded integer in the low bits of the significand.
    let shifted = v + 0x1.8p23
    for lane in 0..<count {
      unsafe target.storeBytes(
        of: UInt8(truncatingIfNeeded: shifted[lane].bitPattern), toByteOffset: lane, as: UInt8.self)
    }
  }

  @inline(__always)
  static func storeS16Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
    let shifted = v + 0x1.8p23
    for lane in 0..<count {
      unsafe target.storeBytes(
        of: UInt16(truncatingIfNeeded: shifted[lane].bitPattern), toByteOffset: lane &* 2,
        as: UInt16.self)
    }
  }
}
