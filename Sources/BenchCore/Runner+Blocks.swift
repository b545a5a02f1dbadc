import Tiers

/// What a run tells while it measures.
package enum RunEvent {
  /// The cells of another test are measured from now on, in turns.
  case block
  /// A request is about to begin.
  case request(RunProgress)
  /// All repetitions of a cell are done, or as many as there was time for, or it has failed.
  case measured(CellMeasurement)
}

/// How far a run is.
package struct RunProgress: Sendable {
  /// What is measured: `tg128 on-device none, 3 of 6`.
  package var what: String
  /// Requests, of one engine.
  package var done: Int
  package var total: Int
  /// What is left of it, judged by what the requests have taken so far; nil before the first one.
  package var secondsLeft: Double?
}

extension Runner {
  /// Measures everything, and hands out each cell when it is done. Returns whether it came to its
  /// end: where it is interrupted, the cells that have samples are handed out with those.
  package mutating func run(_ hear: (RunEvent) throws -> Void) throws -> Bool {
    defer { closeSessions() }
    var clock = RunClock(configuration)
    for cells in configuration.blocks {
      try hear(.block)
      guard try run(CellBlock(cells, configuration), &clock, hear) else { return false }
    }
    return true
  }

  /// Measures the cells of one test in turns.
  private mutating func run(
    _ cells: CellBlock, _ clock: inout RunClock, _ hear: (RunEvent) throws -> Void
  ) throws -> Bool {
    var block = cells
    let droppedBefore = droppedEvents
    func handOut(_ entries: [CellBlock.Entry]) throws {
      for entry in entries {
        for var measurement in entry.turns {
          measurement.droppedEvents = droppedEvents - droppedBefore
          try hear(.measured(measurement))
        }
      }
    }
    for repetition in -configuration.warmups..<configuration.repetitions {
      for index in block.indices {
        guard block.isMeasured(index) else {
          clock.leaveOut(block[index].cell)
          continue
        }
        let cell = block[index].cell
        let name = "\(name(cell)), \(phase(repetition))"
        try hear(.request(clock.progress(name)))
        guard !isInterrupted() else {
          try handOut(block.takeAll())
          return false
        }
        do {
          let began = Timestamp.now()
          let samples = try serve(cell, repetition: repetition)
          block.add(samples, to: index, isWarmup: repetition < 0, began: began)
          clock.add(cell, samples)
        } catch TierError.interrupted {
          try handOut(block.takeAll())
          return false
        } catch {
          block.fail(index, "\(error)")
          clock.leaveOut(cell)
        }
        if repetition == configuration.repetitions - 1 {
          try handOut(block.take(through: index))
        }
      }
      if repetition == -configuration.warmups {
        if configuration.sharesEqualLevels { block.shareEqualLevels() }
        block.noteEqualTurns()
      }
    }
    try handOut(block.takeAll())
    return true
  }

  private func name(_ cell: RunCell) -> String {
    "\(cell.test.name) \(cell.tier.rawValue) \(cell.reasoning.rawValue)"
      + (cell.adapter.map { " \($0)" } ?? "")
  }

  private func phase(_ repetition: Int) -> String {
    repetition < 0 ? "warm-up" : "\(repetition + 1) of \(configuration.repetitions)"
  }
}

/// The cells of one test, and what is known of each.
struct CellBlock {
  struct Entry {
    var cell: RunCell
    /// A measurement per turn of a conversation, one of any other test.
    var turns: [CellMeasurement]
    /// What the first requests said, turn by turn.
    var texts: [TurnTokens]?
    /// The entry that has the same requests, token for token.
    var equal: Int?

    var hasFailed: Bool { turns.contains { $0.failure != nil } }
  }

  /// All tokens of a turn.
  struct TurnTokens: Hashable {
    var prompt: [Int32]
    var reasoning: [Int32]
    var response: [Int32]
  }

  private var entries: [Entry]
  private var takenCount = 0

  init(_ cells: [RunCell], _ configuration: RunnerConfiguration) {
    entries = cells.map { cell in
      let turns = (0..<cell.turnCount(configuration.conversation)).map { turn in
        var turnCell = cell
        turnCell.turn = turn + 1
        return CellMeasurement(cell: turnCell)
      }
      return Entry(cell: cell, turns: turns)
    }
    guard configuration.sharesEqualTiers else { return }
    for index in entries.indices where entries[index].cell.reasoning == .none {
      entries[index].equal = entries[..<index].firstIndex { earlier in
        var cell = earlier.cell
        cell.tier = entries[index].cell.tier
        return cell == entries[index].cell
      }
    }
  }

  var indices: Range<Int> { entries.indices }

  subscript(index: Int) -> Entry { entries[index] }

  /// Whether the cell is run: not where it has failed, nor where an equal one is run for it.
  func isMeasured(_ index: Int) -> Bool {
    !entries[index].hasFailed && root(index) == index
  }

  /// The entry that is measured for that one: itself where its like could not be measured.
  private func root(_ index: Int) -> Int {
    guard let equal = entries[index].equal else { return index }
    let root = root(equal)
    return entries[root].hasFailed ? index : root
  }

