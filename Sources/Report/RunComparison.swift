import BenchCore

/// A run's rows in sentences: which model, or which way to run it, is faster at what, by how much,
/// and how sure that is.
struct RunComparison {
  /// A way to run a model: what is compared.
  private struct Subject: Hashable {
    var file: String
    var threadCount: Int
    var cache: String
    var adapter: String?

    init(_ row: RunRow) {
      file = row.modelFilename
      threadCount = row.threadCount
      cache = row.cache
      adapter = row.adapter
    }
  }

  /// What is measured the same way of every subject.
  private struct Cell: Hashable {
    var test: String
    var turn: Int?
    var tier: String
    var reasoning: String
    var depth: Int
    var sessionCount: Int

    init(_ row: RunRow) {
      test = row.test
      turn = row.turn
      tier = row.tier
      reasoning = row.reasoning
      depth = row.depth
      sessionCount = row.sessionCount
    }
  }

  /// The most subjects that sentences speak of.
  static let mostSubjects = 5

  private let rows: [RunRow]
  private let subjects: [Subject]

  init(_ rows: [RunRow]) {
    self.rows = rows.filter { $0.error == nil }
    var subjects: [Subject] = []
    for row in self.rows where !subjects.contains(Subject(row)) { subjects.append(Subject(row)) }
    self.subjects = subjects
  }

  var sentences: [String] {
    guard let first = subjects.first else { return [] }
    var sentences: [String] = []
    for other in subjects.dropFirst().prefix(Self.mostSubjects - 1) {
      sentences += comparison(of: other, with: first)
    }
    if subjects.count > Self.mostSubjects {
      sentences.append("\(subjects.count - Self.mostSubjects) more are in the tables.")
    }
    return sentences + subjects.prefix(Self.mostSubjects).compactMap(pace)
  }

  // MARK: - One subject

  /// How long a first visible token takes at each level of reasoning.
  private func pace(_ subject: Subject) -> String? {
    let own = rows.filter { Subject($0) == subject && $0.test == "chat" && $0.turn == 1 }
    var seen: Set<String> = []
    let levels = own.compactMap { row -> String? in
      guard let time = row.ttfoNanoseconds, seen.insert(row.reasoning).inserted else { return nil }
      let same = row.standsFor.compactMap { $0.split(separator: " ").last.map(String.init) }
      let names = ([row.reasoning] + same.filter { seen.insert($0).inserted })
        .joined(separator: " and ")
      return "\(Figure.milliseconds(time, width: 7)) ms \(names)"
    }
    guard levels.count > 1 else { return nil }
    return "First visible token of chat 1, \(name(subject)): \(levels.joined(separator: ", "))."
  }

  // MARK: - Two subjects

  private func comparison(of subject: Subject, with base: Subject) -> [String] {
    var sentences: [String] = []
    if let pair = pair(subject, base, isDecode: true) {
      sentences.append(sentence("Decode", pair, \.decodeRateSamples))
    }
    if let pair = pair(subject, base, isDecode: false) {
      sentences.append(sentence("Prefill", pair, \.prefillRateSamples))
    }
    if let a = row(subject), let b = row(base), a.weightByteCount != b.weightByteCount,
      b.weightByteCount > 0
    {
      let share = Double(a.weightByteCount) / Double(b.weightByteCount)
      sentences.append(
        "Memory: \(name(subject)) takes \(DecimalText.fixed(share, 2)) of what \(name(base)) "
          + "takes, "
          + "\(Figure.binarySize(a.weightByteCount)) against "
          + "\(Figure.binarySize(b.weightByteCount)).")
    }
    return sentences
  }

  private func row(_ subject: Subject) -> RunRow? { rows.first { Subject($0) == subject } }

  /// The rows of both that tell most of a phase: a test of that phase alone, without depth, before
  /// any other.
  private func pair(
    _ subject: Subject, _ base: Subject, isDecode: Bool
  ) -> (RunRow, RunRow)? {
    let both = rows.filter { Subject($0) == base }.compactMap { row -> (RunRow, RunRow)? in
      guard rate(row, isDecode) != nil else { return nil }
      return rows.first {
        Subject($0) == subject && Cell($0) == Cell(row) && rate($0, isDecode) != nil
      }.map { ($0, row) }
    }
    func order(_ row: RunRow) -> (Int, Int, Int) {
      let isAlone = isDecode ? row.promptTokenCount == 0 : row.generatedTokenCount == 0
      return (isAlone ? 0 : row.test == "chat" ? 2 : 1, row.depth, row.sessionCount)
    }
    return both.min { order($0.1) < order($1.1) }
  }

