/// One row of a tensor in ASTC blocks.
enum ASTCWeightRow {}

extension ASTCWeightRow {
  /// Writes a row's values as `WeightFormat.dequantize` defines them. Any bytes are accepted; the
  /// columns of a block that `firstFault` reports become NaN.
  ///
  /// - Parameters:
  ///   - blocks: 16 bytes for every 36 of the output's columns.
  ///   - minimums: a binary16 a block for `.hdr`, else empty.
  static func dequantize(
    _ blocks: UnsafeRawBufferPointer, profile: ASTCProfile, scale: Float,
    minimums: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<Float>
  ) {
    guard let base = output.baseAddress else { return }
    let unpacker = ASTCUnpacker(profile: profile)
    let columns = WeightFormat.packedBlockColumnCount
    var value = ASTCWeightValue(profile: profile, scale: scale, minimum: 0)
    // The caller vouches for the planes' byte counts: block k is in `blocks`, its minimum in
    // `minimums`, and its columns begin in the output.
    for index in 0..<blocks.count / WeightFormat.packedBlockByteCount {
      if unsafe !minimums.isEmpty {
        value.minimum = unsafe HalfPrecision.float(bits: loadHalfBits(minimums, index * 2))
      }
      let block = unsafe ASTCBlock(blocks, at: index * WeightFormat.packedBlockByteCount)
      let count = output.count - index * columns
      if count >= columns {
        unsafe unpacker.unpackWeights(block, value, into: base + index * columns)
      } else {
        unsafe withUnsafeTemporaryAllocation(of: Float.self, capacity: columns) { texels in
          guard let first = texels.baseAddress else { return }
          unsafe unpacker.unpackWeights(block, value, into: first)
          unsafe (base + index * columns).update(from: first, count: count)
        }
      }
    }
  }

  /// The first block of a row that is illegal, or has no weights: an HDR endpoint mode in `.ldr`,
  /// a constant that is not finite.
  static func firstFault(
    _ blocks: UnsafeRawBufferPointer, profile: ASTCProfile
  ) -> (block: Int, fault: ASTCBlockFault)? {
    for index in 0..<blocks.count / WeightFormat.packedBlockByteCount {
      let block = unsafe ASTCBlock(blocks, at: index * WeightFormat.packedBlockByteCount)
      if let fault = fault(of: block, profile: profile) { return (index, fault) }
    }
    return nil
  }

  /// Why a block holds no weights, if so.
  @inline(__always)
  static func fault(of block: ASTCBlock, profile: ASTCProfile) -> ASTCBlockFault? {
    do throws(ASTCBlockFault) {
      if block.isVoidExtent {
        let constant = try ASTCVoidExtent(block, profile: profile)
        return constant.isFinite(firstComponentOnly: true) ? nil : .nonFiniteConstant
      }
      let header = try ASTCBlockHeader(block)
      return !profile.hasHDR && header.hasHDREndpoints ? .hdrEndpointMode : nil
    } catch { return error }
  }
}

extension ASTCUnpacker {
  /// Writes the weights of 36 consecutive columns, NaN where the block has none.
  @inline(__always)
  func unpackWeights(
    _ block: ASTCBlock, _ value: ASTCWeightValue, into output: UnsafeMutablePointer<Float>
  ) {
    // One entry for each of 2048 fields; five full grids; 36 columns in `output`.
    let range = unsafe tables.fullGridModes[Int(block.low & 0x7FF)]
    if range != ASTCFullGrid.none, (block.low &>> 11) & 63 == 0 {
      // One partition, luminance: the endpoints are the two bytes at bit 17, since the grid leaves
      // 17 bits or more.
      let grid = unsafe tables.fullGrids[Int(range)]
      let line = ASTCLuminance(
        UInt8(truncatingIfNeeded: block.low &>> 17), UInt8(truncatingIfNeeded: block.low &>> 25))
      unsafe fillPalette(line, grid, value, at: palette)
      let palette = unsafe palette
      grid.forEachCode(block) { texel, code in unsafe output[texel] = palette[code] }
    } else if unsafe !unpackSubsetWeights(block, value, into: output) {
      unsafe unpackOtherWeights(block, value, range: range, into: output)
    }
  }

  @inline(__always)
  private func fillPalette(
    _ line: ASTCLuminance, _ grid: ASTCFullGrid, _ value: ASTCWeightValue,
    at entries: UnsafeMutablePointer<Float>
  ) {
    let low = value(shifted: line.shifted(grid.weights.lowHalf), isHDR: line.isHDR)
    let high = value(shifted: line.shifted(grid.weights.highHalf), isHDR: line.isHDR)
    // Eight entries.
    let raw = UnsafeMutableRawPointer(entries)
    unsafe raw.storeBytes(of: low, as: SIMD4<Float>.self)
    unsafe raw.storeBytes(of: high, toByteOffset: 16, as: SIMD4<Float>.self)
  }

