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

  /// The ratio of two independent samples of positive values: Hodges and Lehmann's shift of their
  /// logarithms, with the interval that the Mann–Whitney test does not reject. Assumes that the two
  /// distributions differ by a factor alone. Nil where a value is not positive, or the values are
  /// too few for that confidence: below four on each side for 95 %.
  package static func ratio(
    of numerator: [Double], to denominator: [Double], confidence: Double = 0.95
  ) -> RatioEstimate? {
    guard (numerator + denominator).allSatisfy({ $0 > 0 && $0.isFinite }),
      let test = RankSumTest(
        thinned(denominator).map { log($0) }, thinned(numerator).map { log($0) }),
      let interval = test.interval(confidence: confidence)
    else { return nil }
    return RatioEstimate(
      ratio: exp(test.shift), interval: Interval(low: exp(interval.low), high: exp(interval.high)),
      numeratorCount: numerator.count, denominatorCount: denominator.count)
  }

  private static func thinned(_ values: [Double]) -> [Double] {
    guard values.count > mostRatioValues else { return values }
    return (0..<mostRatioValues).map { values[$0 * values.count / mostRatioValues] }
  }
}
