import ArgumentParser
import EngineInterface
import Report
import TraceCore
import Workloads

/// A request trace against an engine:
///
///     served  refused  page hits  prefill positions  answer tokens  tokens/s  TTFT P50 ms  …
struct ReplayCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Serves a request trace on a model: continuous batching, shared prefixes, a budget.",
    usage: "afm-bench replay [<options>] <file> <trace>",
    discussion: """
      Reads what `cache replay` reads. Requests come at the times of the trace, wait for room, and \
      run together: every step has the next token of each answer and parts of prompts. Prompts are \
      seeded tokens, equal where the trace's hashes are; their beginnings that the cache has are not \
      run again. Requests that no budget or context could hold are refused and counted.

      --shorten divides the lengths (and the positions of a hash), for models and machines that \
      are too small for the trace; with --page 512 / --shorten positions a page, page hits stay \
      those of the trace.

      Example: afm-bench replay model.afmw requests.jsonl --limit 40 --shorten 16
      """)

  @Argument(help: ArgumentHelp("The model.", valueName: "file"))
  var first: String?

  @Argument(help: ArgumentHelp("The trace; - for standard input.", valueName: "trace"))
  var second: String?

  @Option(name: ModelArgument.optionNames, help: ModelArgument.optionHelp)
  var modelOption: String?

  @OptionGroup var options: ModelRunOptions

  @Option(
    help: ArgumentHelp("Requests from the beginning of the trace.", valueName: "count"))
  var limit: Int?

  @Option(
    help: ArgumentHelp(
      "Divides prompts, answers and the positions of a hash.", valueName: "divisor"))
  var shorten = 1

  @Option(
    help: ArgumentHelp(
      "Multiplies the times between arrivals; 0: all come at once.", valueName: "factor"))
  var timeScale = 1.0

  @Option(help: ArgumentHelp("Requests that run together at most.", valueName: "count"))
  var sessions = 8

  @Option(
    name: .customLong("page"),
    help: ArgumentHelp(
      "Positions of a page, a multiple of 16 up to 512.", valueName: "positions"))
  var pagePositions = 64

  @Option(
    help: ArgumentHelp(
      "The cache's budget, with KiB, MiB or GiB.",
      discussion: "By default as much as --sessions requests of the model's context need.",
      valueName: "bytes"))
  var budget: String?

  @Option(
    name: [.customShort("b"), .customLong("batch-size")],
    help: ArgumentHelp("Tokens in a step.", valueName: "tokens"))
  var batchTokens = 512

  @Option(
    name: .customLong("trace"),
    help: ArgumentHelp(
      "A file for the recording: .afmtrace, or .perfetto-trace for Perfetto at once.",
      valueName: "file"))
  var recording: String?

  @Flag(help: "Prints one JSON object, with a row for each request.")
  var json = false

  private var places: ArgumentPlaces {
    ArgumentPlaces(["file", "trace"], model: modelOption, positional: [first, second])
  }

  var model: String { places[0] }
  var trace: String { places[1] }

  func validate() throws {
    try places.check()
    try Limits.check(limit ?? 1, upTo: 1 << 30, option: "--limit")
    try Limits.check(shorten, upTo: 1 << 20, option: "--shorten")
    try Limits.check(sessions, upTo: Limits.sessions, option: "--sessions")
    try Limits.check(batchTokens, upTo: Limits.tokens, option: "-b")
    guard 16...512 ~= pagePositions, pagePositions % 16 == 0 else {
      throw ValidationError("--page must be a multiple of 16, at most 512.")
    }
    guard timeScale.isFinite, 0...1e6 ~= timeScale else {
      throw ValidationError("--time-scale must be in 0...1000000.")
    }
    if let budget, try ByteBudget.list(budget).count != 1 {
      throw ValidationError("--budget is one byte count.")
    }
  }

  var files: CommandFiles {
    options.files + [
      .model(model, "the model"), .text(trace, "the request trace"),
      .output(recording, "--trace", .recording),
    ]
  }

  func run() throws {
    let workload = try readWorkload()
    let engine = try options.openEngine(model)
    var replayOptions = EngineReplay.Options(session: try sessionOptions(engine))
    replayOptions.sessionLimit = sessions
    replayOptions.modelFile = model
    if let adapter = options.adapter {
      replayOptions.adapter = try CommandFailure.naming(adapter) { try engine.loadAdapter(adapter) }
    }
    let recorder = TraceRecorder(eventCapacity: 0)
    if recording != nil { replayOptions.recorder = recorder }
    let outcome = try CommandFailure.naming(model) {
      try EngineReplay.run(workload, on: engine, replayOptions) { done, total in
        Console.progress("\(done) of \(total) requests")
      }
    }
    Console.progress("")
    if let recording {
      let metadata = Version.metadata + [.init(key: "workload", value: trace)]
      try PlannedFile(
        path: recording,
        content: PlannedFile.Content(recorder.finish(metadata: metadata), path: recording)
      ).write()
    }
    var report = EngineReplayReport(outcome, workload: workload, facts: engine.facts)
    report.page_positions = pagePositions
    report.time_scale = timeScale
    report.shortened_by = shorten
    try Console.report(json ? Console.json(report) : report.text)
    try report.check()
  }

  private func readWorkload() throws -> Workload {
    var workload = try WorkloadInput.read(trace).scaled(byTime: timeScale)
    if let limit { workload.requests = Array(workload.requests.prefix(limit)) }
    guard let shortened = workload.shortened(by: shorten) else {
      throw CommandFailure(
        .usage,
        "--shorten \(shorten): the trace's hashes stand for \(workload.hashPositions ?? 0) "
          + "positions, which it does not divide")
    }
    return shortened
  }

  private func sessionOptions(_ engine: any Engine) throws -> SessionOptions {
    var result = SessionOptions(
      contextLimit: engine.facts.trainedContextLength, keyElement: options.keyElement,
      valueElement: options.valueElement, batchTokens: batchTokens, tier: "on-device")
    result.pagePositions = pagePositions
    if let budget { result.cacheBudget = try ByteBudget.list(budget)[0].byteCount }
    return result
  }
}
