import ArgumentParser
import KVCache
import Report
import Tiers

/// What is asked of the models.
struct TestOptions: ParsableArguments {
  @Option(
    name: [.customShort("p"), .customLong("n-prompt")],
    help: ArgumentHelp("Prompt tokens, a list: prefill tests.", valueName: "tokens"))
  var promptTokens: [String] = []

  @Option(
    name: [.customShort("n"), .customLong("n-gen")],
    help: ArgumentHelp("Generated tokens, a list: decode tests.", valueName: "tokens"))
  var generatedTokens: [String] = []

  @Option(
    name: .customLong("pg", withSingleDash: true),
    help: ArgumentHelp(
      "A prompt and a generation together; may be repeated.", valueName: "prompt,generated"))
  var pairs: [String] = []

  @Option(
    name: [.customShort("d"), .customLong("n-depth")],
    help: ArgumentHelp("Positions in the cache before a test, a list.", valueName: "positions"))
  var depths: [String] = ["0"]

  @Option(
    name: .customLong("tier"),
    help: ArgumentHelp(
      "Tiers, a list; by default \(Tier.allCases.map(\.rawValue).joined(separator: ",")).",
      valueName: "tiers"))
  var tiers: String?

  @Option(
    help: ArgumentHelp(
      "Reasoning levels, a list: \(ReasoningLevel.allCases.map(\.rawValue).joined(separator: ", ")). "
        + "A tier skips what it lacks.", valueName: "levels"))
  var reasoning: String?

  @Option(
    help: ArgumentHelp(
      "Reasoning tokens that a level may take, a list; by default \(Self.budgets).",
      valueName: "level=tokens"))
  var reasoningBudget: String?

  @Option(
    help: ArgumentHelp(
      "A text file: a turn of the conversation; may be repeated.", valueName: "file"))
  var promptFile: [String] = []

  @Option(help: ArgumentHelp("The conversation's instructions.", valueName: "text"))
  var instructions: String?

  @Option(help: ArgumentHelp("The most response tokens of a turn.", valueName: "tokens"))
  var maxTokens = 64

  @Option(help: ArgumentHelp("Where the random prompt tokens begin.", valueName: "number"))
  var seed: UInt64 = 1

  /// What a run reads for them.
  var files: CommandFiles { CommandFiles(promptFile.map { .text($0, "--prompt-file") }) }

  /// The levels' own budgets, as the option takes them.
  private static let budgets = ReasoningLevel.allCases.filter { $0.tokenBudget > 0 }
    .map { "\($0.rawValue)=\($0.tokenBudget)" }.joined(separator: ",")
}

/// How the cache stores keys and values, each a list.
struct CacheLists: ParsableArguments {
  @Option(
    name: [.customLong("ctk", withSingleDash: true), .customLong("cache-type-k")],
    help: ArgumentHelp(
      "How the cache stores keys, a list: \(ModelRunOptions.elements.joined(separator: ", ")).",
      discussion: LlamaCppFormat.cacheNote, valueName: "formats"))
  var keyElements: [String] = ["f16"]

  @Option(
    name: [.customLong("ctv", withSingleDash: true), .customLong("cache-type-v")],
    help: ArgumentHelp("How the cache stores values, a list, as for keys.", valueName: "formats"))
  var valueElements: [String] = ["f16"]
}

/// When a test begins.
struct PacingOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Measures from the first request on.",
      discussion: "Without it one repetition of each test comes before the measured ones."))
  var noWarmup = false

  @Option(
    help: ArgumentHelp(
      "Seconds to wait before each repetition of a test except the first.", valueName: "seconds"))
  var delay = 0.0

  func validate() throws {
    guard delay.isFinite, 0...86_400 ~= delay else {
      throw ValidationError("--delay must be in 0...86400.")
    }
  }
}

/// What is reported, and how.
struct RunReportOptions: ParsableArguments {
  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The form of the report.", valueName: "form"))
  var output: ReportFormat = .md

  @Option(
    name: [.customLong("oe", withSingleDash: true), .customLong("output-err")],
    help: ArgumentHelp("The form of a second report, on standard error.", valueName: "form"))
  var errorFormat: ReportFormat?

  @Flag(help: "The same as -o json.")
  var json = false

  @Flag(help: "Says on standard error which test is running, a line for each repetition.")
  var progress = false

  @Flag(
    name: [.customShort("v"), .long],
    help: "Says on standard error what is loaded and which kernels run.")
  var verbose = false

  @Flag(help: "Tables of every figure, as wide as they are, at the end of the run.")
  var wide = false

  @Flag(help: "Says below the table what its columns and sentences mean.")
  var explain = false

  @Flag(help: "Shows no progress, on a terminal or off it.")
  var quiet = false

  var format: ReportFormat { json ? .json : output }

  /// How the report is laid out.
  var layout: ReportOptions {
    var options = ReportOptions()
    options.width = Console.reportWidth
    options.isWide = wide
    options.explains = explain
    return options
  }

  func validate() throws {
    if wide || explain, format != .md {
      throw ValidationError("--wide and --explain are about tables: they go with -o md.")
    }
  }
}

extension ReportFormat: ExpressibleByArgument {}
