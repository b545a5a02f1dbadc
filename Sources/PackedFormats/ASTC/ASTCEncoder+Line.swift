extension ASTCEncoder {
  /// The line through a block's levels: what six equally spaced codes stand for.
  struct Line {
    var low: Float
    var high: Float
    var error: Float
  }

  /// Finds endpoints for one partition: least squares from several starts, then rounded.
  ///
  /// With the codes given, the best endpoints solve a linear system; with the endpoints given, the
  /// best codes are the nearest. Taking turns converges to the nearest of many minima, so the
  /// starts decide: symmetric and lopsided ranges around the mean, in deviations.
  mutating func fitLine() {
    let line = bestLine()
    let low = line.low + statistics.mean
    let high = line.high + statistics.mean
    tryEnds(rounded(low), rounded(high))
    guard plan.refines else { return }
    var improved = true
    var center = (Int(best.numbers[0]), Int(best.numbers[1]))
    while improved {
      improved = false
      let before = best.error
      for low in center.0 - 1...center.0 + 1 {
        for high in center.1 - 1...center.1 + 1 where 0 <= low && low <= high && high <= 255 {
          tryEnds(low, high)
        }
      }
      if best.error < before {
        improved = true
        center = (Int(best.numbers[0]), Int(best.numbers[1]))
      }
    }
  }

  private func rounded(_ level: Float) -> Int {
    // Also false for NaN.
    guard level > 0 else { return 0 }
    return level < 255 ? Int(level + 0.5) : 255
  }

  /// Half widths and shifts of the starts, in deviations.
  private static let starts: [(half: Float, shift: Float)] = [
    (1.75, 0), (2.05, 0), (1.85, 0.25), (1.85, -0.25), (1.5, 0), (1.6, 0.2), (1.6, -0.2),
    (2.2, 0.3), (2.2, -0.3), (2.35, 0), (1.75, 0.5), (1.75, -0.5), (1.4, 0.3), (1.4, -0.3),
    (1.95, 0.12), (1.95, -0.12), (1.65, 0), (1.25, 0), (2.05, 0.5), (2.05, -0.5), (2.6, 0),
    (2.5, 0.4), (2.5, -0.4), (1.6, 0.4),
  ]

  /// The best line of all starts, around the mean.
  func bestLine() -> Line {
    let deviation = statistics.deviation
    guard deviation > 0 else { return Line(low: 0, high: 0, error: 0) }
    var best = Line(low: -1.85 * deviation, high: 1.85 * deviation, error: .infinity)
    for start in Self.starts.prefix(plan.startCount) {
      var line = Line(
        low: (start.shift - start.half) * deviation, high: (start.shift + start.half) * deviation,
        error: .infinity)
      for _ in 0..<plan.passCount {
        guard let next = refined(line) else { break }
        if !(next.error < line.error) { break }
        line = next
      }
      if line.error < best.error { best = line }
    }
    return best
  }

  /// Nearest codes for a line, then the line of least squares for these codes; nil where all codes
  /// are equal.
  @inline(__always)
  private func refined(_ line: Line) -> Line? {
    let density = 5 / (line.high - line.low)
    let low = SIMD4<Float>(repeating: line.low)
    let magic = SIMD4<Float>(repeating: 12_582_912)
    let zero = SIMD4<Float>(repeating: 0)
    let five = SIMD4<Float>(repeating: 5)
    var s1 = zero
    var s2 = zero
    var sx = zero
    for index in 0..<9 {
      // 9 vectors of 4 in 36 numbers, 64-byte aligned.
      let x = unsafe UnsafeRawPointer(scratch.centered)
        .load(fromByteOffset: index * 16, as: SIMD4<Float>.self)
      let weight = unsafe UnsafeRawPointer(scratch.importance)
        .load(fromByteOffset: index * 16, as: SIMD4<Float>.self)
      var code = (x - low) * density
      code = code.replacing(with: zero, where: code .< zero)
      code = code.replacing(with: five, where: five .< code)
      // Adding and taking away 1.5 · 2^23 rounds to an integer.
      code = (code + magic) - magic
      let weighted = weight * code
      s1 += weighted
      s2 += weighted * code
      sx += weighted * x
    }
    let count = statistics.weight
    let (sum, squares, products) = (total(s1), total(s2), total(sx))
    let determinant = count * squares - sum * sum
    guard determinant > 1e-6 * count * squares else { return nil }
    // The levels are centered: their sum is zero.
    let slope = count * products / determinant
    let start = -slope * sum / count
    return Line(
      low: start, high: start + 5 * slope, error: statistics.energy - slope * products)
  }

  @inline(__always)
  private func total(_ v: SIMD4<Float>) -> Float { (v[0] + v[2]) + (v[1] + v[3]) }

  /// Compares exact endpoints of one partition with the best block so far.
  mutating func tryEnds(_ low: Int, _ high: Int) {
    var choice = Choice()
    choice.numbers[0] = UInt8(low)
    choice.numbers[1] = UInt8(high)
    let palette = palette(low: low, high: high, mode: .one)
    choice.error = error(of: palette)
    if choice.error < best.error { best = choice }
  }

  /// The error of one partition with these six levels, in rising order.
  func error(of palette: SIMD8<Float>) -> Float {
    var sum = SIMD4<Float>(repeating: 0)
    for index in 0..<9 {
      // 9 vectors of 4 in 36 numbers, 64-byte aligned.
      let x = unsafe UnsafeRawPointer(scratch.levels)
        .load(fromByteOffset: index * 16, as: SIMD4<Float>.self)
      let weight = unsafe UnsafeRawPointer(scratch.importance)
        .load(fromByteOffset: index * 16, as: SIMD4<Float>.self)
      var least = SIMD4<Float>(repeating: .infinity)
      for code in 0..<6 {
        let distance = x - palette[code]
        let square = distance * distance
        least = least.replacing(with: square, where: square .< least)
      }
      sum += weight * least
    }
    return total(sum)
  }

  /// What the codes of endpoints mean, in levels and in the order of the grid weights.
  @inline(__always)
  func palette(low: Int, high: Int, mode: ASTCWeightMode) -> SIMD8<Float> {
    var levels = SIMD8<Float>(repeating: .infinity)
    let weights = mode.sortedGridWeights
    for code in 0..<mode.codeRange.levelCount {
      let weight = Int(weights[code])
      let result = (low * 257 * (64 - weight) + high * 257 * weight + 32) >> 6
      levels[code] = Float(result) * (1 / 257)
    }
    return levels
  }
}

extension ASTCWeightMode {
  /// The grid weights in rising order.
  @inline(__always)
  var sortedGridWeights: SIMD8<UInt8> {
    switch partitionCount {
    case 1: SIMD8(0, 12, 25, 39, 52, 64, 0, 0)
    case 2: SIMD8(0, 16, 32, 48, 64, 0, 0, 0)
    default: SIMD8(0, 21, 43, 64, 0, 0, 0, 0)
    }
  }
}
