#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How much larger the values of one sample are than those of another, and how sure that is.
package struct RatioEstimate: Hashable, Sendable {
  package var ratio: Double
  package var interval: Interval
  /// The values that each side has.
  package var numeratorCount: Int
  package var denominatorCount: Int

  /// Whether the interval leaves 1 out, so that the direction is known.
  package var isDecided: Bool { interval.low > 1 || interval.high < 1 }
}

/// Intervals that rest on the order of the values alone, so that they cover what they say whatever
/// the values' distribution is.
extension Statistics {
  /// The interval between two order statistics that holds the true median with at least that
  /// confidence, of independent values: [x_k, x_(n+1−k)], with the largest k for which
  /// 2·P(Bin(n, 1/2) < k) ≤ 1 − confidence. Nil where not even the smallest and the largest value
  /// do, which for 95 % is below 6 values.
  package static func medianOrderInterval(
    _ values: [Double], confidence: Double = 0.95
  ) -> Interval? {
    precondition(confidence > 0 && confidence < 1, "a confidence lies between 0 and 1")
    let sorted = values.sorted()
    let tail = (1 - confidence) / 2
    func holds(_ k: Int) -> Bool {
      PercentileRule.binomialTail(atMost: k - 1, of: sorted.count, probability: 0.5) <= tail
    }
    guard !sorted.isEmpty, holds(1) else { return nil }
    // The tail grows with k: bisect between one that holds and the middle, which does not.
    var low = 1
    var high = sorted.count / 2 + 1
    while low + 1 < high {
      let middle = (low + high) / 2
      if holds(middle) { low = middle } else { high = middle }
    }
    return Interval(low: sorted[low - 1], high: sorted[sorted.count - low])
  }

  /// The most values of a side that a ratio is estimated from: above it, values that are evenly
  /// spread over the sample stand for all.
  static let mostRatioValues = 1_000

  /// Hodges and Lehmann's estimate of the ratio of two independent samples of positive values: the
  /// median of all quotients, with the interval of the Mann–Whitney test (exact up to 2,500
  /// quotients, the normal approximation above). Assumes that the two distributions differ by a
  /// factor alone. Nil where a value is not positive, or the values are too few for that
  /// confidence: below four on each side for 95 %.
  package static func ratio(
    of numerator: [Double], to denominator: [Double], confidence: Double = 0.95
  ) -> RatioEstimate? {
    precondition(confidence > 0 && confidence < 1, "a confidence lies between 0 and 1")
    guard (numerator + denominator).allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
    let above = thinned(numerator)
    let below = thinned(denominator)
    let count = criticalCount(above.count, below.count, tail: (1 - confidence) / 2)
    guard count > 0 else { return nil }
    let quotients = above.flatMap { a in below.map { a / $0 } }.sorted()
    guard let median = median(quotients) else { return nil }
    return RatioEstimate(
      ratio: median,
      interval: Interval(low: quotients[count - 1], high: quotients[quotients.count - count]),
      numeratorCount: numerator.count, denominatorCount: denominator.count)
  }

  private static func thinned(_ values: [Double]) -> [Double] {
    guard values.count > mostRatioValues else { return values }
    return (0..<mostRatioValues).map { values[$0 * values.count / mostRatioValues] }
  }

  /// The largest c with P(U < c) ≤ tail, U being the Mann–Whitney statistic of equal distributions;
  /// 0 where there is none.
  static func criticalCount(_ m: Int, _ n: Int, tail: Double) -> Int {
    guard m > 0, n > 0 else { return 0 }
    guard m * n <= 2_500 else {
      let mean = Double(m * n) / 2
      let deviation = (Double(m * n) * Double(m + n + 1) / 12).squareRoot()
      return max(0, Int((mean - normalQuantile(1 - tail) * deviation).rounded(.down)))
    }
    let counts = mannWhitneyCounts(m, n)
    let all = counts.reduce(0, +)
    var below = 0.0
    for (index, ways) in counts.enumerated() {
      below += ways
      if below > tail * all { return index }
    }
    return counts.count
  }

  /// The number of orders of m and n values in which U is 0, 1, …, m·n: the coefficients of the
  /// Gaussian binomial ∏ (1 − q^(m+i)) / (1 − q^i), i = 1…n.
  private static func mannWhitneyCounts(_ m: Int, _ n: Int) -> [Double] {
    var counts = [Double](repeating: 0, count: m * n + 1)
    counts[0] = 1
    for i in 1...n {
      for degree in stride(from: counts.count - 1, through: m + i, by: -1) {
        counts[degree] -= counts[degree - m - i]
      }
      for degree in i..<max(counts.count, i) { counts[degree] += counts[degree - i] }
    }
    return counts
  }

  /// The value below which a standard normal one lies with that chance, by bisection.
  private static func normalQuantile(_ chance: Double) -> Double {
    var low = -10.0
    var high = 10.0
    for _ in 0..<80 {
      let middle = (low + high) / 2
      if 0.5 * erfc(-middle / 2.0.squareRoot()) < chance { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }
}
