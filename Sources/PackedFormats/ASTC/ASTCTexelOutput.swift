/// 2²³ + C of four texels, where C is a 16-bit interpolated component.
struct ASTCFourTexels {
  var a: SIMD4<Float>
  var b: SIMD4<Float>
  var c: SIMD4<Float>
  var d: SIMD4<Float>
}

/// All ones in the components of four texels that are logarithms.
struct ASTCFourMasks {
  var a: SIMD4<UInt32>
  var b: SIMD4<UInt32>
  var c: SIMD4<UInt32>
  var d: SIMD4<UInt32>
}

/// What texels are unpacked to. The functions write four texels; the caller vouches for the room.
protocol ASTCTexelOutput {
  associatedtype Texel

  static func constant(_ color: SIMD4<Float>) -> Texel
  /// All components linear.
  static func ldr(_ four: ASTCFourTexels, into output: UnsafeMutablePointer<Texel>)
  /// The same for the sRGB profile.
  static func srgb(_ four: ASTCFourTexels, into output: UnsafeMutablePointer<Texel>)
  /// All components logarithms.
  static func hdr(_ four: ASTCFourTexels, into output: UnsafeMutablePointer<Texel>)
  /// Logarithms where the masks say so.
  static func mixed(
    _ four: ASTCFourTexels, _ masks: ASTCFourMasks, into output: UnsafeMutablePointer<Texel>)
}

/// Binary16 results as binary32.
enum ASTCFloatTexels: ASTCTexelOutput {
  typealias Texel = SIMD4<Float>

  @inline(__always)
  static func constant(_ color: SIMD4<Float>) -> Texel { color }

  @inline(__always)
  static func ldr(_ four: ASTCFourTexels, into output: UnsafeMutablePointer<Texel>) {
    unsafe output[0] = ASTCResult.float(ldrShifted: four.a)
    unsafe output[1] = ASTCResult.float(ldrShifted: four.b)
    unsafe output[2] = ASTCResult.float(ldrShifted: four.c)
    unsafe output[3] = ASTCResult.float(ldrShifted: four.d)
  }

  @inline(__always)
  static func srgb(_ four: ASTCFourTexels, into output: UnsafeMutablePointer<Texel>) {
    unsafe output[0] = ASTCResult.float(srgbShifted: four.a)
    unsafe output[1] = ASTCResult.float(srgbShifted: four.b)
    unsafe output[2] = ASTCResult.float(srgbShifted: four.c)
    unsafe output[3] = ASTCResult.float(srgbShifted: four.d)
  }

  @inline(__always)
  static func hdr(_ four: ASTCFourTexels, into output: UnsafeMutablePointer<Texel>) {
    let first = ASTCHalfPair(four.a, four.b)
    unsafe output[0] = first.even
    unsafe output[1] = first.odd
    let second = ASTCHalfPair(four.c, four.d)
    unsafe output[2] = second.even
    unsafe output[3] = second.odd
  }

  @inline(__always)
  static func mixed(
    _ four: ASTCFourTexels, _ masks: ASTCFourMasks, into output: UnsafeMutablePointer<Texel>
  ) {
    let first = ASTCHalfPair(four.a, four.b)
    unsafe output[0] = ASTCResult.joined(
      first.even, ASTCResult.float(ldrShifted: four.a), hdrLanes: masks.a)
    unsafe output[1] = ASTCResult.joined(
      first.odd, ASTCResult.float(ldrShifted: four.b), hdrLanes: masks.b)
    let second = ASTCHalfPair(four.c, four.d)
    unsafe output[2] = ASTCResult.joined(
      second.even, ASTCResult.float(ldrShifted: four.c), hdrLanes: masks.c)
    unsafe output[3] = ASTCResult.joined(
      second.odd, ASTCResult.float(ldrShifted: four.d), hdrLanes: masks.d)
  }
}

/// Results from 0 for 0 to 255 for 1, rounded to nearest even, at most 255.
enum ASTCByteTexels: ASTCTexelOutput {
  typealias Texel = SIMD4<UInt8>

  @inline(__always)
  static func constant(_ color: SIMD4<Float>) -> Texel { ASTCResult.bytes(constant: color) }

  @inline(__always)
  static func ldr(_ four: ASTCFourTexels, into output: UnsafeMutablePointer<Texel>) {
    unsafe store(
      ASTCResult.scaled(ldrShifted: four.a), ASTCResult.scaled(ldrShifted: four.b),
      ASTCResult.scaled(ldrShifted: four.c), ASTCResult.scaled(ldrShifted: four.d), into: output)
  }

  @inline(__always)
  static func srgb(_ four: ASTCFourTexels, into output: UnsafeMutablePointer<Texel>) {
    // The upper eight bits: repeated, as a binary16 and times 255 they are what they were.
    unsafe store(
      four.a.bits &>> 8, four.b.bits &>> 8, four.c.bits &>> 8, four.d.bits &>> 8, into: output)
  }

  @inline(__always)
  static func hdr(_ four: ASTCFourTexels, into output: UnsafeMutablePointer<Texel>) {
    let first = ASTCHalfPair(upToOne: four.a, four.b)
    let second = ASTCHalfPair(upToOne: four.c, four.d)
    unsafe store(
      first.scaledEven, first.scaledOdd, second.scaledEven, second.scaledOdd, into: output)
  }

  @inline(__always)
  static func mixed(
    _ four: ASTCFourTexels, _ masks: ASTCFourMasks, into output: UnsafeMutablePointer<Texel>
  ) {
    let first = ASTCHalfPair(upToOne: four.a, four.b)
    let second = ASTCHalfPair(upToOne: four.c, four.d)
    unsafe store(
      ASTCResult.joined(
        first.scaledEven, ASTCResult.scaled(ldrShifted: four.a), hdrLanes: masks.a),
      ASTCResult.joined(
        first.scaledOdd, ASTCResult.scaled(ldrShifted: four.b), hdrLanes: masks.b),
      ASTCResult.joined(
        second.scaledEven, ASTCResult.scaled(ldrShifted: four.c), hdrLanes: masks.c),
      ASTCResult.joined(
        second.scaledOdd, ASTCResult.scaled(ldrShifted: four.d), hdrLanes: masks.d),
      into: output)
  }

  /// Rounds components from 0 to 255.
  @inline(__always)
  private static func store(
    _ a: SIMD4<Float>, _ b: SIMD4<Float>, _ c: SIMD4<Float>, _ d: SIMD4<Float>,
    into output: UnsafeMutablePointer<Texel>
  ) {
    // The sums' low bits are the nearest integers.
    let magic = SIMD4<Float>(repeating: ASTCLine.magic)
    unsafe store(
      (a + magic).bits, (b + magic).bits, (c + magic).bits, (d + magic).bits, into: output)
  }

  /// The lowest eight bits of every component.
  @inline(__always)
  private static func store(
    _ a: SIMD4<UInt32>, _ b: SIMD4<UInt32>, _ c: SIMD4<UInt32>, _ d: SIMD4<UInt32>,
    into output: UnsafeMutablePointer<Texel>
  ) {
    let low = SIMD4<UInt32>(repeating: 0xFF)
    let all = SIMD16<UInt32>(
      lowHalf: SIMD8(lowHalf: a & low, highHalf: b & low),
      highHalf: SIMD8(lowHalf: c & low, highHalf: d & low))
    unsafe UnsafeMutableRawPointer(output).storeBytes(
      of: SIMD16<UInt8>(truncatingIfNeeded: all), as: SIMD16<UInt8>.self)
  }
}
