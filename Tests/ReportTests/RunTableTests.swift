import BenchCore
import Foundation
import Report
import Testing

/// The tables that a run shows by default: what they say, and that they fit.
@Suite struct RunTableTests {
  private func report(
    _ rows: [RunRow], width: Int = 112, explains: Bool = false
  ) throws -> [String] {
    var options = ReportOptions()
    options.width = width
    options.explains = explains
    return try ReportFormat.md.text(rows, options: options).components(separatedBy: "\n")
      .dropLast()
  }

  /// Columns of a terminal, by a list of the sample's wide characters: not the code under test.
  private func width(_ line: String) -> Int {
    line.reduce(0) { $0 + ("漢字😀".contains($1) ? 2 : 1) }
  }

  private func cells(_ line: String) -> [String] {
    line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  @Test(arguments: [60, 80, 112, 200])
  func everyLineFits(columns: Int) throws {
    var rows = SampleRows.all + DefaultRows.all
    for index in rows.indices {
      if index % 2 == 0 { rows[index].modelFilename = String(repeating: "a long name ", count: 30) }
      if index % 3 == 0 { rows[index].adapter = "/" + String(repeating: "adapter", count: 20) }
      if index % 5 == 0 {
        rows[index].prefillTokensPerSecond = 1.5e15
        rows[index].ttftNanoseconds = 1e18
        rows[index].decodeRateInterval = Interval(low: 1e9, high: 1e12)
        rows[index].memoryBandwidthUtilisation = 123
      }
    }
    for explains in [false, true] {
      for line in try report(rows, width: columns, explains: explains) {
        #expect(width(line) <= columns, "\(line)")
      }
    }
  }

  @Test func theDefaultRunsReportFitsTwoScreens() throws {
    let lines = try report(DefaultRows.all)
    #expect(lines.count <= 60, "\(lines.count)")
    #expect(lines.count { $0.hasPrefix("### ") } == 2)
  }

  @Test(arguments: [80, 112, 200])
  func aRowSaysWhatWasMeasured(columns: Int) throws {
    let lines = try report(DefaultRows.all, width: columns)
    let titles = try #require(lines.first { $0.hasPrefix("|") })
    let names = cells(titles)
    let all = [
      "tier", "test", "reasoning", "prefill t/s", "decode t/s", "95 %", "TTFT ms", "TTFO ms",
      "KV MiB", "MBU", "verdict",
    ]
    // A narrow terminal does without the last ones of those that are dispensable.
    let missing = columns == 80 ? ["95 %", "TTFT ms", "KV MiB", "MBU"] : []
    #expect(names == all.filter { !missing.contains($0) })
    let sentence = "80 columns have no room for MBU, KV MiB, 95 %, TTFT ms."
    #expect(lines.contains(sentence) == (columns == 80))
    let tables = lines.filter { $0.hasPrefix("|") }
    #expect(tables.allSatisfy { cells($0).count == names.count && width($0) == width(titles) })
    let row = try #require(tables.first { cells($0)[1] == "chat 2" && cells($0)[2] == "light" })
    let values = Dictionary(uniqueKeysWithValues: zip(names, cells(row)))
    #expect(values["tier"] == "private-cloud")
    #expect(values["decode t/s"] == "100.0" && values["TTFO ms"] == "612")
    #expect(values["verdict"] == "noisy a")
    if columns > 80 { #expect(values["95 %"] == "98.0–103" && values["MBU"] == "72 %") }
  }

  @Test func factsOfTheModelStandOnceAboveItsTable() throws {
    let text = try report(DefaultRows.all).joined(separator: "\n")
    for (fact, count) in [
      ("### SmolLM2-135M-Instruct.s8c.afmw\n", 1),
      ("llama s8c, 134.52 M parameters, 129.16 MiB in memory (116.01 MiB file), avx512vnni, 2", 1),
      ("KV f16/f16", 2), ("private-cloud is modelled", 1), ("others took", 1), ("avx512vnni", 2),
    ] {
      #expect(text.components(separatedBy: fact).count - 1 == count, "\(fact)")
    }
  }

  /// Reasons of the machine stand once with their range, those of rows once with a letter.
  @Test func reasonsAreGathered() throws {
    let lines = try report(DefaultRows.all)
    let text = lines.joined(separator: " ").replacingOccurrences(of: "   ", with: "")
    #expect(text.contains("20 of 20 rows are noisy"))
    #expect(text.contains("others took 8.0–27.0 % of CPU time (limit 5.0 %)"))
    #expect(text.contains("a: the samples spread by 6.5 % (limit 5.0 %), 2 rows"))
    #expect(text.contains("--polite") && text.contains("-r 12"))
    #expect(text.contains("private-cloud deep is token for token private-cloud moderate"))
  }

  @Test func sentencesSayWhichIsFasterAndHowSure() throws {
    func sentences(_ change: (inout RunRow) -> Void) throws -> String {
      var rows = DefaultRows.all
      for index in rows.indices where rows[index].modelFilename.contains("u4g32") {
        change(&rows[index])
      }
      return try report(rows).joined(separator: " ").replacingOccurrences(of: "   ", with: "")
    }
    let faster = try sentences { row in
      row.decodeRateSamples = row.decodeRateSamples.map { $0 * 1.45 }
      row.prefillRateSamples = row.prefillRateSamples.map { $0 / 2 }
    }
    #expect(faster.contains("Decode: u4g32 is 1.45 times as fast as s8c (tg128: 95 % 1.4"))
    #expect(faster.contains("Prefill: s8c is 2.00 times as fast as u4g32 (pp512: 95 % 1.9"))
    #expect(faster.contains("6 and 6 requests; noisy rows)"))
    #expect(faster.contains("Memory: u4g32 takes 0.64 of what s8c takes"))
    let same = try sentences { _ in }
    #expect(same.contains("Decode: undecided between u4g32 and s8c; 1.00 times as fast (tg128: 95"))
    #expect(same.contains("includes 1"))
    let few = try sentences { $0.decodeRateSamples = [100, 200, 300] }
    #expect(
      few.contains("needs 4 requests of each (tg128: 3 and 6") || few.contains("3 and 6 requ"))
    #expect(!few.contains("Decode: u4g32 is"))
    let failed = try sentences { $0.error = "no" }
    #expect(!failed.contains("u4g32 is"))
  }

  /// A row is written as soon as it is known, and all of them together are the report.
  @Test(arguments: ReportFormat.allCases)
  func rowsAreWrittenAsTheyCome(format: ReportFormat) throws {
    let rows = DefaultRows.all
    var stream = ReportStream(format, planned: rows)
    let parts = try rows.map { try stream.add($0) }
    let whole = try stream.beginning + parts.joined() + stream.end()
    #expect(try whole == format.text(rows))
    #expect(parts.allSatisfy { $0.isEmpty } == (format == .json))
    if format != .json { #expect(parts.allSatisfy { $0.hasSuffix("\n") }) }
    // The first row is told without knowing the others.
    var first = ReportStream(format, planned: rows)
    #expect(try first.add(rows[0]) == parts[0])
  }
}

/// The rows of a default run on two packings.
enum DefaultRows {
  static var all: [RunRow] {
    [("s8c", 135_439_104, 121_648_238), ("u4g32", 86_900_000, 77_600_000)].flatMap {
      rows(weights: $0.0, memory: $0.1, file: $0.2)
    }
  }

  private static func rows(weights: String, memory: Int, file: Int) -> [RunRow] {
    var base = RunRow()
    base.buildCommit = "1f41bfe"
    base.cpuInfo = "A CPU"
    base.instructionSet = "avx512vnni"
    base.modelFilename = ".cache/models/SmolLM2-135M-Instruct.\(weights).afmw"
    base.modelType = "llama \(weights)"
    base.modelByteCount = memory
    base.weightByteCount = memory
    base.fileByteCount = file
    base.modelParameterCount = 134_515_008
    base.threadCount = 2
    base.availableCoreCount = 2
    base.keyElement = "f16"
    base.valueElement = "f16"
    base.contextLimit = 8_192
    base.contextLimitSource = "model"
    base.sampleNanoseconds = [1, 2, 3, 4, 5, 6]
    base.cacheBytesAllocated = 13_000_000
    base.tier = "on-device"
    var rows: [RunRow] = []
    for (test, prompt, generated) in [("pp512", 512, 0), ("tg128", 0, 128)] {
      var row = base
      row.test = test
      row.promptTokenCount = prompt
      row.generatedTokenCount = generated
      row.standsFor = ["private-cloud none"]
      rows.append(row)
    }
    for level in ["none", "light", "moderate"] {
      for turn in 1...2 {
        var row = base
        row.test = "chat"
        row.turn = turn
        row.reasoning = level
        row.promptTokenCount = 30
        row.generatedTokenCount = 64
        row.tier = level == "none" ? "on-device" : "private-cloud"
        row.tierIsModelled = level != "none"
        if level == "none" { row.standsFor = ["private-cloud none"] }
        if level == "moderate" { row.standsFor = ["private-cloud deep"] }
        rows.append(row)
      }
    }
    // As many rows as there are where deep differs from moderate.
    rows += rows.suffix(2).map {
      var row = $0
      row.test = "chat"
      row.reasoning = "deep"
      row.standsFor = []
      return row
    }
    for index in rows.indices {
      fill(&rows[index], index)
      if rows[index].reasoning == "light" && rows[index].turn == 2 {
        rows[index].setVerdict(
          Verdict(findings: [
            VerdictFinding(
              reason: .spread, words: "the samples spread by 6.5 % (limit 5.0 %)"),
            VerdictFinding(
              reason: .competingLoad, words: "others took 27.0 % of CPU time (limit 5.0 %)"),
          ]))
      }
    }
    return rows
  }

  private static func fill(_ row: inout RunRow, _ index: Int) {
    row.prefillTokensPerSecond = 700.25
    row.prefillRateSamples = [690, 695, 700, 701, 702, 710]
    row.prefillRateInterval = Interval(low: 690, high: 710)
    if row.test != "pp512" {
      row.decodeTokensPerSecond = 100
      row.decodeRateSamples = [98, 99, 100, 100.5, 102, 103]
      row.decodeRateInterval = Interval(low: 98, high: 103)
      row.ttftNanoseconds = 48_000_000
      row.ttfoNanoseconds = row.reasoning == "none" ? 48_000_000 : 612_345_678
      row.memoryBandwidthUtilisation = 0.72
    }
    row.setVerdict(
      Verdict(findings: [
        VerdictFinding(
          reason: .competingLoad, words: "others took \(8 + index).0 % of CPU time (limit 5.0 %)")
      ]))
  }
}
