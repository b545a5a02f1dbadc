import ArgumentParser
import Foundation
import Report
import Workloads

extension CacheCommand {
  /// A workload against the cache alone, for each budget:
  ///
  ///     budget     page hits  prefill positions     evicted   peak GiB
  ///     unlimited     36.6 %           90730719           0    1460.33
  struct Replay: FileUsingCommand {
    static let configuration = CommandConfiguration(
      commandName: "replay",
      abstract: "Replays a request trace against the cache alone: page hits, prefill, evictions.",
      usage: "afm-bench cache replay [<options>] <trace>",
      discussion: """
        Reads the two published formats: Azure's comma-separated values and Mooncake's lines of \
        JSON, whose hashes say which prompts begin alike. Requests come in the order of their \
        arrival; each takes over the whole pages of its prompt that are there, computes the rest, \
        and holds everything until it ends. No model is needed and nothing is computed: pages are \
        only counted, so any budget can be tried.

        Exit code 1 where the accounts are not what was predicted from the lengths, or exceed the \
        budget.

        Example: afm-bench cache replay requests.jsonl --budget 64GiB,unlimited
        """)

    @Argument(help: "The trace; - for standard input.")
    var trace: String

    @Option(
      name: .customLong("page"), help: ArgumentHelp("Positions of a page.", valueName: "positions"))
    var pagePositions = 512

    @Option(
      help: ArgumentHelp(
        "Budgets, a list: numbers with KiB, MiB, GiB or TiB, or unlimited.", valueName: "budgets"))
    var budget = "unlimited"

    @Option(help: ArgumentHelp("The cache.", valueName: "cache"))
    var cache: ReplayLayout = .onDevice2025

    @Option(
      help: ArgumentHelp(
        "How long a request holds its pages: seconds for each token it puts out.",
        valueName: "seconds"))
    var secondsPerOutput = 0.0

    @Option(help: ArgumentHelp("Multiplies the times between arrivals.", valueName: "factor"))
    var timeScale = 1.0

    @Flag(help: "Prints one JSON object.")
    var json = false

    func validate() throws {
      try Limits.check(pagePositions, upTo: 1 << 16, option: "--page")
      _ = try ByteBudget.list(budget)
      for (name, value) in [
        ("--seconds-per-output", secondsPerOutput), ("--time-scale", timeScale),
      ] {
        guard value.isFinite, 0...1e6 ~= value else {
          throw ValidationError("\(name) must be in 0...1000000.")
        }
      }
    }

    var files: CommandFiles { [.text(trace, "the request trace")] }

    func run() throws {
      let budgets = try ByteBudget.list(budget)
      let workload = try WorkloadInput.read(trace).scaled(byTime: timeScale)
      let layout = cache.layout(pagePositions: pagePositions)
      var report = ReplayReport(workload: workload, cache: cache, layout: layout)
      report.time_scale = timeScale
      for (index, budget) in budgets.enumerated() {
        Console.progress("budget \(index + 1) of \(budgets.count)")
        let outcome = try CacheReplay.run(
          workload,
          CacheReplay.Options(
            layout: layout, byteBudget: budget.byteCount, secondsPerOutput: secondsPerOutput))
        report.rows.append(ReplayReport.Row(outcome, budget: budget))
      }
      Console.progress("")
      try Console.report(json ? Console.json(report) : report.text)
      try report.check()
    }
  }
}

/// A byte count on the command line.
struct ByteBudget {
  /// Nil where there is no limit.
  var byteCount: Int?
  var text: String

  /// Budgets separated by commas.
  static func list(_ text: String) throws -> [ByteBudget] {
    try CommaList.items(text).map { part in
      guard let budget = ByteBudget(part) else {
        throw ValidationError(
          "--budget '\(part)': unlimited, or a byte count such as 4096, 64MiB, 1.5GiB.")
      }
      return budget
    }
  }

  private init?(_ text: String) {
    self.text = text
    if text == "unlimited" { return }
    let units = ["KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40]
    let unit = units.first { text.hasSuffix($0.key) }
    let number = unit.map { String(text.dropLast($0.key.count)) } ?? text
    guard let value = Double(number), value.isFinite, value > 0 else { return nil }
    let bytes = value * Double(1 << (unit?.value ?? 0))
    guard bytes >= 1, bytes < 0x1p60 else { return nil }
    byteCount = Int(bytes)
  }
}

extension ReplayLayout: ExpressibleByArgument {}
