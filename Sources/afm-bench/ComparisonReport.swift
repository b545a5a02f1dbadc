import BenchCore
import Comparison
import Report

/// A comparison as a table with intervals drawn beside it, and as JSON:
///
///     | test  | metric |      A |      B |   B/A |           95 % |  0.8   1   1.25 | B is      |
///     | ----- | ------ | -----: | -----: | ----: | -------------: | --------------- | --------- |
///     | pp512 | time   | 540 ms | 612 ms | 1.133 | [1.120, 1.149] | |      :   -*-   | | slower    |
struct ComparisonReport: Encodable {
  struct Row: Encodable {
    var test: String
    var metric: String
    var unit: String
    var a: Double?
    var b: Double?
    var n_a: Int
    var n_b: Int
    var ratio: Double?
    var low: Double?
    var high: Double?
    var hodges_lehmann: Double?
    var p: Double?
    var p_holm: Double?
    var outcome: Outcome
    var reason: String?
  }

  struct Difference: Encodable {
    var field: String
    var a: String
    var b: String
  }

  var a: String
  var b: String
  var smallest_effect_percent: Double
  var compared: [Difference]
  var rows: [Row]

  private enum CodingKeys: String, CodingKey {
    case a, b, smallest_effect_percent, compared, rows
  }

  init(_ comparison: Comparison, a: String, b: String) {
    (self.a, self.b) = (a, b)
    smallest_effect_percent = comparison.rule.smallestEffect * 100
    compared = comparison.differences.map { Difference(field: $0.field, a: $0.a, b: $0.b) }
    rows = comparison.rows.map { row in
      Row(
        test: row.test, metric: row.metric, unit: row.unit, a: row.a, b: row.b, n_a: row.countA,
        n_b: row.countB, ratio: row.ratio, low: row.low, high: row.high,
        hodges_lehmann: row.hodgesLehmann, p: row.probability, p_holm: row.corrected,
        outcome: row.outcome, reason: row.reason)
    }
  }

  static func percent(_ share: Double) -> String { DecimalText.fixed(share * 100, 1) + " %" }

  // MARK: - Text

  var text: String {
    var lines = ["A: \(a)", "B: \(b)"]
    for each in compared { lines.append("\(each.field): \(each.a) (A), \(each.b) (B)") }
    var table = TextTable([
      .init("test", .left), .init("metric", .left), .init("A"), .init("B"), .init("B/A"),
      .init("95 %"), .init(Self.scale, .left), .init("B is", .left),
    ])
    for row in rows where row.outcome != .notComparable {
      table.append([
        Self.cut(row.test, 24), row.metric, Self.figure(row.a, row.unit),
        Self.figure(row.b, row.unit), Self.ratio(row.ratio), Self.interval(row),
        Self.forest(row), row.outcome.rawValue,
      ])
    }
    lines += ["", table.text, summary]
    for row in rows {
      guard let reason = row.reason else { continue }
      lines.append("\(row.test) \(row.metric): \(reason)")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// How many rows came out how.
  private var summary: String {
    let counts = Outcome.allCases.compactMap { outcome in
      let count = rows.count { $0.outcome == outcome }
      let word = outcome == .notComparable ? "not comparable" : outcome.rawValue
      return count == 0 ? nil : "\(count) \(word)"
    }
    let half = Self.percent(smallest_effect_percent / 200)
    return "Of B's \(rows.count) rows: \(counts.joined(separator: ", ")). Equal is within \(half)."
  }

  /// The drawing's columns, and the ratios at its ends.
  private static let width = 21
  private static let span = 1.25
  private static let scale = "0.8       1      1.25"

  /// The interval as dashes and the ratio as a star on a logarithmic axis; an end beyond the axis
  /// becomes an arrow.
  private static func forest(_ row: Row) -> String {
    var marks = [Character](repeating: " ", count: width)
    marks[width / 2] = ":"
    guard let ratio = row.ratio else { return String(marks) }
    let low = column(row.low ?? ratio)
    let high = column(row.high ?? ratio)
    for place in max(0, min(low, width - 1))...max(0, min(high, width - 1)) { marks[place] = "-" }
    marks[max(0, min(column(ratio), width - 1))] = "*"
    if low < 0 { marks[0] = "<" }
    if high >= width { marks[width - 1] = ">" }
    return String(marks)
  }

  private static func column(_ ratio: Double) -> Int {
    let half = Double(width / 2)
    let place = half + half * Comparison.logarithm(ratio, base: span)
    return Int(max(-1, min(Double(width), place.rounded())))
  }

  private static func ratio(_ value: Double?) -> String {
    value.map { DecimalText.fixed($0, 3) } ?? "–"
  }

  private static func interval(_ row: Row) -> String {
    guard let low = row.low, let high = row.high else { return "–" }
    return "[\(DecimalText.fixed(low, 3)), \(DecimalText.fixed(high, 3))]"
  }

  /// A value with three or four digits and the unit that fits it.
  private static func figure(_ value: Double?, _ unit: String) -> String {
    guard var value else { return "–" }
    var unit = unit
    for (smaller, larger) in [("ns", "µs"), ("µs", "ms"), ("ms", "s")]
    where unit == smaller && value >= 1000 {
      (value, unit) = (value / 1000, larger)
    }
    for (larger, smaller) in [("s", "ms"), ("ms", "µs")] where unit == larger && value < 1 {
      (value, unit) = (value * 1000, smaller)
    }
    let decimals = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3
    return "\(DecimalText.fixed(value, decimals)) \(unit)"
  }

  private static func cut(_ text: String, _ count: Int) -> String {
    text.count <= count ? text : text.prefix(count - 1) + "…"
  }
}
