import ArgumentParser
import BenchCore
import Foundation
import Report
import Tiers

struct RunCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Measures models on tiers: latency, cache memory and context use.",
    discussion: """
      Without -p, -n, -pg or --prompt-file it measures pp512, tg128 and a conversation of two \
      turns, nothing twice: both tiers run in this process, so level none stands for both unless \
      --tier or --reasoning is given, and a level that says token for token what a lower one says \
      is not run again unless --reasoning is given. A fixed-length test (-p, -n, -pg) runs at \
      reasoning level none unless --reasoning is given.

      Lists are a,b,c; numbers also ranges first-last+step or first-last*factor, as in \
      llama-bench, whose options have their names here. Those that a CPU engine cannot have are \
      refused with the reason.

      Rows appear as they are measured. Ctrl-C (SIGINT) or SIGTERM ends the run between two \
      tokens: the report and the bundle, marked incomplete, have what was measured, and the exit \
      code is 130 or 143; a second signal ends it at once. The exit code is 1 where a row is \
      invalid, 3 where nothing could be measured.

      Example: afm-bench run model.afmw -p 512 -n 128 --bundle results
      """)

  @Argument(
    help: ArgumentHelp(
      "Packed models; without one, all of .cache/models, where tools/bench packs them.",
      valueName: "model"))
  var positionalModels: [String] = []

  @Option(
    name: ModelArgument.optionNames,
    help: ArgumentHelp(
      "A model, in place of the argument; may be repeated.", valueName: "path"))
  var model: [String] = []

  @OptionGroup var tests: TestOptions

  @Option(
    name: [.customShort("t"), .long],
    help: ArgumentHelp("Threads, a list; by default one per core.", valueName: "threads"))
  var threads: [String] = []

  @OptionGroup var setup: EngineSetup

  @Option(
    name: [.customShort("r"), .long],
    help: ArgumentHelp(
      "Repetitions; an interval of a median needs at least 6.", valueName: "count"))
  var repetitions = 6

  @OptionGroup var cache: CacheLists

  @Option(
    name: [.customShort("b"), .long],
    help: ArgumentHelp("Tokens in a prefill batch; by default 512.", valueName: "tokens"))
  var batchSize: Int?

  @Option(
    name: [.customLong("ub", withSingleDash: true), .long],
    help: ArgumentHelp(
      "Tokens that a prefill step runs together, at most those of -b; by default all of them.",
      valueName: "tokens"))
  var ubatchSize: Int?

  @Option(
    name: [.customLong("np", withSingleDash: true), .customLong("sessions")],
    help: ArgumentHelp(
      "Sessions that run together, a list.",
      discussion: "For tests of a fixed length: each session has its own prompt and answer, and a "
        + "step gives all of them a token. Rates count the tokens of all.", valueName: "sessions"))
  var sessions: [String] = ["1"]

  @Option(
    help: ArgumentHelp(
      "A low-rank adapter's file, or none for the model alone; may be repeated.",
      discussion: "All stay loaded, and requests switch between them.", valueName: "file"))
  var adapter: [String] = []

  @Flag(
    help: ArgumentHelp(
      "A prefill runs every layer for every position.",
      discussion: "Layers that share keys and values are needed for the last position alone."))
  var allLayers = false

  @OptionGroup var pacing: PacingOptions

  @Option(
    help: ArgumentHelp(
      "A folder for results, samples, environment and trace.", valueName: "folder"))
  var bundle: String?

  @Option(
    help: ArgumentHelp(
      "A file for the recording: .afmtrace, or .perfetto-trace for Perfetto at once.",
      valueName: "file"))
  var trace: String?

  @OptionGroup var report: RunReportOptions

  /// The models that are named, in either way.
  var models: [String] { positionalModels + model }

  /// Tokens of a batch, as results name it; and those that are run together.
  var batchTokens: Int { batchSize ?? ubatchSize ?? 512 }
  var stepTokens: Int { min(batchTokens, ubatchSize ?? batchTokens) }

  func validate() throws {
    try Limits.check(repetitions, upTo: Limits.repetitions, option: "-r")
    for (option, size) in [("-b", batchSize), ("-ub", ubatchSize)] {
      if let size { try Limits.check(size, upTo: Limits.tokens, option: option) }
    }
    try Limits.check(tests.maxTokens, upTo: Limits.tokens, option: "--max-tokens")
  }

  var files: CommandFiles {
    get throws {
      let adapters = adapter.filter { $0 != "none" }
      return try CommandFiles(RunPlan.models(models).map { .model($0, "the model") })
        + tests.files + CommandFiles(adapters.map { .file($0, "--adapter") })
        + [.folder(bundle, "--bundle"), .output(trace, "--trace", .recording)]
    }
  }

  func run() throws {
    if report.quiet { Heartbeat.silence() }
    let plan = try RunPlan(self)
    var run = try BenchmarkRun(plan: plan)
    var stream = ReportStream(
      report.format, options: report.layout, planned: plan.configuration.plannedRows)
    Interruption.listen()
    try Console.reportPart(stream.beginning)
    try run.measure { row in try Console.reportPart(stream.add(row)) }
    // A report that nobody reads is no reason to lose the files, nor the other way round.
    var failure = run.reportFailure
    if failure == nil {
      do { try Console.reportPart(stream.end()) } catch { failure = error }
    }
    try run.writeFiles()
    if let format = report.errorFormat { Console.error(try format.text(run.rows)) }
    if let failure { throw failure }
    try judge(run)
  }

  /// Throws where the run was ended early, or rows are invalid.
  private func judge(_ run: BenchmarkRun) throws {
    let count = "\(run.rows.count) row\(run.rows.count == 1 ? "" : "s") measured"
    if !run.isComplete, let signal = Interruption.signal {
      let bundle = bundle.map { ", \($0) is marked incomplete" } ?? ""
      throw CommandFailure(
        signal == SIGTERM ? .terminated : .interrupted, "ended early: \(count)\(bundle)")
    }
    let invalid = run.rows.filter { $0.verdict == .invalid }
    guard let first = invalid.first else { return }
    let reason = first.verdictWords.joined(separator: "; ")
    if invalid.count == run.rows.count, first.error != nil {
      throw CommandFailure(
        .badInput, "\(first.modelFilename): nothing could be measured: \(reason)")
    }
    var others: [String] = []
    for row in invalid where !others.contains(row.title) { others.append(row.title) }
    throw CommandFailure(
      .checkFailed,
      "\(invalid.count) of \(run.rows.count) rows \(invalid.count == 1 ? "is" : "are") invalid "
        + "(\(others.prefix(4).joined(separator: "; "))\(others.count > 4 ? "; …" : "")): \(reason)"
        + Self.advice(first))
  }

  /// What would have fitted.
  private static func advice(_ row: RunRow) -> String {
    guard row.error?.contains("context exceeded") == true, row.reasoning != "none" else {
      return ""
    }
    return " (fewer reasoning tokens: --reasoning-budget \(row.reasoning)=N, now "
      + "\(row.reasoningBudget))"
  }
}

extension RunRow {
  /// Which row it is, in one line.
  fileprivate var title: String {
    let turn = test == "chat" ? turn.map { " \($0)" } ?? "" : ""
    let file = modelFilename.split(separator: "/").last.map(String.init) ?? modelFilename
    return "\(file) \(test)\(turn)\(depth > 0 ? " @ d\(depth)" : "") \(tier) \(reasoning)"
  }
}
