import BenchCore

/// The table of a run as it is read on a terminal: a line per row as soon as the row is known, the
/// facts of a model once above its rows.
///
///     ### SmolLM2-135M-Instruct.s8c.afmw
///     llama s8c, 134.52 M parameters, 129.16 MiB in memory (116.01 MiB file), avx512vnni, …
///
///     |tier     |test |reasoning|prefill t/s|decode t/s|     95 %|TTFT ms|…|verdict  |
///     |---------|-----|---------|----------:|---------:|--------:|------:|…|---------|
///     |on-device|tg128|none     |      116.7|     111.0| 82.7–114|   8.62|…|noisy a  |
///
/// Column widths are fixed before the first row, by what is planned: no later row can widen them.
struct RunTable {
  /// What rows of one table share.
  private struct Section: Hashable {
    var file: String
    var threadCount: Int
    var instructionSet: String
  }

  private let width: Int
  private let layout: RunTableLayout
  private let caches: [String]
  private var section: Section?
  private var shownFiles: [String: String] = [:]
  private(set) var reasons = RowReasons()

  init(width: Int, planned: [RunRow]) {
    self.width = width
    var caches: [String] = []
    for row in planned where !caches.contains(row.cache) { caches.append(row.cache) }
    self.caches = caches
    let labels = planned.map { Self.label($0, caches: caches) }
    layout = RunTableLayout(
      width: width, tierWidth: planned.map { DisplayWidth.of($0.tier) }.max() ?? 0,
      testWidth: labels.map(DisplayWidth.of).max() ?? 0)
  }

  /// The columns that this width has no room for.
  var missingColumns: [RunTableLayout.Column] { layout.missing }

  /// The row's line, below the heading where it is the first of its table.
  mutating func add(_ row: RunRow) -> String {
    let next = Section(
      file: row.modelFilename, threadCount: row.threadCount, instructionSet: row.instructionSet)
    var text = ""
    if next != section {
      text = (section == nil ? "" : "\n") + heading(row) + "\n" + layout.heading
      section = next
    }
    return text + layout.line { cell($0, row) }
  }

  // MARK: - Above a table

  private mutating func heading(_ row: RunRow) -> String {
    let name = row.modelFilename.split(separator: "/").last.map(String.init) ?? ""
    // Two files of one name are told apart by their paths.
    let known = shownFiles[name, default: row.modelFilename]
    shownFiles[name] = known
    let title = known == row.modelFilename ? name : row.modelFilename
    var size = Figure.binarySize(row.modelByteCount) + " in memory"
    if let file = row.fileByteCount { size += " (\(Figure.binarySize(file)) file)" }
    var threads = "\(row.threadCount) thread\(row.threadCount == 1 ? "" : "s")"
    if let cores = row.availableCoreCount, cores < row.threadCount {
      threads += " on \(cores) core\(cores == 1 ? "" : "s"): oversubscribed"
    }
    let facts = [
      row.modelType, "\(Figure.count(row.modelParameterCount)) parameters", size,
      row.instructionSet, threads, "KV " + caches.joined(separator: " and "),
    ].joined(separator: ", ")
    return FittedText.cut("### \(title)", to: width) + "\n"
      + FittedText.wrapped(facts, to: width)
  }

  // MARK: - A row

  private static func label(_ row: RunRow, caches: [String]) -> String {
    var label = row.test
    if row.test == "chat", let turn = row.turn { label += " \(turn)" }
    if row.sessionCount > 1 { label += " x\(row.sessionCount)" }
    if row.depth > 0 { label += " @ d\(row.depth)" }
    if row.prefillLayers == "all" { label += ", all layers" }
    if caches.count > 1 { label += " \(row.cache)" }
    if let adapter = row.adapter {
      let name = adapter.split(separator: "/").last.map(String.init) ?? adapter
      label += " + \(name)"
    }
    return label
  }

  private mutating func cell(_ column: RunTableLayout.Column, _ row: RunRow) -> String {
    let width = layout.width(of: column)
    switch column {
    case .tier: return row.tier
    case .test: return Self.label(row, caches: caches)
    case .reasoning: return row.reasoning
    case .prefill: return Figure.rate(row.prefillTokensPerSecond, width: width)
    case .decode: return Figure.rate(row.decodeTokensPerSecond, width: width)
    case .interval:
      let isDecode = row.decodeTokensPerSecond != nil
      return Figure.interval(
        isDecode ? row.decodeRateInterval : row.prefillRateInterval, width: width)
    case .ttft: return Figure.milliseconds(row.ttftNanoseconds, width: width)
    case .ttfo: return Figure.milliseconds(row.ttfoNanoseconds, width: width)
    case .cacheMemory:
      return Figure.short(
        row.error == nil ? Double(row.cacheBytesAllocated) / 1_048_576 : nil, width: width)
    case .bandwidth: return Figure.wholePercent(row.memoryBandwidthUtilisation)
    case .verdict: return row.verdict.rawValue + reasons.marks(of: row)
    }
  }
}

extension RunRow {
  /// How keys and values are stored, as the tables write it.
  var cache: String { "\(keyElement)/\(valueElement)" }
}
