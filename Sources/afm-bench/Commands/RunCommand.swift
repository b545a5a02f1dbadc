import ArgumentParser
import BenchCore
import Foundation
import Report
import Tiers

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Measures models on tiers: latency, cache memory and context use.",
    discussion: """
      Without -p, -n, -pg or --prompt-file it measures pp512, tg128 and a conversation of two turns.
      A fixed-length test (-p, -n, -pg) runs at reasoning level none unless --reasoning is given.
      Lists are a,b,c, and ranges first-last+step or first-last*factor, as in llama-bench.

      Example: afm-bench run model.afmw -p 512 -n 128 --bundle results
      """)

  @Argument(help: "Packed models; without one, all of .cache/models, where tools/bench packs them.")
  var models: [String] = []

  @OptionGroup var tests: TestOptions

  @Option(name: .customShort("t"), help: "Threads, a list; by default one a core.")
  var threads: String?

  @OptionGroup var setup: EngineSetup

  @Option(
    name: .customShort("r"),
    help: "Repetitions; an interval of a median needs at least 6.")
  var repetitions = 6

  @Option(
    name: [.customLong("ctk", withSingleDash: true), .customLong("cache-type-k")],
    help: "How the cache stores keys, a list: f32, f16, s8, s8static, u4g32.")
  var keyElements = "f16"

  @Option(
    name: [.customLong("ctv", withSingleDash: true), .customLong("cache-type-v")],
    help: "How the cache stores values, a list.")
  var valueElements = "f16"

  @Option(name: [.customShort("b"), .customLong("batch-size")], help: "Tokens in a prefill batch.")
  var batchTokens = 512

  @Option(
    name: [.customLong("np", withSingleDash: true), .customLong("sessions")],
    help: ArgumentHelp(
      "Sessions that run together, a list.",
      discussion: "For tests of a fixed length: each session has its own prompt and answer, and a "
        + "step gives all of them a token. Rates count the tokens of all."))
  var sessions = "1"

  @Option(
    help: ArgumentHelp(
      "A low-rank adapter's file, or none for the model alone; may be repeated.",
      discussion: "All stay loaded, and requests switch between them."))
  var adapter: [String] = []

  @Flag(
    help: ArgumentHelp(
      "A prefill runs every layer for every position.",
      discussion: "Layers that share keys and values are needed for the last position alone."))
  var allLayers = false

  @Option(help: "A folder for results, samples, environment and trace.")
  var bundle: String?

  @Option(help: "A file for the recording: .afmtrace, or .perfetto-trace for Perfetto at once.")
  var trace: String?

  @Option(name: .customShort("o"), help: "The form of the report: md, csv, json, jsonl or sql.")
  var format: ReportFormat = .md

  @Flag(help: "The same as -o json.")
  var json = false

  func validate() throws {
    try Limits.check(repetitions, upTo: Limits.repetitions, option: "-r")
    try Limits.check(batchTokens, upTo: Limits.tokens, option: "-b")
    try Limits.check(tests.maxTokens, upTo: Limits.tokens, option: "--max-tokens")
  }

  func run() throws {
    let plan = try RunPlan(self)
    var run = try BenchmarkRun(plan: plan)
    try run.measure()
    try run.writeFiles()
    try Console.report((json ? ReportFormat.json : format).text(run.rows))
    if let failed = run.rows.first(where: { $0.error != nil }),
      run.rows.allSatisfy({ $0.error != nil })
    {
      throw CommandFailure(.badInput, failed.error ?? "nothing could be measured")
    }
  }
}

/// What is asked of the models.
struct TestOptions: ParsableArguments {
  @Option(name: .customShort("p"), help: "Prompt tokens, a list: prefill tests.")
  var promptTokens: String?

  @Option(name: .customShort("n"), help: "Generated tokens, a list: decode tests.")
  var generatedTokens: String?

  @Option(
    name: .customLong("pg", withSingleDash: true),
    help: "P,N: a prompt and a generation together; may be repeated.")
  var pairs: [String] = []

  @Option(name: .customShort("d"), help: "Positions in the cache before a test, a list.")
  var depths = "0"

  @Option(name: .customLong("tier"), help: "Tiers, a list: on-device, private-cloud.")
  var tiers = "on-device,private-cloud"

  @Option(
    help: "Reasoning levels, a list: none, light, moderate, deep. A tier skips what it lacks.")
  var reasoning: String?

  @Option(help: "Reasoning tokens a level may take: light=64,moderate=256,deep=1024.")
  var reasoningBudget: String?

  @Option(help: "A text file: a turn of the conversation; may be repeated.")
  var promptFile: [String] = []

  @Option(help: "The conversation's instructions.")
  var instructions: String?

  @Option(help: "The most response tokens of a turn.")
  var maxTokens = 64

  @Option(help: "Where the random prompt tokens begin.")
  var seed: UInt64 = 1
}

extension ReportFormat: ExpressibleByArgument {}
