import ArgumentParser
import BenchCore
import Foundation
import KVCache
import TensorCore
import Tiers

/// The command line of `run`, understood.
struct RunPlan {
  var models: [String]
  var threadCounts: [Int?]
  var setup: EngineSetup
  var configuration: RunnerConfiguration
  /// Tokens of a prefill batch, as results name it; the configuration has those of a step.
  var batchTokens: Int
  /// Seconds before each repetition of a test except the first.
  var delay: Double
  var showsProgress: Bool
  var isVerbose: Bool
  var bundle: String?
  var trace: String?

  init(_ command: RunCommand) throws {
    models = try Self.models(command.models)
    setup = command.setup
    batchTokens = command.batchTokens
    delay = command.pacing.delay
    showsProgress = command.report.progress
    isVerbose = command.report.verbose
    bundle = command.bundle
    trace = command.trace
    do throws(RunPlanError) {
      threadCounts =
        try CommaList.joined(command.threads).map { text throws(RunPlanError) in
          try Self.bounded(
            NumberList.parse(text, option: "-t", minimum: 1), by: Limits.threads, option: "-t")
        } ?? [nil]
      configuration = try Self.configuration(command.tests)
    } catch {
      throw CommandFailure(.usage, error.description)
    }
    configuration.repetitions = command.repetitions
    configuration.batchTokens = command.stepTokens
    if command.pacing.noWarmup { configuration.warmups = 0 }
    configuration.runsAllLayers = command.allLayers
    if !command.adapter.isEmpty {
      configuration.adapters = command.adapter.map { $0 == "none" ? nil : $0 }
    }
    let sessions = CommaList.joined(command.sessions) ?? "1"
    configuration.sessionCounts = try Self.sessionCounts(sessions)
    guard !configuration.isEmpty else {
      throw CommandFailure(
        .usage,
        "--sessions \(sessions): conversations and reasoning are one session's, and nothing "
          + "else is asked for")
    }
    configuration.keyElements = try Self.elements(command.cache.keyElements, option: "-ctk")
    configuration.valueElements = try Self.elements(
      command.cache.valueElements, option: "-ctv")
    if !command.tests.promptFile.isEmpty {
      configuration.conversation.prompts = try command.tests.promptFile.map(Self.prompt)
      configuration.conversation.instructions = command.tests.instructions
    } else if let instructions = command.tests.instructions {
      configuration.conversation.instructions = instructions
    }
  }

  /// The models that are named, or those there are; `a,b` is two, as in llama-bench, unless there is
  /// such a file.
  static func models(_ names: [String]) throws -> [String] {
    if let reason = StrayNumber.reason(in: names, arguments: CommandLine.arguments) {
      throw CommandFailure(.usage, reason)
    }
    let exists = FileManager.default.fileExists(atPath:)
    let models = names.flatMap { exists($0) ? [$0] : CommaList.items($0) }
    return models.isEmpty ? try defaultModels() : models
  }

  /// What tools/bench packs, in the order of their names.
  private static func defaultModels() throws -> [String] {
    let folder = ".cache/models"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let models = names.filter { $0.hasSuffix(".afmw") }.sorted().map { "\(folder)/\($0)" }
    guard !models.isEmpty else {
      throw CommandFailure(
        .usage, "no model is given, and \(folder) has none: tools/bench packs the default set")
    }
    return models
  }

