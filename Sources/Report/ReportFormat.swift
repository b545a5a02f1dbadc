import BenchCore

/// How `afm-bench run -o` writes its rows.
package enum ReportFormat: String, CaseIterable, Sendable {
  /// Tables for people, with footnotes and definitions.
  case md
  case csv
  /// An array with an object a row.
  case json
  /// An object a line.
  case jsonl
  /// A table's definition and an insertion a row, for SQLite.
  case sql

  /// The rows as text that ends with a line end.
  package func text(_ rows: [RunRow]) throws -> String {
    switch self {
    case .md: MarkdownReport(rows).text
    case .csv: try FlatRow.csv(rows)
    case .json: try JSONValue(rows).indentedText + "\n"
    case .jsonl: try rows.map { try JSONValue($0).text + "\n" }.joined()
    case .sql: try FlatRow.sql(rows)
    }
  }
}
