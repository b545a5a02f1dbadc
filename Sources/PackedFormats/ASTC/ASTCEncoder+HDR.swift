/// Blocks of the HDR weight format: value = (minimum + H) · scale.
///
/// In the middle half of an octave the results of CEM 3 lie on a line, so a minimum far below the
/// smallest weight makes six codes of equal steps out of the logarithm; the octave gives the steps
/// their size. Where the tensor's scale puts weights between −0.5 and 0.5, the LDR endpoint modes
/// (results 0 to 1) are compared with it.
extension ASTCEncoder {
  /// Levels of an HDR block count from `minimum`, 65536 / 257 to the unit of H.
  static let levelsPerUnit: Float = 65536.0 / 257

  /// The caller vouches for the sizes that `ASTCWeightRow.quantize` documents, and for a scale that
  /// is positive and finite, or zero for a row of zeros.
  mutating func quantizeHDR(
    _ x: UnsafeBufferPointer<Float>, scale: Float, options: QuantizationOptions,
    blocks: UnsafeMutableRawBufferPointer, minimums: UnsafeMutableRawBufferPointer
  ) throws(PackedFormatError) {
    isHDR = true
    let factor = scale > 0 ? 1 / Double(scale) : 0
    var squares = 0.0
    for index in x.indices {
      let unit = unsafe Double(x[index]) * factor
      // A block's values may go beyond its weights, but stay finite.
      let reach = abs(unit) * Double(scale) * 2
      guard abs(unit) <= 16384, reach <= Double(Float.greatestFiniteMagnitude) else {
        throw PackedFormatError(.outOfRange, column: index)
      }
      squares += unit * unit
    }
    let deviation = (squares / Double(max(x.count, 1))).squareRoot()
    let spread = deviation > 0 ? Float(0.5 / deviation) : 1
    for block in 0..<blocks.count / ASTCBlock.byteCount {
      let start = block * 36
      let count = min(36, x.count - start)
      var low = Double.infinity
      var high = -Double.infinity
      for texel in 0..<count {
        let unit = unsafe Double(x[start + texel]) * factor
        low = min(low, unit)
        high = max(high, unit)
      }
      // H from 0 to 1 around the middle of the block.
      let minimum = low == 0 && high == 0 ? 0 : HalfPrecision.rounded(Float((low + high) / 2 - 0.5))
      for texel in 0..<36 {
        let column = start + min(texel, count - 1)
        let unit = unsafe Double(x[column]) * factor - Double(minimum)
        unsafe scratch.levels[texel] = Float(unit * Double(Self.levelsPerUnit))
      }
      setImportance(options.importance, columns: start..<start + count)
      if low == 0 && high == 0 {
        best = Choice()
      } else {
        // Nothing of several partitions fits weights that lie beyond the LDR results.
        search(spread: spread, partitions: spread > 2.5 && spread < 40)
        searchOctaves(minimum: minimum)
      }
      _ = assign(best)
      unsafe self.block(best).store(to: blocks, at: block * ASTCBlock.byteCount)
      let stored = best.mode == .oneHDR ? best.minimum : HalfPrecision.bits(minimum)
      unsafe minimums.storeBytes(of: stored.littleEndian, toByteOffset: block * 2, as: UInt16.self)
    }
  }

  /// Compares blocks of CEM 3 with the best block so far.
  private mutating func searchOctaves(minimum: Float) {
    let line = bestLine()
    let span = max((line.high - line.low) / Self.levelsPerUnit, 1e-4)
    let center =
      ((line.high + line.low) / 2 + statistics.mean) / Self.levelsPerUnit + minimum
    let tries = plan.candidateCount > 1 ? (plan.searchesAllModes ? 4 : 2) : 1
    for shift in 0..<(plan.candidateCount > 1 ? 2 : 1) {
      // The octave in which the span is 32 to 64 of 128 steps; the one below has twice as many.
      let exponent = Int((4 * span).exponent) - shift
      guard -13...14 ~= exponent else { continue }
      let octave = Float(sign: .plus, exponent: exponent, significand: 1)
      let steps = span * 128 / octave
      let fourths = Int(steps / 4 + 0.5)
      for change in [0, 1, -1] where abs(change) < tries && 1...31 ~= fourths + change {
        let width = (fourths + change) * 4
        for offset in (shift == 0 ? [32, 64 - width / 2 / 4 * 4, 20] : [0]).prefix(tries) {
          tryOctave(
            y: (exponent + 15) * 128 + max(offset, 0), width: width, center: center,
            blockMinimum: minimum)
        }
      }
    }
  }

  /// Compares one endpoint pair of CEM 3 around a center with the best block so far; then again
  /// with the minimum that its codes call for.
  private mutating func tryOctave(y: Int, width: Int, center: Float, blockMinimum: Float) {
    var choice = Choice()
    choice.mode = .oneHDR
    choice.numbers[0] = UInt8(truncatingIfNeeded: 0x80 | (y >> 2 & 0x7F))
    choice.numbers[1] = UInt8(truncatingIfNeeded: (y >> 4 & 0xE0) | width >> 2)
    var results = SIMD8<Float>(repeating: .infinity)
    for code in 0..<6 {
      results[code] = Self.result(y, y + width, Int(ASTCWeightMode.one.sortedGridWeights[code]))
    }
    let wanted = center - (results[0] + results[5]) / 2
    let step = wanted.magnitude / 1024
    for nudge in plan.candidateCount > 1 ? [0, -1, 1] : [0] {
      let bits = HalfPrecision.bits(wanted + Float(nudge) * step)
      let minimum = HalfPrecision.float(bits: bits)
      guard minimum.isFinite else { continue }
      var palette = SIMD8<Float>(repeating: .infinity)
      for code in 0..<6 {
        palette[code] = (results[code] + (minimum - blockMinimum)) * Self.levelsPerUnit
      }
      choice.minimum = bits
      choice.palette = palette
      choice.error = error(of: palette)
      if choice.error < best.error { best = choice }
    }
  }

  /// What a grid weight between two 12-bit endpoints gives.
  static func result(_ y0: Int, _ y1: Int, _ weight: Int) -> Float {
    let sum = ((y0 << 4) * (64 - weight) + (y1 << 4) * weight + 32) >> 6
    let fraction = sum & 0x7FF
    let linear =
      fraction < 512
      ? 3 * fraction : fraction >= 1536 ? 5 * fraction - 2048 : 4 * fraction - 512
    return HalfPrecision.float(
      bits: UInt16(truncatingIfNeeded: min(((sum >> 11) << 10) + (linear >> 3), 0x7BFF)))
  }
}
