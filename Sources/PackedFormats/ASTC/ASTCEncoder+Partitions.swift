/// The search over patterns and endpoint pairs together.
///
/// With the few endpoint pairs that several partitions leave room for, everything can be tried: the
/// error of each texel under each pair is computed once, in 16-bit integers, eight pairs a vector.
/// Sums over any texels of a row of the block come from a table of 64, so the error of a partition
/// under eight pairs takes six additions, and the last partition's is what the others leave of the
/// whole.
extension ASTCEncoder {
  /// The largest error of one texel: 36 of them do not overflow.
  private static let errorLimit: Float = 910

  /// Compares the best blocks of a mode with several partitions with the best block so far.
  mutating func searchPartitions(_ mode: ASTCWeightMode) {
    let codebook = ASTCEndpointCodebook.of(mode)
    let pairCount = select(from: codebook, mode: mode)
    guard pairCount > 0 else { return }
    let set = ASTCPatternSet.of(mode.partitionCount)
    let limit = mode.partitionCount == 2 ? plan.patternCounts.two : plan.patternCounts.three
    let patternCount = min(set.count, limit)
    // An error of a quarter of the best block's whole error is the most that is told apart.
    let unit = Self.errorLimit / (best.error * 0.25)
    let vectorCount = (pairCount + 7) / 8
    for vector in 0..<vectorCount {
      computeErrors(vector: vector, codeCount: mode.codeRange.levelCount, unit: unit)
      let total = sumSubsets(vector: vector)
      if mode.partitionCount == 2 {
        unsafe findLeastOfTwo(set.masks, patternCount, total: total, isFirst: vector == 0)
      } else {
        unsafe findLeastOfThree(set.masks, patternCount, total: total, isFirst: vector == 0)
      }
    }
    let patterns = candidates(patternCount, partitionCount: mode.partitionCount)
    for index in patterns.indices where patterns[index] >= 0 {
      tryPattern(
        patterns[index], of: set, mode: mode, codebook: codebook, vectorCount: vectorCount)
    }
  }

  /// Writes the endpoint pairs that may suit the block to `scratch`, padded to a multiple of 8, and
  /// returns how many there are.
  private func select(from codebook: ASTCEndpointCodebook, mode: ASTCWeightMode) -> Int {
    let codes = Float(mode.codeRange.levelCount - 1)
    let deviation = statistics.deviation
    let limit = min(plan.pairLimit, Scratch.pairCapacity)
    var count = 0
    // A pair is useful where its ends are not far outside the levels, and its middle codes inside.
    for (place, pair) in codebook.pairs.enumerated() {
      let low = Float(pair.low)
      let high = Float(pair.high)
      let span = high - low
      guard
        low > statistics.low - 0.3 * span, high < statistics.high + 0.3 * span,
        low < statistics.mean + 1.5 * deviation, high > statistics.mean - 1.5 * deviation,
        count < limit
      else { continue }
      // Places and numbers of fewer than `pairCapacity` pairs.
      unsafe scratch.pairs[count] = UInt16(place)
      unsafe scratch.lows[count] = low
      unsafe scratch.densities[count] = codes / span
      unsafe scratch.steps[count] = span / codes
      count += 1
    }
    guard count > 0 else { return 0 }
    while count % 8 != 0 {
      unsafe scratch.pairs[count] = scratch.pairs[count - 1]
      unsafe scratch.lows[count] = scratch.lows[count - 1]
      unsafe scratch.densities[count] = scratch.densities[count - 1]
      unsafe scratch.steps[count] = scratch.steps[count - 1]
      count += 1
    }
    return count
  }

