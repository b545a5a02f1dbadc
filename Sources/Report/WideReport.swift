import BenchCore

/// Every figure of a run's rows in tables as wide as they are: rates as llama-bench shows them,
/// then for each tier its latencies, its context and cache, what speaks against a row, and what the
/// words mean. Footnotes say why a figure is missing.
///
///     | model     | file         | … | tier      | test  | frontier |            t/s |
///     | --------- | ------------ | … | --------- | ----- | -------: | -------------: |
///     | llama s8c | smollm2.afmw | … | on-device | pp512 |        0 | 702.10 ±  3.20 |
struct WideReport {
  private let rows: [RunRow]
  private var footnotes = Footnotes()

  init(_ rows: [RunRow]) { self.rows = rows }

  /// The report; ends with a line end.
  var text: String {
    var copy = self
    return copy.compose()
  }

  private mutating func compose() -> String {
    guard !rows.isEmpty else { return "No results.\n" }
    var sections = [rates()]
    for tier in tiers {
      let served = rows.filter { $0.tier == tier.name }
      sections.append("### \(tier.heading)\n\n" + latencies(served))
      sections.append(contexts(served))
    }
    if !footnotes.isEmpty { sections.append(footnotes.text) }
    sections.append(builds)
    sections.append(Self.legend)
    return sections.joined(separator: "\n")
  }

  /// The tiers in the order of their first rows.
  private var tiers: [(name: String, heading: String)] {
    var seen: [(name: String, heading: String)] = []
    for row in rows where !seen.contains(where: { $0.name == row.tier }) {
      var notes = row.tierIsModelled ? ["modelled: served in this process"] : []
      if row.contextLimitSource == "model" {
        notes.append("the model's context of \(row.contextLimit) is the smaller limit")
      }
      seen.append(
        (row.tier, row.tier + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))")))
    }
    return seen
  }

  // MARK: - The tables

  private mutating func rates() -> String {
    var table = TextTable([
      .init("model", .left), .init("file", .left),
      .init("size"), .init("params"), .init("isa", .left),
      .init("threads"), .init("KV", .left),
      .init("tier", .left), .init("reasoning", .left),
      .init("test", .left), .init("frontier"), .init("t/s"),
      .init("verdict", .left),
    ])
    for row in rows {
      table.append([
        row.modelType, row.modelFilename.split(separator: "/").last.map(String.init) ?? "",
        Figure.binarySize(row.modelByteCount), Figure.count(row.modelParameterCount),
        row.instructionSet, "\(row.threadCount)", "\(row.keyElement)/\(row.valueElement)",
        row.tierIsModelled ? "\(row.tier) (modelled)" : row.tier, row.reasoning, Self.label(row),
        Figure.integer(row.measuredFrontier), rate(row), verdict(row),
      ])
    }
    return table.text
  }

  private mutating func latencies(_ rows: [RunRow]) -> String {
    var table = TextTable([
      .init("model", .left), .init("test", .left),
      .init("reasoning", .left),
      .init("TTFT ms"), .init("TTFO ms"), .init("TPOT ms"),
      .init("ITL P50 ms"), .init("ITL P90 ms"), .init("ITL P99 ms"),
      .init("prefill t/s @ frontier"), .init("decode t/s @ frontier"),
      .init("reasoning/output tokens"), .init("verdict", .left),
    ])
    for row in rows {
      table.append([
        row.modelType, Self.label(row), row.reasoning,
        time(row.ttftNanoseconds, row.ttftInterval, row),
        time(row.ttfoNanoseconds, row.ttfoInterval, row),
        time(row.tpotNanoseconds, row.tpotInterval, row),
        time(row.itlP50Nanoseconds, row.itlP50Interval, row),
        percentile("P90", row.itlP90Nanoseconds, row),
        percentile("P99", row.itlP99Nanoseconds, row),
        Figure.rate(row.prefillTokensPerSecond, at: row.prefillContextFrontier),
        Figure.rate(row.decodeTokensPerSecond, at: row.decodeContextFrontier),
        "\(row.reasoningTokenCount)/\(row.outputTokenCount)", verdict(row),
      ])
    }
    return table.text
  }

