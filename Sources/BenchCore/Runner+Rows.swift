import EngineInterface
import Tiers

extension CellMeasurement {
  /// The row of this cell, all figures of its requests computed; the machine, the build and the
  /// verdict are the caller's.
  package func row(
    facts: EngineFacts, modelFilename: String, configuration: RunnerConfiguration
  ) -> RunRow {
    var row = RunRow(facts: facts, modelFilename: modelFilename)
    cell.describe(&row, configuration)
    row.setTier(
      cell.tier,
      context: cell.tier.effectiveContext(trainedContextLength: facts.trainedContextLength),
      reasoning: cell.reasoning,
      reasoningBudget: configuration.reasoningBudgets[cell.reasoning]
        ?? cell.reasoning.tokenBudget)
    if case .chat = cell.test {
      row.promptTokenCount = samples.last?.promptTokenCount ?? 0
      row.generatedTokenCount = samples.last?.tokenTimes.count ?? 0
    }
    row.standsFor = standsFor
    row.sameAs = sameAs
    row.testTime = began ?? Timestamp.now()
    row.warmupCount = configuration.warmups
    row.warmupNanoseconds = warmupNanoseconds
    row.error = failure
    // Where it failed later on, the earlier samples are no measurement of what was asked for.
    if failure == nil {
      row.record(samples, phase: cell.test.phase, seed: configuration.seed)
    }
    return row
  }
}

extension RunnerConfiguration {
  /// The rows that a run of this configuration would give, without figures: what tables need to
  /// know of all rows before the first one is measured.
  package var plannedRows: [RunRow] {
    cells.flatMap { cell in
      (0..<cell.turnCount(conversation)).map { turn in
        var turnCell = cell
        turnCell.turn = turn + 1
        var row = RunRow()
        turnCell.describe(&row, self)
        row.tier = cell.tier.rawValue
        row.reasoning = cell.reasoning.rawValue
        return row
      }
    }
  }
}

extension RunCell {
  func turnCount(_ conversation: Conversation) -> Int {
    if case .chat = test { conversation.prompts.count } else { 1 }
  }

  /// Sets what a row says of its cell before anything is measured.
  fileprivate func describe(_ row: inout RunRow, _ configuration: RunnerConfiguration) {
    row.test = test.name
    row.batchTokens = configuration.batchTokens
    row.microBatchTokens = configuration.batchTokens
    row.prefillLayers = configuration.runsAllLayers ? "all" : "needed"
    row.adapter = adapter
    row.keyElement = keyElement
    row.valueElement = valueElement
    row.depth = test.depth
    row.sessionCount = sessionCount
    switch test {
    case .fixed(let test):
      row.promptTokenCount = test.promptTokenCount
      row.generatedTokenCount = test.generatedTokenCount
    case .chat: row.turn = turn
    }
  }
}