  private func rate(_ row: RunRow, _ isDecode: Bool) -> Double? {
    isDecode ? row.decodeTokensPerSecond : row.prefillTokensPerSecond
  }

  /// Which of two rows is faster, the faster one first.
  private func sentence(
    _ phase: String, _ pair: (RunRow, RunRow), _ samples: (RunRow) -> [Double]
  ) -> String {
    let (row, baseRow) = pair
    var test = row.test
    if row.test == "chat", let turn = row.turn { test += " \(turn)" }
    if row.depth > 0 { test += " @ d\(row.depth)" }
    let noisy = [row, baseRow].contains { $0.verdict != .trusted } ? "; noisy rows" : ""
    let estimate = Statistics.ratio(of: samples(row), to: samples(baseRow))
    let isFaster = (estimate?.ratio ?? 1) >= 1
    let (fast, slow) = isFaster ? (row, baseRow) : (baseRow, row)
    let names = (name(Subject(fast)), name(Subject(slow)))
    let counts = "\(samples(fast).count) and \(samples(slow).count) requests\(noisy)"
    guard let estimate = Statistics.ratio(of: samples(fast), to: samples(slow)) else {
      return "\(phase): undecided between \(names.0) and \(names.1); an interval needs 4 requests "
        + "of each (\(test): \(counts))."
    }
    let ratio = DecimalText.fixed(estimate.ratio, 2)
    let interval =
      "\(test): 95 % \(DecimalText.fixed(estimate.interval.low, 2))–"
      + DecimalText.fixed(estimate.interval.high, 2)
    guard estimate.isDecided else {
      return "\(phase): undecided between \(names.0) and \(names.1); \(ratio) times as fast "
        + "(\(interval) includes 1; \(counts))."
    }
    return "\(phase): \(names.0) is \(ratio) times as fast as \(names.1) (\(interval); \(counts))."
  }

  // MARK: - Names

  /// What tells the subject from the others.
  private func name(_ subject: Subject) -> String {
    var parts: [String] = []
    let files = Set(subjects.map(\.file))
    if files.count > 1 || subjects.count == 1 {
      parts.append(Self.shortNames(files)[subject.file] ?? subject.file)
    }
    if Set(subjects.map(\.threadCount)).count > 1 { parts.append("-t \(subject.threadCount)") }
    if Set(subjects.map(\.cache)).count > 1 { parts.append("KV \(subject.cache)") }
    if Set(subjects.map(\.adapter)).count > 1 {
      let file = subject.adapter?.split(separator: "/").last.map(String.init)
      parts.append(file.map { FittedText.cut($0, to: 32) } ?? "no adapter")
    }
    return parts.joined(separator: ", ")
  }

  /// Names without what all of them begin and end with, part by part: `s8c` of
  /// `SmolLM2-135M-Instruct.s8c.afmw`.
  static func shortNames(_ paths: Set<String>) -> [String: String] {
    let names = paths.map { path in
      (path: path, parts: parts(of: path.split(separator: "/").last.map(String.init) ?? path))
    }
    let shortest = names.map(\.parts.count).min() ?? 0
    guard let first = names.first, names.count > 1 else {
      return Dictionary(uniqueKeysWithValues: names.map { ($0.path, fileName($0.path)) })
    }
    let begin =
      (0..<shortest).first { index in
        names.contains { $0.parts[index] != first.parts[index] }
      } ?? shortest
    let end =
      (0..<(shortest - begin)).first { index in
        names.contains {
          $0.parts[$0.parts.count - 1 - index] != first.parts[first.parts.count - 1 - index]
        }
      } ?? shortest - begin
    let short = names.map { name in
      name.parts[begin..<(name.parts.count - end)].joined()
        .trimmingSeparators
    }
    let isClear = Set(short).count == short.count && !short.contains("")
    return Dictionary(
      uniqueKeysWithValues: zip(names, short).map { name, short in
        (name.path, FittedText.cut(isClear ? short : name.path, to: 32))
      })
  }

  private static func fileName(_ path: String) -> String {
    FittedText.cut(path.split(separator: "/").last.map(String.init) ?? path, to: 48)
  }

  /// The words of a name, each with the dot or hyphen behind it.
  private static func parts(of name: String) -> [String] {
    var parts = [""]
    for character in name {
      parts[parts.count - 1].append(character)
      if ".-_".contains(character) { parts.append("") }
    }
    return parts
  }
}

extension String {
  fileprivate var trimmingSeparators: String {
    var text = self[...]
    while let last = text.last, ".-_".contains(last) { text = text.dropLast() }
    while let first = text.first, ".-_".contains(first) { text = text.dropFirst() }
    return String(text)
  }
}