  /// The errors of 36 texels under eight pairs. Pair 8 · vector + j is in lane 2 · j for j below 4,
  /// else in lane 2 · j − 7.
  private func computeErrors(vector: Int, codeCount: Int, unit: Float) {
    let magic = SIMD4<Float>(repeating: 12_582_912)
    let integerMagic = SIMD4<Float>(repeating: 8_388_608)
    let zero = SIMD4<Float>(repeating: 0)
    let top = SIMD4<Float>(repeating: Float(codeCount - 1))
    let limit = SIMD4<Float>(repeating: Self.errorLimit)
    @inline(__always) func load(_ p: UnsafeMutablePointer<Float>, _ half: Int) -> SIMD4<Float> {
      // Eight numbers of this vector, 16-byte aligned.
      unsafe UnsafeRawPointer(p + vector * 8 + half * 4).load(as: SIMD4<Float>.self)
    }
    let (low0, low1) = unsafe (load(scratch.lows, 0), load(scratch.lows, 1))
    let (density0, density1) = unsafe (load(scratch.densities, 0), load(scratch.densities, 1))
    let (step0, step1) = unsafe (load(scratch.steps, 0), load(scratch.steps, 1))
    @inline(__always) func error(
      _ x: SIMD4<Float>, _ weight: SIMD4<Float>, _ low: SIMD4<Float>, _ density: SIMD4<Float>,
      _ step: SIMD4<Float>
    ) -> SIMD4<UInt32> {
      let distance = x - low
      var code = distance * density
      code = code.replacing(with: zero, where: code .< zero)
      code = code.replacing(with: top, where: top .< code)
      code = (code + magic) - magic
      let rest = distance - code * step
      var square = rest * rest * weight
      square = square.replacing(with: limit, where: limit .< square)
      // Adding 2^23 puts the rounded integer into the low bits.
      return unsafe unsafeBitCast(square + integerMagic, to: SIMD4<UInt32>.self)
    }
    let lowHalf = SIMD4<UInt32>(repeating: 0xFFFF)
    for texel in 0..<36 {
      // 36 levels and importances; 36 vectors a vector of pairs.
      let x = unsafe SIMD4<Float>(repeating: scratch.levels[texel])
      let weight = unsafe SIMD4<Float>(repeating: scratch.importance[texel] * unit)
      let even = error(x, weight, low0, density0, step0)
      let odd = error(x, weight, low1, density1, step1)
      unsafe scratch.errors[vector * 36 + texel] = unsafe unsafeBitCast(
        (even & lowHalf) | (odd &<< 16), to: SIMD8<Int16>.self)
    }
  }

  /// Fills the table of sums over any texels of each row, and returns the sum over all.
  private func sumSubsets(vector: Int) -> SIMD8<Int16> {
    var total = SIMD8<Int16>(repeating: 0)
    for row in 0..<6 {
      // 64 vectors a row of the table, 6 errors a row of the block.
      let sums = unsafe scratch.sums + row * 64
      let errors = unsafe scratch.errors + vector * 36 + row * 6
      unsafe sums[0] = SIMD8(repeating: 0)
      for texel in 0..<6 {
        let error = unsafe errors[texel]
        let count = 1 << texel
        for subset in 0..<count { unsafe sums[count + subset] = unsafe sums[subset] &+ error }
      }
      total &+= unsafe sums[63]
    }
    return total
  }

  /// The sum over the texels of a mask, from the table.
  @inline(__always)
  private func sum(_ sums: UnsafeMutablePointer<SIMD8<Int16>>, _ mask: UInt64) -> SIMD8<Int16> {
    @inline(__always) func row(_ index: Int) -> SIMD8<Int16> {
      // Six bits of each byte of a mask are used: an index below 64.
      unsafe sums[Int(truncatingIfNeeded: (mask &>> UInt64(index * 8)) & 63) &+ index &* 64]
    }
    return ((row(0) &+ row(1)) &+ (row(2) &+ row(3))) &+ (row(4) &+ row(5))
  }

