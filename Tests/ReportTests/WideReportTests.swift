import BenchCore
import Foundation
import Report
import Testing

@Suite struct WideReportTests {
  private var lines: [Substring] {
    get throws {
      try ReportFormat.md.text(SampleRows.all, options: .wide).split(
        separator: "\n", omittingEmptySubsequences: false)
    }
  }

  // Tables of every figure, as wide as they are.

  /// Columns of a terminal, by a list of the sample's wide characters: not the code under test.
  private func width(_ line: Substring) -> Int {
    line.reduce(0) { $0 + ("漢字😀".contains($1) ? 2 : 1) }
  }

  @Test func tablesLineUp() throws {
    var widths: [Int] = []
    for line in try lines {
      if line.hasPrefix("|") {
        widths.append(width(line))
      } else {
        #expect(Set(widths).count <= 1, "lines of one table differ: \(widths)")
        widths = []
      }
    }
  }

  @Test func everyRowHasAsManyCellsAsItsHeading() throws {
    var count: Int?
    var tables = 0
    for line in try lines {
      guard line.hasPrefix("|") else {
        count = nil
        continue
      }
      let cells = line.replacingOccurrences(of: "\\|", with: "").split(separator: "|").count
      if count == nil { tables += 1 }
      #expect(cells == count ?? cells)
      count = cells
    }
    #expect(tables == 5)
  }

  @Test func everyMarkHasItsFootnote() throws {
    let text = try ReportFormat.md.text(SampleRows.all, options: .wide)
    let marks = Set(text.matches(of: /\[(\d+)\]/).compactMap { Int($0.output.1) })
    #expect(marks == Set(1...marks.count))
    for mark in marks {
      #expect(text.contains("\n[\(mark)] "), "no footnote \(mark)")
    }
    #expect(text.contains("ITL P99 refused: too few independent gaps"))
    #expect(text.contains("needs 6 samples, has 2; 3.0 % of CPU time was stolen (limit 1.0 %)"))
    #expect(text.contains("a 95 % interval needs 6 samples, has 5"))
  }

  @Test func theSecondTierIsCalledModelled() throws {
    let text = try ReportFormat.md.text(SampleRows.all, options: .wide)
    #expect(
      text.contains(
        "### private-cloud (modelled: served in this process"
          + "; the model's context of 8192 is the smaller limit)\n"))
    #expect(text.contains("### on-device\n"))
  }
}

extension ReportOptions {
  /// `--wide`.
  static var wide: ReportOptions {
    var options = ReportOptions()
    options.isWide = true
    return options
  }
}