  private static func configuration(
    _ options: TestOptions
  ) throws(RunPlanError) -> RunnerConfiguration {
    let prompts = try list(options.promptTokens, option: "-p")
    let generations = try list(options.generatedTokens, option: "-n")
    var pairs: [(prompt: Int, generated: Int)] = []
    for pair in options.pairs {
      pairs.append(try NumberList.parsePair(CommaList.normalized(pair), option: "-pg"))
    }
    let depths = try list(options.depths, option: "-d")
    for pair in pairs {
      _ = try bounded([pair.prompt, pair.generated], by: Limits.tokens, option: "-pg")
    }
    guard (prompts.count + generations.count + pairs.count) * depths.count <= Limits.tests else {
      throw RunPlanError(
        option: "-d", text: CommaList.joined(options.depths) ?? "",
        reason: "more than \(Limits.tests) tests in all")
    }
    let isDefault =
      options.promptTokens.isEmpty && options.generatedTokens.isEmpty && pairs.isEmpty
      && options.promptFile.isEmpty
    let fixed = MeasuredTest.all(
      prompts: isDefault ? [512] : prompts, generations: isDefault ? [128] : generations,
      pairs: pairs, depths: depths)
    var tests = fixed.map(RunnerConfiguration.Test.fixed)
    if isDefault || !options.promptFile.isEmpty {
      tests.append(.chat(maximumResponseTokens: options.maxTokens))
    }
    guard !tests.isEmpty else {
      throw RunPlanError(option: "-p", text: "0", reason: "there is nothing to measure")
    }
    let tiers =
      try options.tiers.map { text throws(RunPlanError) in
        try names(text, option: "--tier", known: Tier.self)
      } ?? Tier.allCases
    let levels =
      try options.reasoning.map { text throws(RunPlanError) in
        try names(text, option: "--reasoning", known: ReasoningLevel.self)
      }
    var configuration = RunnerConfiguration(
      tests: tests, tiers: tiers, reasoningLevels: levels ?? ReasoningLevel.allCases)
    if levels == nil { configuration.fixedReasoningLevels = [.none] }
    // What was asked for by name is measured, even where it is the same as something else.
    configuration.sharesEqualTiers = isDefault && options.tiers == nil && levels == nil
    configuration.sharesEqualLevels = levels == nil
    guard !configuration.isEmpty else {
      throw RunPlanError(
        option: "--reasoning", text: options.reasoning ?? "",
        reason: "none of these tiers offers that level")
    }
    configuration.reasoningBudgets = try budgets(options.reasoningBudget)
    configuration.seed = options.seed
    return configuration
  }

  private static func list(_ lists: [String], option: String) throws(RunPlanError) -> [Int] {
    guard let text = CommaList.joined(lists) else { return [] }
    return try bounded(
      NumberList.parse(text, option: option), by: Limits.tokens, option: option)
  }

  private static func bounded(
    _ values: [Int], by limit: Int, option: String
  ) throws(RunPlanError) -> [Int] {
    if let value = values.first(where: { $0 > limit }) {
      throw RunPlanError(option: option, text: "\(value)", reason: "it must be at most \(limit)")
    }
    return values
  }

  private static func names<Name: RawRepresentable & CaseIterable & Hashable>(
    _ text: String, option: String, known: Name.Type
  ) throws(RunPlanError) -> [Name] where Name.RawValue == String {
    var values: [Name] = []
    for part in CommaList.items(text) {
      guard let value = Name(rawValue: part) else {
        let all = Name.allCases.map(\.rawValue).joined(separator: ", ")
        throw RunPlanError(option: option, text: part, reason: "known: \(all)")
      }
      if !values.contains(value) { values.append(value) }
    }
    return values
  }

  private static func budgets(_ text: String?) throws(RunPlanError) -> [ReasoningLevel: Int] {
    var budgets: [ReasoningLevel: Int] = [:]
    for part in CommaList.items(text ?? "") where !part.isEmpty {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2, let level = ReasoningLevel(rawValue: String(pair[0])),
        level != .none, let count = Int(pair[1]), (1...Limits.tokens).contains(count)
      else {
        throw RunPlanError(
          option: "--reasoning-budget", text: part,
          reason: "level=tokens is needed, of at most \(Limits.tokens) tokens")
      }
      budgets[level] = count
    }
    return budgets
  }

  private static func sessionCounts(_ text: String) throws -> [Int] {
    do throws(RunPlanError) {
      return try bounded(
        NumberList.parse(text, option: "--sessions", minimum: 1), by: Limits.sessions,
        option: "--sessions")
    } catch {
      throw CommandFailure(.usage, error.description)
    }
  }

  private static func elements(_ lists: [String], option: String) throws -> [String] {
    try lists.flatMap(CommaList.items).map { name in
      guard let element = CacheElement(commandLineName: name) else {
        throw CommandFailure(.usage, ModelRunOptions.unknownElement(name, option: option))
      }
      return element.rawValue
    }
  }

  private static func prompt(_ path: String) throws -> String {
    let text = try TextFile.read(path, .prompt)
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw InputError(file: path, reason: "the prompt is empty")
    }
    return text
  }
}
