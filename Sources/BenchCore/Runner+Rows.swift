import EngineInterface
import Tiers

extension CellMeasurement {
  /// The row of this cell, all figures of its requests computed; the machine, the build and the
  /// verdict are the caller's.
  package func row(
    facts: EngineFacts, modelFilename: String, configuration: RunnerConfiguration
  ) -> RunRow {
    var row = RunRow(facts: facts, modelFilename: modelFilename)
    row.test = cell.test.name
    row.batchTokens = configuration.batchTokens
    row.microBatchTokens = configuration.batchTokens
    row.prefillLayers = configuration.runsAllLayers ? "all" : "needed"
    row.adapter = cell.adapter
    row.keyElement = cell.keyElement
    row.valueElement = cell.valueElement
    row.depth = cell.test.depth
    row.sessionCount = cell.sessionCount
    row.setTier(
      cell.tier,
      context: cell.tier.effectiveContext(trainedContextLength: facts.trainedContextLength),
      reasoning: cell.reasoning,
      reasoningBudget: configuration.reasoningBudgets[cell.reasoning]
        ?? cell.reasoning.tokenBudget)
    switch cell.test {
    case .fixed(let test):
      row.promptTokenCount = test.promptTokenCount
      row.generatedTokenCount = test.generatedTokenCount
    case .chat:
      row.turn = cell.turn
      row.promptTokenCount = samples.last?.promptTokenCount ?? 0
      row.generatedTokenCount = samples.last?.tokenTimes.count ?? 0
    }
    row.testTime = began ?? Timestamp.now()
    row.warmupCount = configuration.warmups
    row.warmupNanoseconds = warmupNanoseconds
    row.record(samples, phase: cell.test.phase, seed: configuration.seed)
    row.error = failure
    return row
  }
}