  @inline(__always)
  private func lesser(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD8<Int16> {
    a.replacing(with: b, where: b .< a)
  }

  private func findLeastOfTwo(
    _ masks: UnsafePointer<UInt64>, _ count: Int, total: SIMD8<Int16>, isFirst: Bool
  ) {
    // Two masks and three vectors a pattern; at most `patternCapacity` patterns.
    let sums = unsafe scratch.sums
    var least = unsafe scratch.least
    for pattern in 0..<count {
      let first = unsafe sum(sums, masks[2 &* pattern])
      let second = total &- first
      if isFirst {
        unsafe least[0] = first
        unsafe least[1] = second
      } else {
        unsafe least[0] = unsafe lesser(least[0], first)
        unsafe least[1] = unsafe lesser(least[1], second)
      }
      unsafe least += 2
    }
  }

  private func findLeastOfThree(
    _ masks: UnsafePointer<UInt64>, _ count: Int, total: SIMD8<Int16>, isFirst: Bool
  ) {
    // Three masks and three vectors a pattern; at most `patternCapacity` patterns.
    let sums = unsafe scratch.sums
    var least = unsafe scratch.least
    for pattern in 0..<count {
      let first = unsafe sum(sums, masks[3 &* pattern])
      let second = unsafe sum(sums, masks[3 &* pattern &+ 1])
      let third = total &- first &- second
      if isFirst {
        unsafe least[0] = first
        unsafe least[1] = second
        unsafe least[2] = third
      } else {
        unsafe least[0] = unsafe lesser(least[0], first)
        unsafe least[1] = unsafe lesser(least[1], second)
        unsafe least[2] = unsafe lesser(least[2], third)
      }
      unsafe least += 3
    }
  }

  /// The patterns of least error, best first; −1 where there are fewer.
  private func candidates(_ patternCount: Int, partitionCount: Int) -> InlineArray<8, Int> {
    var patterns = InlineArray<8, Int>(repeating: -1)
    var errors = InlineArray<8, Int32>(repeating: .max)
    let limit = min(plan.candidateCount, 8)
    for pattern in 0..<patternCount {
      var error: Int32 = 0
      for partition in 0..<partitionCount {
        // `partitionCount` vectors a pattern.
        error &+= unsafe Int32(least(scratch.least[pattern * partitionCount + partition]))
      }
      guard error < errors[limit - 1] else { continue }
      var place = limit - 1
      while place > 0, error < errors[place - 1] {
        errors[place] = errors[place - 1]
        patterns[place] = patterns[place - 1]
        place -= 1
      }
      errors[place] = error
      patterns[place] = pattern
    }
    return patterns
  }

  @inline(__always)
  private func least(_ v: SIMD8<Int16>) -> Int16 {
    let four = v.lowHalf.replacing(with: v.highHalf, where: v.highHalf .< v.lowHalf)
    let two = four.lowHalf.replacing(with: four.highHalf, where: four.highHalf .< four.lowHalf)
    return two[0] < two[1] ? two[0] : two[1]
  }

  /// Finds the best pairs of a pattern again, and compares their exact error with the best block.
  private mutating func tryPattern(
    _ pattern: Int, of set: ASTCPatternSet, mode: ASTCWeightMode, codebook: ASTCEndpointCodebook,
    vectorCount: Int
  ) {
    var choice = Choice()
    choice.mode = mode
    // One seed and `partitionCount` masks a pattern.
    choice.seed = unsafe set.seeds[pattern]
    for partition in 0..<mode.partitionCount {
      let mask = unsafe set.masks[pattern * mode.partitionCount + partition]
      let place = unsafe Int(scratch.pairs[bestPair(mask, vectorCount: vectorCount)])
      let numbers = codebook.pairs[place].numbers
      choice.numbers[2 * partition] = numbers[0]
      choice.numbers[2 * partition + 1] = numbers[1]
    }
    choice.error = assign(choice)
    if choice.error < best.error { best = choice }
  }

  /// The pair of least error over the texels of a mask.
  private func bestPair(_ mask: UInt64, vectorCount: Int) -> Int {
    var best = 0
    var bestError = Int16.max
    for vector in 0..<vectorCount {
      var sum = SIMD8<Int16>(repeating: 0)
      var rest = mask
      while rest != 0 {
        let bit = rest.trailingZeroBitCount
        // Bit 8 · row + column: 36 vectors a vector of pairs.
        sum &+= unsafe scratch.errors[vector &* 36 &+ (bit &>> 3) &* 6 &+ bit & 7]
        rest &= rest &- 1
      }
      for lane in 0..<8 where sum[lane] < bestError {
        bestError = sum[lane]
        best = vector * 8 + lane / 2 + (lane & 1) * 4
      }
    }
    return best
  }
}
