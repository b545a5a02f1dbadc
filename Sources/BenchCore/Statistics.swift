#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The estimates of this domain. Values are finite; an empty input has no estimate (nil).
package enum Statistics {
  /// The middle value; the mean of the two in the middle where the count is even. O(n log n).
  package static func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The arithmetic mean.
  package static func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }

  /// The sample standard deviation (n − 1 in the denominator); 0 for one value, as llama-bench
  /// prints it.
  package static func standardDeviation(_ values: [Double]) -> Double? {
    guard let mean = mean(values) else { return nil }
    guard values.count > 1 else { return 0 }
    let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return (squares / Double(values.count - 1)).squareRoot()
  }

  /// The nearest-rank percentile: the smallest value with at least `fraction` of the values at or
  /// below it (NumPy's `inverted_cdf`). It says nothing about whether there are values enough; see
  /// ``percentile(_:ofClusters:confidence:)``.
  package static func nearestRank(_ fraction: Double, of values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    return values.sorted()[rank(fraction, ofCount: values.count) - 1]
  }

  /// The one-based nearest rank. The subtraction undoes the rounding of products such as
  /// 0.07 · 100, which is above 7.
  static func rank(_ fraction: Double, ofCount count: Int) -> Int {
    precondition(fraction > 0 && fraction < 1, "a percentile lies between 0 and 1")
    let exact = fraction * Double(count)
    return min(max(Int((exact - exact * 1e-12).rounded(.up)), 1), count)
  }

  /// The median absolute deviation, times 1.4826 so that it estimates the standard deviation of a
  /// normal distribution (1 / Φ⁻¹(3/4)).
  package static func scaledMedianDeviation(_ values: [Double]) -> Double? {
    guard let centre = median(values) else { return nil }
    return median(values.map { abs($0 - centre) }).map { $0 * 1.482602218505602 }
  }

  /// The share of values further than three scaled median deviations from the median.
  package static func outlierShare(_ values: [Double]) -> Double? {
    guard let centre = median(values), let deviation = scaledMedianDeviation(values) else {
      return nil
    }
    let outliers = values.count { abs($0 - centre) > 3 * deviation }
    return Double(outliers) / Double(values.count)
  }

  /// How far the second half's median lies from the first half's, relative to the whole's, where
  /// the halves are told apart: every value of the second half beyond the first half's median, and
  /// every value of the first before the second's. 0 where they are not; nil below 6 values, where
  /// chance alone does this too often (for 6, at most 2 of the 20 splits).
  package static func drift(_ values: [Double]) -> Double? {
    guard values.count >= 6, let whole = median(values), whole != 0 else { return nil }
    let first = Array(values.prefix(values.count / 2))
    let second = Array(values.suffix(values.count / 2))
    guard let a = median(first), let b = median(second) else { return nil }
    let rises = second.allSatisfy { $0 > a } && first.allSatisfy { $0 < b }
    let falls = second.allSatisfy { $0 < a } && first.allSatisfy { $0 > b }
    return rises || falls ? (b - a) / whole : 0
  }
}
