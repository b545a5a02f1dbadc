extension ASTCUnpacker {
  /// Writes the 36 texels of a block, row-major, as red, green, blue, alpha: binary16 results of the
  /// format as binary32, as libastcenc's F32 output has them.
  ///
  /// - Throws: where the encoding is illegal; nothing is written then.
  package func unpackFloats(
    _ block: ASTCBlock, into output: UnsafeMutablePointer<SIMD4<Float>>
  ) throws(ASTCBlockFault) {
    // The caller vouches for room for 36 texels.
    try unpack(
      block, constant: { $0 }, value: { $0 }, ldrValue: { $0 },
      store: { texel, value in unsafe output[texel] = value })
  }

  /// The same as unsigned bytes, from 0 for 0 to 255 for 1, rounded: libastcenc's U8 output.
  /// Negative components, which HDR constants alone may have, wrap as they do there.
  package func unpackBytes(
    _ block: ASTCBlock, into output: UnsafeMutablePointer<SIMD4<UInt8>>
  ) throws(ASTCBlockFault) {
    // As above.
    try unpack(
      block, constant: ASTCResult.bytes(constant:), value: ASTCResult.bytes(_:),
      ldrValue: ASTCResult.bytes(clamped:),
      store: { texel, value in unsafe output[texel] = value })
  }

  @inline(__always)
  private func unpack<Texel>(
    _ block: ASTCBlock, constant: (SIMD4<Float>) -> Texel, value: (SIMD4<Float>) -> Texel,
    ldrValue: (SIMD4<Float>) -> Texel, store: (Int, Texel) -> Void
  ) throws(ASTCBlockFault) {
    if block.isVoidExtent {
      let color = constant(try ASTCVoidExtent(block, profile: profile).result(profile))
      for texel in 0..<36 { store(texel, color) }
      return
    }
    let header = try ASTCBlockHeader(block, tables)
    unpackTexelWeights(block, header.mode)
    let isLDR = unpackLines(block, header) == 0
    // 36 weights a plane; partitions are below 4; lines are set for all partitions.
    if isLDR, header.partitionCount == 1, !header.mode.isDualPlane, profile != .srgb {
      let line = unsafe lines[0]
      for texel in 0..<36 {
        let shifted = unsafe line.shifted(SIMD4(repeating: weights[texel]))
        store(texel, ldrValue(ASTCResult.float(ldrShifted: shifted)))
      }
      return
    }
    if profile == .srgb {
      let profile = profile
      unsafe forEachTexel(header) { texel, line, shifted in
        let line = unsafe line.pointee
        store(texel, value(ASTCResult.float(shifted, line: line, profile: profile)))
      }
    } else if isLDR {
      unsafe forEachTexel(header) { texel, _, shifted in
        store(texel, ldrValue(ASTCResult.float(ldrShifted: shifted)))
      }
    } else {
      unsafe forEachTexel(header) { texel, line, shifted in
        let lanes = unsafe line.pointee.hdrLanes
        store(texel, value(ASTCResult.float(shifted: shifted, hdrLanes: lanes)))
      }
    }
  }

  /// Calls `body` with each texel, its partition's line and 2²³ + C.
  @inline(__always)
  private func forEachTexel(
    _ header: ASTCBlockHeader, _ body: (Int, UnsafePointer<ASTCLine>, SIMD4<Float>) -> Void
  ) {
    // As above.
    let (lines, weights) = unsafe (UnsafePointer(self.lines), self.weights)
    let partitions = unsafe self.partitions(header)
    guard header.mode.isDualPlane else {
      for texel in 0..<36 {
        let line = unsafe lines + Int(partitions[texel])
        unsafe body(texel, line, line.pointee.shifted(SIMD4(repeating: weights[texel])))
      }
      return
    }
    var isSecond = SIMDMask<SIMD4<Int32>>(repeating: false)
    isSecond[header.secondPlaneComponent] = true
    for texel in 0..<36 {
      let line = unsafe lines + Int(partitions[texel])
      let weight = unsafe SIMD4(repeating: weights[texel])
        .replacing(with: SIMD4(repeating: weights[texel &+ 36]), where: isSecond)
      unsafe body(texel, line, line.pointee.shifted(weight))
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
