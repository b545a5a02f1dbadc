/// The fits of the formats an element at a time: plain sorts, plain loops, binary64.
enum ReferenceFit {
  /// The two-bit scale of least mean-square error, by a comparison sort, before it is rounded.
  static func twoBitScale(_ weights: [Float]) -> Double {
    let sorted = weights.map { $0.magnitude }.sorted()
    var high = weights.reduce(0.0) { $0 + Double($1.magnitude) }
    guard high > 0 else { return 0 }
    let count = Double(sorted.count)
    var low = 0.0
    var best = 0.0
    var bestScale = 0.0
    for index in sorted.indices {
      let numerator = 0.5 * low + 1.5 * high
      let denominator = 2.25 * count - 2 * Double(index)
      if numerator * numerator > best * denominator {
        best = numerator * numerator / denominator
        bestScale = numerator / denominator
      }
      let magnitude = Double(sorted[index])
      low += magnitude
      high = max(0, high - magnitude)
    }
    return bestScale
  }

  static func twoBitCode(_ weight: Float, scale: Float) -> UInt8 {
    guard scale > 0 else { return 2 }
    if weight < -scale { return 0 }
    if weight < 0 { return 1 }
    return weight < scale ? 2 : 3
  }

  /// The weighted squared error of the levels step · (k + offset), k = 0 ... top, mirrored.
  static func error(
    _ weights: [Float], importance: [Float]? = nil, scale: Double, offset: Double, top: Double
  ) -> Double {
    var sum = 0.0
    for (index, weight) in weights.enumerated() {
      let magnitude = Double(weight.magnitude)
      let level = min(top, max(0, (magnitude / scale - offset).rounded())) + offset
      let difference = magnitude - level * scale
      sum += Double(importance?[index] ?? 1) * difference * difference
    }
    return sum
  }

  /// The least error over a fine sweep of scales.
  static func bestError(
    _ weights: [Float], importance: [Float]? = nil, offset: Double, top: Double
  ) -> Double {
    let largest = Double(weights.map { $0.magnitude }.max() ?? 0)
    let widest = 2.2 * largest / (top + offset)
    return (1...4000).map { step in
      error(
        weights, importance: importance, scale: widest * Double(step) / 4000, offset: offset,
        top: top)
    }.min() ?? 0
  }
}
