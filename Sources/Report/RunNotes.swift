import BenchCore

/// What stands below a run's tables: which model is faster at what, what disturbed the machine and
/// what helps against it, and what the rows' letters mean.
struct RunNotes {
  private let rows: [RunRow]
  private let table: RunTable
  private let options: ReportOptions

  init(_ rows: [RunRow], table: RunTable, options: ReportOptions) {
    self.rows = rows
    self.table = table
    self.options = options
  }

  var text: String {
    var sections: [[String]] = [RunComparison(rows).sentences, trust + remarks]
    let missing = table.missingColumns.map(\.title)
    sections.append(
      Self.builds(rows)
        + (missing.isEmpty
          ? [] : ["\(options.width) columns have no room for \(missing.joined(separator: ", "))."])
        + ["--explain says what this means, --wide has every figure."])
    if options.explains { sections.append(Self.definitions) }
    return sections.filter { !$0.isEmpty }.map { lines in
      lines.map { FittedText.wrapped($0, to: options.width, indent: "   ") }.joined()
    }.joined(separator: "\n")
  }

  // MARK: - Whether to believe it

  /// Why rows are not trusted, the machine's reasons once, and what helps.
  private var trust: [String] {
    var lines = table.reasons.groups.enumerated().map { index, group in
      "\(RowReasons.letter(index)): \(group.text)"
        + (group.count > 1 ? ", \(group.count) rows" : "")
    }
    let suspect = rows.filter { $0.verdict != .trusted }
    guard !suspect.isEmpty else {
      return lines + ["Nothing speaks against \(rows.count == 1 ? "the row" : "any row")."]
    }
    var machine = RowReasons()
    for (reason, words) in rows.flatMap(\.findings) where reason.isOfMachine { machine.add(words) }
    let noisy = rows.count { $0.verdict == .noisy }
    let invalid = rows.count { $0.verdict == .invalid }
    var line = [(noisy, "noisy"), (invalid, "invalid")].filter { $0.0 > 0 }
      .map { "\($0.0) of \(rows.count) rows \($0.0 == 1 ? "is" : "are") \($0.1)" }
      .joined(separator: ", ")
    if !machine.groups.isEmpty {
      line += ". The machine: " + machine.groups.map(\.text).joined(separator: "; ")
    }
    lines.append(line + ".")
    if let advice { lines.append(advice) }
    return lines
  }

  /// What to do about noise, by its reasons.
  private var advice: String? {
    let found = Set(rows.flatMap(\.verdictReasons))
    var advice: [String] = []
    if !found.isDisjoint(with: [.competingLoad, .cpuPressure]) {
      advice.append("stop other programs, or leave them a core (--polite, a smaller -t)")
    }
    if found.contains(.stealTime) {
      advice.append("take a host that is not shared (stolen time)")
    }
    if found.contains(.majorFaults) { advice.append("run it again with the files in memory") }
    if found.contains(.clockChanged) {
      advice.append("fix the clock (governor performance)")
    }
    if !found.isDisjoint(with: [.spread, .drift, .tooFewSamples]) {
      let most = rows.map(\.sampleNanoseconds.count).max() ?? 0
      advice.append("repeat more often (-r \(max(12, 2 * most)))")
    }
    return advice.isEmpty ? nil : "Quieter: " + advice.joined(separator: "; ") + "."
  }

  // MARK: - What else is to be known

  private var remarks: [String] {
    var lines: [String] = []
    for row in rows where row.tierIsModelled || row.standsFor.contains(where: isModelled) {
      let tier = row.tierIsModelled ? row.tier : Tiers.modelled
      lines.append(
        "\(tier) is modelled: served in this process on the same kernels, without its network.")
      break
    }
    lines += sharedCells
    if let row = rows.first(where: { $0.contextLimitSource == "model" }) {
      lines.append(
        "The model's context of \(row.contextLimit) is smaller than the tier's, and holds.")
    }
    return lines
  }

  private enum Tiers { static let modelled = "private-cloud" }

  private func isModelled(_ cell: String) -> Bool { cell.hasPrefix(Tiers.modelled) }

  /// The cells that are equal to others, by what they are equal to.
  private var sharedCells: [String] {
    var order: [String] = []
    var tests: [String: [String]] = [:]
    func add(_ row: RunRow, _ sentence: String) {
      if tests[sentence] == nil { order.append(sentence) }
      let test = row.test + (row.turn.map { " \($0)" } ?? "")
      if !tests[sentence, default: []].contains(test) { tests[sentence, default: []].append(test) }
    }
    for row in rows {
      let place = "\(row.tier) \(row.reasoning)"
      for cell in row.standsFor {
        add(row, "\(cell) is token for token \(place), and was not run again")
      }
      if let cell = row.sameAs { add(row, "\(place) is token for token \(cell)") }
    }
    return order.map { "\($0): \(tests[$0, default: []].joined(separator: ", "))." }
  }

  static func builds(_ rows: [RunRow]) -> [String] {
    var seen: [String] = []
    for row in rows {
      let line = "build: \(row.buildCommit) (\(row.buildNumber)), CPU: \(row.cpuInfo)"
      if !seen.contains(line) { seen.append(line) }
    }
    return seen
  }

  private static let definitions = MetricDefinition.all.map { "- \($0.name): \($0.meaning)" }
}
