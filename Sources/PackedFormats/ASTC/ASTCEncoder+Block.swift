extension ASTCEncoder {
  /// Gives every texel the nearest code of its partition, and returns the exact weighted squared
  /// error.
  ///
  /// Of two equally near codes the lower is taken.
  func assign(_ choice: Choice) -> Float {
    let mode = choice.mode
    let codeCount = mode.codeRange.levelCount
    var palettes = InlineArray<3, SIMD8<Float>>(repeating: SIMD8(repeating: .infinity))
    for partition in 0..<mode.partitionCount {
      palettes[partition] = palette(of: choice, partition: partition)
    }
    let pattern: UnsafeBufferPointer<UInt8>? =
      mode.partitionCount == 1
      ? nil
      : unsafe ASTCPartitioning.pattern(seed: Int(choice.seed), count: mode.partitionCount)
    var sum: Float = 0
    for texel in 0..<36 {
      // 36 levels, importances, codes and texels of a pattern.
      let partition = unsafe pattern.map { unsafe Int($0[texel]) } ?? 0
      let level = unsafe scratch.levels[texel]
      let palette = palettes[partition]
      var code: UInt8 = 0
      var least = Float.infinity
      for candidate in 0..<codeCount {
        let distance = level - palette[candidate]
        let square = distance * distance
        code = square < least ? UInt8(truncatingIfNeeded: candidate) : code
        least = square < least ? square : least
      }
      unsafe scratch.codes[texel] = code
      sum += unsafe scratch.importance[texel] * least
    }
    return sum
  }

  /// What the codes of a partition mean, in levels.
  func palette(of choice: Choice, partition: Int) -> SIMD8<Float> {
    let mode = choice.mode
    let first = Int(choice.numbers[2 * partition])
    let second = Int(choice.numbers[2 * partition + 1])
    if mode == .oneHDR { return choice.palette }
    guard mode.partitionCount > 1 else { return palette(low: first, high: second, mode: mode) }
    let ends = ASTCEndpointCodebook.endpoints(
      ASTCTables.endpoint(first, range: mode.endpointRange),
      ASTCTables.endpoint(second, range: mode.endpointRange), endpointMode: mode.endpointMode)
    return palette(low: Int(ends.low), high: Int(ends.high), mode: mode)
  }

  /// The block of a choice, with the codes that `assign` wrote for it.
  func block(_ choice: Choice) -> ASTCBlock {
    let mode = choice.mode
    var block = ASTCBlock(low: mode.header)
    // CEM 3 becomes 2.
    if choice.isLargeRange { block.low ^= 1 << 13 }
    if mode.partitionCount > 1 { block.low |= UInt64(choice.seed) << 13 }
    let numberCount = mode.partitionCount * 2
    if mode.partitionCount == 1 {
      block.low |= UInt64(choice.numbers[0]) << 17 | UInt64(choice.numbers[1]) << 25
    } else {
      var numbers = choice.numbers
      unsafe withUnsafeBytes(of: &numbers) { bytes in
        // Eight bytes, of which a sequence has four or six.
        let numbers = unsafe UnsafeBufferPointer(
          rebasing: bytes.assumingMemoryBound(to: UInt8.self)[..<numberCount])
        unsafe ASTCSequence.pack(
          numbers, range: mode.endpointRange, into: &block, at: mode.endpointOffset)
      }
    }
    let weights = gridWeights(mode).bitReversed
    block.low |= weights.low
    block.high |= weights.high
    return block
  }

  /// The codes as a sequence, from bit 0 up.
  private func gridWeights(_ mode: ASTCWeightMode) -> ASTCBlock {
    var sequence = ASTCBlock()
    // 36 codes; the tables hold the packed bits of any digits below their base.
    let codes = unsafe scratch.codes
    let tables = ASTCDigits.shared
    switch mode.partitionCount {
    case 1:
      // In rising order the stored numbers are 0, 2, 4, 5, 3, 1: a trit above one bit.
      let stored = SIMD8<UInt64>(0, 2, 4, 5, 3, 1, 0, 0)
      @inline(__always) func number(_ index: Int) -> UInt64 { stored[unsafe Int(codes[index])] }
      for group in 0..<7 {
        let first = group * 5
        let (a, b, c) = (number(first), number(first + 1), number(first + 2))
        let (d, e) = (number(first + 3), number(first + 4))
        let digits = (a >> 1) + (b >> 1) * 3 + (c >> 1) * 9 + (d >> 1) * 27 + (e >> 1) * 81
        let t = unsafe UInt64(tables.packedTrits[Int(digits)])
        let low = a & 1 | (t & 3) << 1 | (b & 1) << 3 | (t >> 2 & 3) << 4 | (c & 1) << 6
        let high = (t >> 4 & 1) << 7 | (d & 1) << 8 | (t >> 5 & 3) << 9 | (e & 1) << 11
        sequence.insert(low | high | (t >> 7) << 12, at: group * 13, count: 13)
      }
      let last = number(35)
      // One trit alone is its own packed bits.
      sequence.insert(last & 1 | (last >> 1) << 1, at: 91, count: 3)
    case 2:
      for group in 0..<12 {
        let first = group * 3
        let digits =
          unsafe Int(codes[first]) + Int(codes[first + 1]) * 5
          + Int(codes[first + 2]) * 25
        sequence.insert(unsafe UInt64(tables.packedQuints[digits]), at: group * 7, count: 7)
      }
    default:
      for group in 0..<2 {
        var bits: UInt64 = 0
        for index in 0..<18 {
          bits |= unsafe UInt64(codes[group * 18 + index]) << UInt64(index * 2)
        }
        sequence.insert(bits, at: group * 36, count: 36)
      }
    }
    return sequence
  }
}

extension ASTCTables {
  /// What a stored number of a range means as an endpoint.
  @inline(__always)
  static func endpoint(_ number: Int, range: ASTCRange) -> UInt8 {
    precondition(0..<256 ~= number, "no such endpoint")
    // 256 entries a range.
    return unsafe shared.endpoints[Int(range.rawValue) * 256 + number]
  }
}
