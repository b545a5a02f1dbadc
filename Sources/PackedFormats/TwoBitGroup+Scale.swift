extension TwoBitGroup {
  /// The scale that the options ask for; least mean-square error where they leave it open.
  ///
  /// - Parameters:
  ///   - importance: the weight of each squared error, positive; nil counts all alike.
  ///   - half: the scale is rounded to binary16 (the codes are chosen after that).
  /// - Throws: where the scale, or 1.5 times it, overflows.
  static func scale(
    for x: UnsafeBufferPointer<Float>, importance: UnsafeBufferPointer<Float>?,
    fit: QuantizationOptions.ScaleFit?, half: Bool, order: inout MagnitudeOrder
  ) throws(PackedFormatError) -> Float {
    let scale: Double
    switch fit {
    case .absoluteMaximum:
      var largest: Float = 0
      for index in x.indices {
        let magnitude = unsafe x[index].magnitude
        largest = largest < magnitude ? magnitude : largest
      }
      scale = Double(largest) / 1.5
    case .meanSquare, nil:
      scale =
        if let importance = unsafe importance {
          unsafe weightedScale(for: x, importance: importance, order: &order)
        } else {
          unsafe meanSquareScale(for: x, order: &order)
        }
    }
    return try stored(scale, half: half)
  }

  /// A scale as it is stored: a positive binary32 does not become zero.
  static func stored(_ exact: Double, half: Bool) throws(PackedFormatError) -> Float {
    guard exact > 0 else { return 0 }
    var scale = Float(exact)
    if half {
      scale = scale < 65520 ? HalfPrecision.rounded(scale) : .infinity
    } else if scale == 0 {
      scale = .leastNonzeroMagnitude
    }
    guard (1.5 * scale).isFinite else { throw PackedFormatError(.outOfRange) }
    return scale
  }

  /// The scale of least mean-square error, found exactly.
  ///
  /// A weight x is stored as ±0.5·s or ±1.5·s, whichever is nearer, so the assignment is decided by
  /// a threshold on |x|. For each of the n thresholds between the sorted magnitudes the best scale
  /// is a least-squares fit s = N/D with N = 0.5·Σlow + 1.5·Σhigh, D = 0.25·#low + 2.25·#high, and
  /// it lowers the squared error by N²/D: the largest N²/D over the thresholds is the global
  /// optimum. Ties go to the smaller scale. Sums are binary64.
  private static func meanSquareScale(
    for x: UnsafeBufferPointer<Float>, order: inout MagnitudeOrder
  ) -> Double {
    var high = 0.0
    for index in x.indices { unsafe high += Double(x[index].magnitude) }
    guard high > 0 else { return 0 }
    unsafe order.sort(x, importance: nil, sum: high)
    let count = Double(x.count)
    var low = 0.0
    var best = 0.0
    var bestFit = (numerator: 0.0, denominator: 1.0)
    // All weights low gives the error of all weights high at three times the scale: left out.
    var denominator = 2.25 * count
    for key in order.sorted {
      let numerator = 0.5 * low + 1.5 * high
      if numerator * numerator > best * denominator {
        best = numerator * numerator / denominator
        bestFit = (numerator, denominator)
      }
      let magnitude = MagnitudeOrder.magnitude(key)
      low += magnitude
      high = max(0, high - magnitude)
      denominator -= 2
    }
    return bestFit.numerator / bestFit.denominator
  }

  /// The same with a weight for each squared error: every sum is over h·x, every count over h.
  private static func weightedScale(
    for x: UnsafeBufferPointer<Float>, importance: UnsafeBufferPointer<Float>,
    order: inout MagnitudeOrder
  ) -> Double {
    var sum = 0.0
    var high = 0.0
    var denominator = 0.0
    for index in x.indices {
      let magnitude = unsafe Double(x[index].magnitude)
      let weight = unsafe Double(importance[index])
      sum += magnitude
      high += weight * magnitude
      denominator += weight
    }
    guard high > 0 else { return 0 }
    unsafe order.sort(x, importance: importance, sum: sum)
    denominator *= 2.25
    var low = 0.0
    var best = 0.0
    var bestFit = (numerator: 0.0, denominator: 1.0)
    for key in order.sorted {
      let numerator = 0.5 * low + 1.5 * high
      if numerator * numerator > best * denominator {
        best = numerator * numerator / denominator
        bestFit = (numerator, denominator)
      }
      let weight = MagnitudeOrder.importance(key)
      let part = weight * MagnitudeOrder.magnitude(key)
      low += part
      high = max(0, high - part)
      denominator -= 2 * weight
    }
    return bestFit.numerator / bestFit.denominator
  }
}