  private func contexts(_ rows: [RunRow]) -> String {
    var table = TextTable([
      .init("model", .left), .init("test", .left),
      .init("reasoning", .left),
      .init("context used/limit"), .init("whose limit", .left),
      .init("instructions"), .init("tools"), .init("history"),
      .init("prompt"), .init("reasoning"), .init("response"),
      .init("KV MiB predicted"), .init("allocated"), .init("used"), .init("ideal"),
      .init("wasted"), .init("shared"), .init("MBU"), .init("peak RSS MiB"),
    ])
    for row in rows {
      let used = row.contextUsed
      table.append(
        [
          row.modelType, Self.label(row), row.reasoning, "\(used.total)/\(row.contextLimit)",
          row.contextLimitSource,
        ]
          + [
            used.instructions, used.tools, used.history, used.prompt, used.reasoning, used.response,
          ].map { "\($0)" }
          + [
            row.cacheBytesPredicted, row.cacheBytesAllocated, row.cacheBytesUsed,
            row.cacheBytesIdeal, row.cacheBytesWasted, row.cacheBytesShared,
          ].map { Figure.mebibytes($0, decimals: 2) }
          + [
            Figure.percent(row.memoryBandwidthUtilisation),
            row.peakResidentByteCount.map { Figure.mebibytes($0, decimals: 1) } ?? Figure.missing,
          ])
    }
    return table.text
  }

  // MARK: - Cells

  private static func label(_ row: RunRow) -> String {
    let turn = row.test == "chat" ? row.turn.map { " turn \($0)" } ?? "" : ""
    let layers = row.prefillLayers == "all" ? ", all layers" : ""
    let adapter = row.adapter.map { " + \($0.split(separator: "/").last ?? "")" } ?? ""
    let together = row.sessionCount > 1 ? " x\(row.sessionCount)" : ""
    return row.test + turn + together + (row.depth > 0 ? " @ d\(row.depth)" : "") + layers + adapter
  }

  private mutating func rate(_ row: RunRow) -> String {
    if let error = row.error { return Figure.missing + footnotes.mark(error) }
    guard let mean = row.averageTokensPerSecond, let deviation = row.deviationTokensPerSecond else {
      return Figure.missing + footnotes.mark("nothing to time: too few tokens")
    }
    return "\(DecimalText.fixed(mean, 2)) ± \(DecimalText.fixed(deviation, 2))"
  }

  private mutating func time(_ value: Double?, _ interval: Interval?, _ row: RunRow) -> String {
    guard let value else { return Figure.missing }
    if let interval {
      return "\(Figure.milliseconds(value)) [\(Figure.milliseconds(interval.low)), "
        + "\(Figure.milliseconds(interval.high))]"
    }
    return Figure.milliseconds(value)
      + (row.intervalRefusal.map { footnotes.mark($0) } ?? "")
  }

  private mutating func percentile(_ name: String, _ value: Double?, _ row: RunRow) -> String {
    if let value { return Figure.milliseconds(value) }
    guard !row.itlSamples.isEmpty, row.itlRefusal != nil else { return Figure.missing }
    // One note for all: the counts of each row are in the results' `itl_refusal`.
    return Figure.missing + footnotes.mark("ITL \(name) refused: too few independent gaps")
  }

  private mutating func verdict(_ row: RunRow) -> String {
    guard !row.verdictWords.isEmpty else { return row.verdict.rawValue }
    return row.verdict.rawValue + footnotes.mark(row.verdictWords.joined(separator: "; "))
  }

  // MARK: - What stands below

  private var builds: String {
    RunNotes.builds(rows).map { $0 + "\n" }.joined()
  }

  private static let legend =
    MetricDefinition.all.map { "- \($0.name): \($0.meaning)\n" }.joined()
}

/// Reasons, each numbered once.
private struct Footnotes {
  private var reasons: [String] = []

  var isEmpty: Bool { reasons.isEmpty }

  /// The mark that refers to a reason.
  mutating func mark(_ reason: String) -> String {
    if let index = reasons.firstIndex(of: reason) { return " [\(index + 1)]" }
    reasons.append(reason)
    return " [\(reasons.count)]"
  }

  /// A line a reason (two spaces end a line in Markdown); control characters become spaces.
  var text: String {
    reasons.enumerated().map { index, reason in
      "[\(index + 1)] " + TextTable.oneLine(reason) + "  \n"
    }.joined()
  }
}

extension RunRow {
  /// Where in the context the measured phase begins: for a decode test where decoding does, for
  /// every other where prefill does.
  var measuredFrontier: Int? {
    promptTokenCount == 0 ? decodeContextFrontier : prefillContextFrontier
  }
}
