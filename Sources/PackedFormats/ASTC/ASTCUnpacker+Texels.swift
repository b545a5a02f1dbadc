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
    unpackTexelWeights(block, header.mode)
    let hdrCounts = unpackLines(block, header)
    // Four texels from each multiple of four below 36; partitions are below 4.
    if profile == .srgb {
      forEachFour(header) { first, four in unsafe format.srgb(four, into: output + first) }
    } else if hdrCounts.color == 0 {
      forEachFour(header) { first, four in unsafe format.ldr(four, into: output + first) }
    } else if hdrCounts.alpha == header.partitionCount {
      forEachFour(header) { first, four in unsafe format.hdr(four, into: output + first) }
    } else {
      let lines = unsafe UnsafePointer(self.lines)
      let partitions = unsafe self.partitions(header)
      forEachFour(header) { first, four in
        @inline(__always) func mask(_ texel: Int) -> SIMD4<UInt32> {
          unsafe lines[Int(partitions[first &+ texel])].hdrLanes
        }
        let masks = ASTCFourMasks(a: mask(0), b: mask(1), c: mask(2), d: mask(3))
        unsafe format.mixed(four, masks, into: output + first)
      }
    }
  }

  /// Calls `body` with the first of each four texels and their 2²³ + C.
  @inline(__always)
  private func forEachFour(_ header: ASTCBlockHeader, _ body: (Int, ASTCFourTexels) -> Void) {
    // 36 weights a plane; partitions are below 4; lines are set for all partitions.
    let (lines, weights) = unsafe (UnsafePointer(self.lines), UnsafePointer(self.weights))
    if header.mode.isDualPlane {
      var isSecond = SIMDMask<SIMD4<Int32>>(repeating: false)
      isSecond[header.secondPlaneComponent] = true
      let partitions = unsafe self.partitions(header)
      forEachFour(body) { texel in
        let weight = unsafe SIMD4(repeating: weights[texel])
          .replacing(with: SIMD4(repeating: weights[texel &+ 36]), where: isSecond)
        return unsafe lines[Int(partitions[texel])].shifted(weight)
      }
    } else if header.partitionCount > 1 {
      let partitions = unsafe self.partitions(header)
      forEachFour(body) { texel in
        unsafe lines[Int(partitions[texel])].shifted(SIMD4(repeating: weights[texel]))
      }
    } else {
      let line = unsafe lines[0]
      forEachFour(body) { texel in unsafe line.shifted(SIMD4(repeating: weights[texel])) }
    }
  }

  @inline(__always)
  private func forEachFour(
    _ body: (Int, ASTCFourTexels) -> Void, _ shifted: (Int) -> SIMD4<Float>
  ) {
    for first in stride(from: 0, to: 36, by: 4) {
      body(
        first,
        ASTCFourTexels(
          a: shifted(first), b: shifted(first &+ 1), c: shifted(first &+ 2),
          d: shifted(first &+ 3)))
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
    let shifted = line.shifted(SIMD4(repeating: 0))
    return profile == .srgb
      ? ASTCResult.float(srgbShifted: shifted) : ASTCResult.float(ldrShifted: shifted)
  }
}
