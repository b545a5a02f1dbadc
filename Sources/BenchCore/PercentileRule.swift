#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// When a percentile may be stated: MLPerf LoadGen's early-stopping rule.
///
/// Were the true percentile higher than what was seen, then so few values above it would be rare:
/// with n values, at most `over` of them above, the chance of that is the binomial tail
/// P(X ≤ over), X ~ Bin(n, 1 − fraction) (= the regularized incomplete Beta
/// I_fraction(n − over, over + 1)). The rule asks for the smallest n with that chance at most
/// 1 − confidence. LoadGen begins at over = 1: 64 values for P90 and 662 for P99 at 99 %.
package enum PercentileRule {
  /// LoadGen's confidence.
  package static let confidence = 0.99

  /// The fewest independent values for a percentile.
  package static func minimumCount(
    _ fraction: Double, confidence: Double = confidence, over: Int = 1
  ) -> Int {
    precondition(
      fraction > 0 && fraction < 1 && confidence > 0 && confidence < 1 && over >= 0,
      "fractions lie between 0 and 1")
    func suffices(_ count: Int) -> Bool {
      binomialTail(atMost: over, of: count, probability: 1 - fraction) <= 1 - confidence
    }
    // The tail falls as the count grows: double until it suffices, then bisect.
    var high = over + 1
    while !suffices(high) { high *= 2 }
    var low = high / 2
    while low + 1 < high {
      let middle = (low + high) / 2
      if suffices(middle) { high = middle } else { low = middle }
    }
    return high
  }

  /// P(X ≤ k) for X ~ Bin(n, p), 0 < p < 1, summed in logarithms so that nothing underflows early.
  /// O(k).
  package static func binomialTail(atMost k: Int, of n: Int, probability p: Double) -> Double {
    precondition(k >= 0 && n >= 0 && p > 0 && p < 1, "a binomial distribution's parameters")
    if k >= n { return 1 }
    var logTerm = Double(n) * log1p(-p)
    let logOdds = log(p) - log1p(-p)
    var sum = exp(logTerm)
    for i in 0..<k {
      logTerm += log(Double(n - i)) - log(Double(i + 1)) + logOdds
      sum += exp(logTerm)
    }
    return min(sum, 1)
  }
}

/// A percentile, or why it is not stated.
package enum PercentileEstimate: Hashable, Sendable {
  case value(Double)
  case refused(String)

  package var value: Double? {
    if case .value(let value) = self { value } else { nil }
  }

  package var refusal: String? {
    if case .refused(let reason) = self { reason } else { nil }
  }
}

extension Statistics {
  /// The nearest-rank percentile of values that come in clusters (token gaps in requests), refused
  /// where they are too few by ``PercentileRule``.
  ///
  /// Values of one cluster are not independent. What counts is n / (1 + (m − 1)·ρ) (Kish 1965):
  /// m is the size of the cluster in which a value finds itself on average, ρ the intra-cluster
  /// correlation of "at most the percentile". One cluster tells nothing of ρ, so it is refused.
  /// O(n log n).
  package static func percentile(
    _ fraction: Double, ofClusters clusters: [[Double]],
    confidence: Double = PercentileRule.confidence
  ) -> PercentileEstimate {
    let clusters = clusters.filter { !$0.isEmpty }
    let count = clusters.reduce(0) { $0 + $1.count }
    let needed = PercentileRule.minimumCount(fraction, confidence: confidence)
    guard count >= needed, let value = nearestRank(fraction, of: clusters.flatMap { $0 }) else {
      return .refused("needs \(needed) values, has \(count)")
    }
    // A cluster each is independence.
    if clusters.count == count { return .value(value) }
    guard clusters.count > 1 else {
      return .refused("all \(count) values are of one request, so not independent")
    }
    let effective = effectiveCount(clusters.map { $0.map { $0 <= value ? 1 : 0 } })
    guard effective >= needed else {
      return .refused(
        "needs \(needed) values, and the \(count) of \(clusters.count) requests count as \(effective)"
      )
    }
    return .value(value)
  }

  /// The number of independent values that clustered ones are worth, rounded down, by the analysis
  /// of variance's estimate of the intra-cluster correlation (cluster sizes may differ). Needs two
  /// clusters.
  static func effectiveCount(_ clusters: [[Double]]) -> Int {
    let k = Double(clusters.count)
    let sizes = clusters.map { Double($0.count) }
    let n = sizes.reduce(0, +)
    let meanSquareSize = sizes.reduce(0) { $0 + $1 * $1 } / n
    let grandMean = clusters.reduce(0) { $0 + $1.reduce(0, +) } / n
    var between = 0.0
    var within = 0.0
    for cluster in clusters {
      let mean = cluster.reduce(0, +) / Double(cluster.count)
      between += Double(cluster.count) * (mean - grandMean) * (mean - grandMean)
      within += cluster.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    }
    let meanBetween = between / (k - 1)
    let meanWithin = n > k ? within / (n - k) : 0
    let balancedSize = (n - meanSquareSize) / (k - 1)
    let denominator = meanBetween + (balancedSize - 1) * meanWithin
    let correlation =
      denominator > 0 ? min(max((meanBetween - meanWithin) / denominator, 0), 1) : 0
    return Int((n / (1 + (meanSquareSize - 1) * correlation)).rounded(.down))
  }
}
