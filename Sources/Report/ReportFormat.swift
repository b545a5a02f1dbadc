import BenchCore

/// How `afm-bench run -o` writes its rows.
package enum ReportFormat: String, CaseIterable, Sendable {
  /// Tables for people, and what they come to in sentences.
  case md
  case csv
  /// An array with an object a row.
  case json
  /// An object a line.
  case jsonl
  /// A table's definition and an insertion a row, for SQLite.
  case sql

  /// The rows as text that ends with a line end.
  package func text(
    _ rows: [RunRow], options: ReportOptions = ReportOptions()
  ) throws -> String {
    var stream = ReportStream(self, options: options, planned: rows)
    var text = stream.beginning
    for row in rows { text += try stream.add(row) }
    return text + (try stream.end())
  }
}
