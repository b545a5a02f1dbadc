import BenchCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Two sets of measurements, row by row.
package struct Comparison: Sendable {
  /// One quantity of one test on both sides.
  package struct Row: Sendable {
    package var test: String
    package var metric: String
    package var unit: String
    /// The medians; nil where a side has no value.
    package var a: Double?
    package var b: Double?
    /// The number of values on each side.
    package var countA = 0
    package var countB = 0
    /// B's median over A's.
    package var ratio: Double?
    /// The 95 % interval of the ratio, by inverting the rank-sum test on logarithms.
    package var low: Double?
    package var high: Double?
    /// The Hodges–Lehmann estimate of the ratio.
    package var hodgesLehmann: Double?
    /// The rank-sum test's two-sided probability, alone and corrected for all rows.
    package var probability: Double?
    package var corrected: Double?
    package var outcome: Outcome
    /// Why it is not comparable, or undecided for want of values.
    package var reason: String?
    package var lowerIsBetter = true

    /// How much slower B is, as a share: 0.05 where it takes 5 % more time, or 5 % less is done in the
    /// same time. Nil without a ratio.
    package var slowdown: Double? {
      ratio.map { lowerIsBetter ? $0 - 1 : 1 - $0 }
    }
  }

  package var rows: [Row]
  /// The fields in which the two sides differ as a whole, with both values: what is compared.
  package var differences: [(field: String, a: String, b: String)]
  package var rule: DecisionRule

  /// Joins the rows of two sides and decides each.
  package init(_ a: Measurements, _ b: Measurements, rule: DecisionRule) {
    self.rule = rule
    let join = RowJoin(a, b)
    differences = join.differences
    var rows: [Row] = []
    var tests: [(index: Int, test: RankSumTest)] = []
    for pair in join.pairs {
      switch pair {
      case .refused(let test, let reason):
        rows.append(
          Row(test: test, metric: "", unit: "", outcome: .notComparable, reason: reason))
      case .matched(let first, let second):
        for (one, other) in Self.sharedMetrics(first, second) {
          let (row, test) = Self.compare(first.test, one, other)
          if let test { tests.append((rows.count, test)) }
          rows.append(row)
        }
      }
    }
    let corrected = HolmCorrection.adjust(tests.map(\.test.probability))
    for ((index, test), probability) in zip(tests, corrected) {
      rows[index].corrected = probability
      rows[index].outcome = rule.outcome(
        of: test, corrected: probability, lowerIsBetter: rows[index].lowerIsBetter)
      if rows[index].outcome == .undecided && rows[index].low == nil {
        rows[index].reason = "too few values for a 95 % interval"
      }
    }
    self.rows = rows
  }

  /// The logarithm of a ratio to a base, for drawing.
  package static func logarithm(_ ratio: Double, base: Double) -> Double { log(ratio) / log(base) }

  /// The number of rows with that outcome.
  package func count(_ outcome: Outcome) -> Int { rows.count { $0.outcome == outcome } }

  private static func sharedMetrics(
    _ a: MeasuredRow, _ b: MeasuredRow
  ) -> [(MeasuredRow.Metric, MeasuredRow.Metric)] {
    a.metrics.compactMap { one in
      b.metrics.first { $0.name == one.name && $0.unit == one.unit }.map { (one, $0) }
    }
  }

  private static func compare(
    _ name: String, _ a: MeasuredRow.Metric, _ b: MeasuredRow.Metric
  ) -> (Row, RankSumTest?) {
    var row = Row(test: name, metric: a.name, unit: a.unit, outcome: .undecided)
    row.lowerIsBetter = a.lowerIsBetter
    (row.a, row.b) = (Statistics.median(a.samples), Statistics.median(b.samples))
    (row.countA, row.countB) = (a.samples.count, b.samples.count)
    guard (a.samples + b.samples).allSatisfy({ $0 > 0 && $0.isFinite }) else {
      row.outcome = .notComparable
      row.reason = "a value is not above 0, so there is no ratio"
      return (row, nil)
    }
    guard let middleA = row.a, let middleB = row.b,
      let test = RankSumTest(a.samples.map { log($0) }, b.samples.map { log($0) })
    else {
      row.outcome = .notComparable
      row.reason = "a side has no values"
      return (row, nil)
    }
    row.ratio = middleB / middleA
    row.hodgesLehmann = exp(test.shift)
    row.probability = test.probability
    let interval = test.interval()
    row.low = interval.map { exp($0.low) }
    row.high = interval.map { exp($0.high) }
    return (row, test)
  }
}
