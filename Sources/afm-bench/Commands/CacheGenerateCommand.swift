import ArgumentParser
import Foundation
import Workloads

extension CacheCommand {
  /// A request trace like a published one.
  struct Generate: FileUsingCommand {
    static let configuration = CommandConfiguration(
      commandName: "generate",
      abstract: "Makes a request trace with the percentiles of a published one, from a seed.",
      usage: "afm-bench cache generate [<options>] <profile> <output>",
      discussion: """
        Lengths, arrivals and common beginnings are like the published trace's; the same profile, \
        seed and number of requests give the same file on every machine. \
        \(WorkloadProfile.conversation.rawValue) is written as Mooncake's lines of JSON, the \
        others as Azure's comma-separated values.

        Example: afm-bench cache generate mooncake-conversation requests.jsonl
        """)

    @Argument(help: "The profile.")
    var profile: WorkloadProfile

    @Argument(help: "The file to write; - for standard output.")
    var output: String

    @Option(
      help: ArgumentHelp(
        "Requests; by default as many as the published trace has.", valueName: "count"))
    var requests: Int?

    @Option(help: ArgumentHelp("The seed.", valueName: "number"))
    var seed: UInt64 = 1

    @Flag(help: "Prints one JSON object with the percentiles.")
    var json = false

    struct Report: Encodable {
      var profile: String
      var seed: UInt64
      var requests: Int
      var seconds: Double
      var percentages: [Double]
      var input_positions: [Double]
      var output_positions: [Double]
      var arrival_gaps_us: [Double]
    }

    func validate() throws {
      if let requests { try Limits.check(requests, upTo: 1_000_000, option: "--requests") }
      if output == "-", json { throw ValidationError("--json and the trace both want the output.") }
    }

    var files: CommandFiles {
      [.output(output == "-" ? nil : output, "the file to write", profile.outputKind)]
    }

    func run() throws {
      var generator = WorkloadGenerator(profile: profile, seed: seed)
      let workload = generator.workload(count: requests ?? profile.publishedRequestCount)
      let text =
        profile.outputKind == .jsonLines ? workload.jsonLines : workload.commaSeparatedValues
      guard output != "-" else { return try StandardOutput.write(Array(text.utf8)) }
      try PlannedFile(path: output, content: .text(text)).write()
      let summary = WorkloadSummary(workload)
      let report = Report(
        profile: profile.rawValue, seed: seed, requests: summary.requestCount,
        seconds: summary.seconds, percentages: WorkloadSummary.percentages,
        input_positions: summary.inputCounts, output_positions: summary.outputCounts,
        arrival_gaps_us: summary.arrivalGaps)
      try Console.report(
        json
          ? Console.json(report)
          : "\(output): \(summary.requestCount) requests in \(Int(summary.seconds)) s")
    }
  }
}

extension WorkloadProfile: ExpressibleByArgument {
  /// The published form of its trace.
  fileprivate var outputKind: OutputKind {
    self == .conversation ? .jsonLines : .commaSeparatedValues
  }
}
