#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The Mann–Whitney rank-sum test of two independent samples, with the shift between them.
///
/// The shift is Hodges and Lehmann's: the median of all differences between a value of the second
/// sample and one of the first. Its interval holds the shifts that the test does not reject.
/// Takes O(n·m·log(n·m)) time and 8·n·m bytes for samples of n and m values; the exact distribution,
/// used up to ``exactLimit`` values a side, takes O(n²·m²).
package struct RankSumTest: Sendable {
  /// Above this many values on a side the normal approximation is used; its error is below 1e-4 there.
  package static let exactLimit = 40

  /// The number of values on each side.
  package let firstCount: Int
  package let secondCount: Int
  /// Second minus first, for every pair, ascending.
  private let differences: [Double]
  /// Σ(t³ − t) over groups of t equal values.
  private let tieSum: Double
  /// P(U ≤ u) for u = 0, 1, …, without ties; nil for samples too large for it.
  private let cumulative: [Double]?

  /// Returns nil where a side has no value.
  package init?(_ first: [Double], _ second: [Double]) {
    guard !first.isEmpty && !second.isEmpty else { return nil }
    firstCount = first.count
    secondCount = second.count
    differences = second.flatMap { value in first.map { value - $0 } }.sorted()
    var ties = 0.0
    let pooled = (first + second).sorted()
    var start = 0
    while start < pooled.count {
      var end = start + 1
      while end < pooled.count && pooled[end] == pooled[start] { end += 1 }
      let count = Double(end - start)
      ties += count * count * count - count
      start = end
    }
    tieSum = ties
    let isSmall = max(first.count, second.count) <= Self.exactLimit
    cumulative = isSmall ? Self.cumulativeDistribution(first.count, second.count) : nil
  }

  /// The Hodges–Lehmann estimate of how much larger the second sample's values are.
  package var shift: Double { Statistics.median(differences) ?? 0 }

  /// The shifts that the test does not reject: at least `confidence` of such intervals hold the true
  /// one. Nil where the samples are too small for that confidence.
  package func interval(confidence: Double = 0.95) -> Interval? {
    precondition(confidence > 0 && confidence < 1, "a confidence lies between 0 and 1")
    let tail = (1 - confidence) / 2
    let rank: Int
    if let cumulative {
      // The largest rank with P(U ≤ rank − 1) ≤ tail, but for the rounding of both.
      rank = cumulative.firstIndex { $0 > tail * (1 + 1e-9) } ?? 0
    } else {
      let width = Self.normalQuantile(1 - tail) * deviation(tieSum: 0)
      rank = Int((Double(differences.count) / 2 - width).rounded(.down))
    }
    guard rank >= 1 else { return nil }
    return Interval(low: differences[rank - 1], high: differences[differences.count - rank])
  }

  /// The two-sided probability of ranks at least this far from even if the two samples came from one
  /// distribution: exact without ties in small samples, else by the normal approximation with
  /// corrections for ties and continuity.
  package var probability: Double {
    let above = Double(differences.count { $0 > 0 })
    let statistic = above + Double(differences.count { $0 == 0 }) / 2
    let larger = max(statistic, Double(differences.count) - statistic)
    if let cumulative, tieSum == 0 {
      let mirrored = Int(Double(differences.count) - larger)
      return min(1, 2 * cumulative[mirrored])
    }
    let deviation = deviation(tieSum: tieSum)
    guard deviation > 0 else { return 1 }
    let z = (larger - Double(differences.count) / 2 - 0.5) / deviation
    return min(1, erfc(z / 2.0.squareRoot()))
  }

  /// The standard deviation of U where both samples come from one distribution.
  private func deviation(tieSum: Double) -> Double {
    let total = Double(firstCount + secondCount)
    let ties = total > 1 ? tieSum / (total * (total - 1)) : 0
    return (Double(differences.count) / 12 * (total + 1 - ties)).squareRoot()
  }

  /// P(U ≤ u) for samples of n and m values without ties, by the recurrence on whether the largest
  /// value belongs to the first sample (Mann and Whitney 1947).
  private static func cumulativeDistribution(_ n: Int, _ m: Int) -> [Double] {
    // rows[j] holds the distribution for (i, j) values; i grows.
    var rows = (0...m).map { _ in [1.0] }
    for i in 1...n {
      var next: [[Double]] = [[1.0]]
      for j in 1...m {
        let shareOfFirst = Double(i) / Double(i + j)
        var row = [Double](repeating: 0, count: i * j + 1)
        for (u, value) in rows[j].enumerated() { row[u + j] += shareOfFirst * value }
        for (u, value) in next[j - 1].enumerated() { row[u] += (1 - shareOfFirst) * value }
        next.append(row)
      }
      rows = next
    }
    var sum = 0.0
    return rows[m].map { value in
      sum += value
      return min(sum, 1)
    }
  }

  /// The value that a standard normal variable stays below with that probability, by bisection.
  static func normalQuantile(_ probability: Double) -> Double {
    var low = -40.0
    var high = 40.0
    for _ in 0..<200 {
      let middle = (low + high) / 2
      if 0.5 * erfc(-middle / 2.0.squareRoot()) < probability { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }
}
