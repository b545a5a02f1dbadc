import CKernels

extension ASTCUnpacker {
  /// Writes the 36 texels of a block, row-major, as red, green, blue, alpha: binary16 results of the
  /// format as binary32, as libastcenc's F32 output has them.
  ///
  /// - Throws: where the encoding is illegal; nothing is written then.
  package func unpackFloats(
    _ block: ASTCBlock, into output: UnsafeMutablePointer<SIMD4<Float>>
  ) throws(ASTCBlockFault) {
    // The caller vouches for room for 36 texels.
    try unsafe unpack(block, as: ASTCFloatTexels.self, into: output)
  }

  /// The same as unsigned bytes, from 0 for 0 to 255 for 1, rounded: libastcenc's U8 output.
  /// Negative components, which HDR constants alone may have, wrap as they do there.
  package func unpackBytes(
    _ block: ASTCBlock, into output: UnsafeMutablePointer<SIMD4<UInt8>>
  ) throws(ASTCBlockFault) {
    // As above.
    try unsafe unpack(block, as: ASTCByteTexels.self, into: output)
  }

  @inline(__always)
  private func unpack<Output: ASTCTexelOutput>(
    _ block: ASTCBlock, as format: Output.Type, into output: UnsafeMutablePointer<Output.Texel>
  ) throws(ASTCBlockFault) {
    if block.isVoidExtent {
      let color = format.constant(try ASTCVoidExtent(block, profile: profile).result(profile))
      for texel in 0..<36 { unsafe output[texel] = color }
      return
    }
    let header = try ASTCBlockHeader(block, tables)
    let partitions = unsafe copiedPartitions(header)
    unpackTexelWeights(block, header.mode)
    let hdrCounts = unpackLines(block, header)
    // Lines, weights and partitions are of this block; the output has room for 36 texels.
    let kind: ASTCTexelKind
    if profile == .srgb {
      kind = .srgb
    } else if hdrCounts.color == 0 {
      kind = .ldr
    } else {
      kind = hdrCounts.alpha == header.partitionCount ? .hdr : .mixed
    }
    var texels = unsafe CKTexels(
      lines: lines, weights: weights, partitions: partitions, texels: output,
      partitionCount: header.partitionCount,
      secondPlaneComponent: header.mode.isDualPlane ? header.secondPlaneComponent : -1,
      kind: kind.rawValue)
    unsafe format.write(&texels, isWide: isWide)
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
    let shifted = line.shifted(SIMD4(repeating: 0))
    return profile == .srgb
      ? ASTCResult.float(srgbShifted: shifted) : ASTCResult.float(ldrShifted: shifted)
  }
}
