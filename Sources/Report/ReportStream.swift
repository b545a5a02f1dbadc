import BenchCore

/// How a report is laid out.
package struct ReportOptions: Sendable {
  /// Columns of the terminal; what is not one gets as many as a usual one has.
  package var width = 112
  /// Tables of every figure, as wide as they are.
  package var isWide = false
  /// Whether the meaning of the figures is told.
  package var explains = false

  package init() {}
}

/// A report that is written while its rows are measured: text for the beginning, for each row, and
/// for the end. All of it together is the report.
package struct ReportStream {
  private let format: ReportFormat
  private let options: ReportOptions
  private var rows: [RunRow] = []
  private var table: RunTable

  /// `planned` are the rows that are to come, as far as they are known without figures.
  package init(
    _ format: ReportFormat, options: ReportOptions = ReportOptions(), planned: [RunRow]
  ) {
    self.format = format
    self.options = options
    table = RunTable(width: options.width, planned: planned)
  }

  /// What stands above all rows.
  package var beginning: String {
    switch format {
    case .md, .json, .jsonl: ""
    case .csv: FlatRow.csvHeader
    case .sql: FlatRow.sqlHeader
    }
  }

  /// What a row adds; empty where the form can only be written as a whole.
  package mutating func add(_ row: RunRow) throws -> String {
    rows.append(row)
    switch format {
    case .md: return options.isWide ? "" : table.add(row)
    case .csv: return try FlatRow.csvLine(row)
    case .json: return ""
    case .jsonl: return try JSONValue(row).text + "\n"
    case .sql: return try FlatRow.sqlInsertion(row)
    }
  }

  /// What stands below all rows.
  package func end() throws -> String {
    switch format {
    case .md:
      if options.isWide { return WideReport(rows).text }
      guard !rows.isEmpty else { return "No results.\n" }
      return "\n" + RunNotes(rows, table: table, options: options).text
    case .json: return try JSONValue(rows).indentedText + "\n"
    case .csv, .jsonl, .sql: return ""
    }
  }
}