  @inline(never)
  private func unpackOtherWeights(
    _ block: ASTCBlock, _ value: ASTCWeightValue, range: UInt8,
    into output: UnsafeMutablePointer<Float>
  ) {
    // `output` has 36 columns throughout.
    if block.isVoidExtent {
      let constant = try? ASTCVoidExtent(block, profile: profile)
      unsafe output.update(repeating: constant.flatMap { value($0) } ?? .nan, count: 36)
      return
    }
    guard let header = try? ASTCBlockHeader(block, tables),
      profile.hasHDR || !header.hasHDREndpoints
    else {
      unsafe output.update(repeating: .nan, count: 36)
      return
    }
    if range != ASTCFullGrid.none {
      unsafe unpackFullGrid(block, header, value, tables.fullGrids[Int(range)], into: output)
    } else {
      unsafe unpackAnyGrid(block, header, value, into: output)
    }
  }

  @inline(__always)
  private func unpackFullGrid(
    _ block: ASTCBlock, _ header: ASTCBlockHeader, _ value: ASTCWeightValue, _ grid: ASTCFullGrid,
    into output: UnsafeMutablePointer<Float>
  ) {
    // Four lines and four palettes of eight.
    if header.isLuminance {
      unpackEndpointValues(block, header)
      for partition in 0..<header.partitionCount {
        let line = unsafe ASTCLuminance(
          endpointValues[2 &* partition], endpointValues[2 &* partition &+ 1])
        unsafe fillPalette(line, grid, value, at: palette + 8 &* partition)
      }
    } else {
      _ = unpackLines(block, header)
      for partition in 0..<header.partitionCount {
        let line = unsafe ASTCLuminance(lines[partition])
        unsafe fillPalette(line, grid, value, at: palette + 8 &* partition)
      }
    }
    let palette = unsafe palette
    guard header.partitionCount > 1 else {
      grid.forEachCode(block) { texel, code in unsafe output[texel] = palette[code] }
      return
    }
    let partitions = unsafe self.partitions(header)
    grid.forEachCode(block) { texel, code in
      unsafe output[texel] = palette[code &+ 8 &* Int(partitions[texel])]
    }
  }

  @inline(__always)
  private func unpackAnyGrid(
    _ block: ASTCBlock, _ header: ASTCBlockHeader, _ value: ASTCWeightValue,
    into output: UnsafeMutablePointer<Float>
  ) {
    unpackTexelWeights(block, header.mode)
    let hdrCount = unpackLines(block, header).color
    let isHDR = hdrCount > 0
    let isMixed = isHDR && hdrCount < header.partitionCount
    let partitions = unsafe self.partitions(header)
    // The second plane's weights are 36 behind the first's.
    let isSecond = header.mode.isDualPlane && header.secondPlaneComponent == 0
    let weights = unsafe UnsafeRawPointer(self.weights + (isSecond ? 36 : 0))
    let output = UnsafeMutableRawPointer(output)
    let line = unsafe ASTCLuminance(lines[0])
    for first in stride(from: 0, to: 36, by: 4) {
      let four = unsafe weights.loadUnaligned(
        fromByteOffset: 4 &* first, as: SIMD4<Float>.self)
      var result: SIMD4<Float>
      if header.partitionCount == 1 {
        result = value(shifted: line.shifted(four), isHDR: isHDR)
      } else {
        // Partitions are below 4.
        @inline(__always) func line(_ lane: Int) -> UnsafeMutablePointer<ASTCLine> {
          unsafe lines + Int(partitions[first &+ lane])
        }
        let (a, b, c, d) = unsafe (line(0), line(1), line(2), line(3))
        let base = unsafe SIMD4(
          a.pointee.base.x, b.pointee.base.x, c.pointee.base.x, d.pointee.base.x)
        let slope = unsafe SIMD4(
          a.pointee.slope.x, b.pointee.slope.x, c.pointee.slope.x, d.pointee.slope.x)
        let shifted = (base + slope * four) + SIMD4(repeating: ASTCLine.magic)
        result = value(shifted: shifted, isHDR: isHDR)
        if isMixed {
          let other = value(shifted: shifted, isHDR: false)
          let lanes = unsafe SIMD4(
            a.pointee.hdrLanes.x, b.pointee.hdrLanes.x, c.pointee.hdrLanes.x,
            d.pointee.hdrLanes.x)
          result = result.replacing(with: other, where: lanes .== 0)
        }
      }
      unsafe output.storeBytes(of: result, toByteOffset: 4 &* first, as: SIMD4<Float>.self)
    }
  }
}