  mutating func add(_ samples: [ServedRequest], to index: Int, isWarmup: Bool, began: String) {
    for (turn, sample) in samples.enumerated() {
      entries[index].turns[turn].add(sample, isWarmup: isWarmup, began: began)
    }
    if entries[index].texts == nil {
      entries[index].texts = samples.map {
        TurnTokens(
          prompt: $0.promptTokens, reasoning: $0.reasoningTokens, response: $0.responseTokens)
      }
    }
  }

  mutating func fail(_ index: Int, _ reason: String) {
    for turn in entries[index].turns.indices { entries[index].turns[turn].failure = reason }
  }

  /// Finds the levels that say token for token what a lower one says: they end before its budget.
  mutating func shareEqualLevels() {
    for index in entries.indices where isMeasured(index) {
      entries[index].equal = lowerLevels(index).first { equalTurns($0, index) == turnCount(index) }
    }
  }

  /// Says of the turns that are measured again what they are equal to: of a conversation the first
  /// turns may be equal and later ones not.
  mutating func noteEqualTurns() {
    for index in entries.indices where isMeasured(index) {
      for lower in lowerLevels(index) {
        for turn in 0..<equalTurns(lower, index) where entries[index].turns[turn].sameAs == nil {
          entries[index].turns[turn].sameAs = entries[lower].cell.place
        }
      }
    }
  }

  /// The measured cells that differ from one in having a lower level.
  private func lowerLevels(_ index: Int) -> [Int] {
    entries[..<index].indices.filter { earlier in
      var cell = entries[earlier].cell
      cell.reasoning = entries[index].cell.reasoning
      return cell == entries[index].cell && isMeasured(earlier)
    }
  }

  private func turnCount(_ index: Int) -> Int { entries[index].turns.count }

  /// The turns from the first on that say the same in both.
  private func equalTurns(_ a: Int, _ b: Int) -> Int {
    zip(entries[a].texts ?? [], entries[b].texts ?? []).prefix { $0 == $1 }.count
  }

  /// What is to be handed out up to an entry, in the cells' order, each once.
  mutating func take(through last: Int) -> [Entry] {
    guard last >= takenCount else { return [] }
    defer { takenCount = last + 1 }
    return (takenCount...last).filter { index in
      root(index) == index
        && (entries[index].hasFailed || entries[index].turns.contains { !$0.samples.isEmpty })
    }.map { index in
      var entry = entries[index]
      let others = entries.indices.filter { $0 != index && root($0) == index }
      let names = others.map { entries[$0].cell.place }
      for turn in entry.turns.indices { entry.turns[turn].standsFor = names }
      return entry
    }
  }

  mutating func takeAll() -> [Entry] { take(through: entries.count - 1) }
}

extension RunCell {
  /// The tier and the level: `private-cloud none`.
  fileprivate var place: String { "\(tier.rawValue) \(reasoning.rawValue)" }
}

/// Judges the time that is left by the time that requests have taken: of a cell that has run, its
/// own; of another one by its tokens.
struct RunClock {
  private let requestCount: Int
  private var remaining: [RunCell: Int] = [:]
  private var seconds: [RunCell: Double] = [:]
  private var doneCount = 0
  private var weights: [RunCell: Double] = [:]

  init(_ configuration: RunnerConfiguration) {
    let each = configuration.repetitions + configuration.warmups
    for cell in configuration.cells {
      remaining[cell] = each
      weights[cell] = Self.weight(cell, configuration)
    }
    requestCount = configuration.cells.count * each
  }

  /// Tokens that are generated, and an eighth of those that are prefilled, which take less each.
  private static func weight(_ cell: RunCell, _ configuration: RunnerConfiguration) -> Double {
    let budget = Double(
      configuration.reasoningBudgets[cell.reasoning] ?? cell.reasoning.tokenBudget)
    switch cell.test {
    case .fixed(let test):
      return budget + Double(test.generatedTokenCount) + Double(test.promptTokenCount) / 8 + 1
    case .chat(let maximum):
      return Double(configuration.conversation.prompts.count) * (budget + Double(maximum) + 8)
    }
  }

  mutating func add(_ cell: RunCell, _ samples: [ServedRequest]) {
    doneCount += 1
    remaining[cell, default: 1] -= 1
    seconds[cell] = samples.reduce(0) { $0 + Double($1.ended - $1.submitted) / 1e9 }
  }

  /// A request that will not be made.
  mutating func leaveOut(_ cell: RunCell) {
    doneCount += 1
    remaining[cell, default: 1] -= 1
  }

  func progress(_ what: String) -> RunProgress {
    RunProgress(what: what, done: doneCount, total: requestCount, secondsLeft: secondsLeft)
  }

  private var secondsLeft: Double? {
    let known = seconds.reduce(into: (seconds: 0.0, weight: 0.0)) { sum, cell in
      sum.seconds += cell.value
      sum.weight += weights[cell.key] ?? 0
    }
    guard known.weight > 0 else { return nil }
    return remaining.reduce(0) { sum, cell in
      let each = seconds[cell.key] ?? (weights[cell.key] ?? 0) * known.seconds / known.weight
      return sum + Double(max(cell.value, 0)) * each
    }
  }
}
