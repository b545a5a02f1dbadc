extension ASTCUnpacker {
  /// Writes the 36 texels of a block, row-major, as red, green, blue, alpha: binary16 results of the
  /// format as binary32, as libastcenc's F32 output has them.
  ///
  /// - Throws: where the encoding is illegal; nothing is written then.
  @inline(__always)
  package func unpackFloats(
    _ block: ASTCBlock, into output: UnsafeMutablePointer<SIMD4<Float>>
  ) throws(ASTCBlockFault) {
    // The caller vouches for room for 36 texels.
    try unpack(
      block, constant: { $0 }, value: { $0 },
      store: { texel, value in unsafe output[texel] = value })
  }

  /// The same as unsigned bytes, from 0 for 0 to 255 for 1, rounded: libastcenc's U8 output.
  /// Negative components, which HDR constants alone may have, wrap as they do there.
  @inline(__always)
  package func unpackBytes(
    _ block: ASTCBlock, into output: UnsafeMutablePointer<SIMD4<UInt8>>
  ) throws(ASTCBlockFault) {
    // As above.
    try unpack(
      block, constant: ASTCResult.bytes(constant:), value: ASTCResult.bytes(_:),
      store: { texel, value in unsafe output[texel] = value })
  }

  @inline(__always)
  private func unpack<Texel>(
    _ block: ASTCBlock, constant: (SIMD4<Float>) -> Texel, value: (SIMD4<Float>) -> Texel,
    store: (Int, Texel) -> Void
  ) throws(ASTCBlockFault) {
    if block.low & 0x1FF == UInt64(ASTCBlockMode.voidExtentBits) {
      let color = constant(try ASTCVoidExtent(block, profile: profile).result(profile))
      for texel in 0..<36 { store(texel, color) }
      return
    }
    let prepared = try prepare(block)
    var isSecond = SIMDMask<SIMD4<Int32>>(repeating: false)
    if let component = prepared.secondPlaneComponent { isSecond[component] = true }
    // Both planes where there is one are the first.
    let second = unsafe weights + (prepared.secondPlaneComponent == nil ? 0 : 36)
    for texel in 0..<36 {
      // 36 weights a plane; partitions are below 4.
      let line = unsafe lines[Int(prepared.partitions[texel])]
      let weight = unsafe SIMD4(repeating: weights[texel])
        .replacing(with: SIMD4(repeating: second[texel]), where: isSecond)
      let result = ASTCResult.float(line.shifted(weight), line: line, profile: profile)
      store(texel, value(result))
    }
  }
}

extension ASTCVoidExtent {
  /// The color of all texels.
  func result(_ profile: ASTCProfile) -> SIMD4<Float> {
    if isHDR {
      return SIMD4(
        ASTCResult.float(halfBits: color.x), ASTCResult.float(halfBits: color.y),
        ASTCResult.float(halfBits: color.z), ASTCResult.float(halfBits: color.w))
    }
    var line = ASTCLine()
    line.base = SIMD4(Float(color.x), Float(color.y), Float(color.z), Float(color.w)) + 0x1p-7
    return ASTCResult.float(line.shifted(SIMD4(repeating: 0)), line: line, profile: profile)
  }
}
