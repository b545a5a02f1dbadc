import BenchCore
import Foundation
import Report
import Testing

@Suite struct ReportFormatTests {
  /// The whole report as people see it. `AFM_UPDATE_GOLDEN=1 swift test --filter ReportTests`
  /// writes the files anew; read their difference before committing it.
  @Test(arguments: [(ReportFormat.md, "report.md"), (.csv, "report.csv"), (.sql, "report.sql")])
  func looksAsItDid(format: ReportFormat, file: String) throws {
    let text = try format.text(SampleRows.all)
    #expect(try Reading.golden(file, producing: text) == text)
  }

  @Test func theWideReportLooksAsItDid() throws {
    let text = try ReportFormat.md.text(SampleRows.all, options: .wide)
    #expect(try Reading.golden("report-wide.md", producing: text) == text)
  }

  @Test func jsonReadsBackEqual() throws {
    let decoder = JSONDecoder()
    let text = try ReportFormat.json.text(SampleRows.all)
    #expect(try decoder.decode([RunRow].self, from: Data(text.utf8)) == SampleRows.all)
    let lines = try ReportFormat.jsonl.text(SampleRows.all)
    let rows = try lines.split(separator: "\n").map {
      try decoder.decode(RunRow.self, from: Data($0.utf8))
    }
    #expect(rows == SampleRows.all)
  }

  @Test(arguments: ReportFormat.allCases)
  func noRowsIsStillAReport(format: ReportFormat) throws {
    let text = try format.text([])
    switch format {
    case .md: #expect(text == "No results.\n")
    case .csv: #expect(text.hasPrefix("build_commit,build_number,") && text.hasSuffix(",error\n"))
    case .json: #expect(text == "[]\n")
    case .jsonl: #expect(text.isEmpty)
    case .sql: #expect(text.contains("CREATE TABLE") && !text.contains("INSERT"))
    }
  }

  @Test(
    .needs(.python), arguments: ["sql", "csv", "json", "jsonl"])
  func pythonReadsWhatWasMeant(kind: String) throws {
    let format = try #require(ReportFormat(rawValue: kind))
    let rows = try Reading.rows(kind, try format.text(SampleRows.all))
    let expected = SampleRows.all
    try #require(rows.count == expected.count)
    func number(_ value: Double) -> Reading.Value {
      kind == "csv" ? .text(JSONValue.real(value).text) : .number(value)
    }
    for (row, expected) in zip(rows, expected) {
      #expect(row["test"] == .text(expected.test))
      #expect(row["model_filename"] == .text(expected.modelFilename))
      #expect(row["cpu_info"] == .text(expected.cpuInfo))
      #expect(row["model_size"] == number(136_000_000))
      // NUL ends a statement for SQLite, and so is replaced where texts are quoted.
      let flat = kind == "csv" || kind == "sql"
      let error = expected.error.map {
        Reading.Value.text(flat ? $0.replacingOccurrences(of: "\0", with: "\u{FFFD}") : $0)
      }
      #expect(row["error"] == error ?? (kind == "csv" ? .text("") : .null))
      #expect(
        row["avg_ts"] == expected.averageTokensPerSecond.map(number)
          ?? (kind == "csv" ? .text("") : .null))
      if flat {
        #expect(row["context_used_history"] == number(Double(expected.contextUsed.history)))
        #expect(row["tier_modelled"] == number(expected.tierIsModelled ? 1 : 0))
        #expect(
          row["kernels"]
            == .text(
              "[\"gemv_f32_s8t_s8c_r4_avx512vnni\",\"gemm_f32_s8t_s8c_r4_avx512vnni\"]"))
      }
      #expect(row.count == RunRow.CodingKeys.allCases.count + (flat ? 5 : 0))
    }
  }
}
