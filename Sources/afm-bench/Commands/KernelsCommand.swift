import ArgumentParser
import BenchCore
import Foundation
import KernelBench
import KernelContract
import PackedFormats
import QuantKernels
import Report

struct KernelsCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "kernels",
    abstract: "Measures kernels on shapes, beside the machine's roofs.",
    usage: "afm-bench kernels [<options>]",
    discussion: """
      Every repetition measures the roof and the kernel one after the other; medians are shown, and \
      the share of the nearer roof with its 95 % interval. From memory the weights change with every \
      call, and take more than the caches hold. Measure on a quiet machine.

      Example: afm-bench kernels --weights u2c,s8c --shape 2048x2048 --tokens 1,128
      """)

  @Option(
    help: ArgumentHelp(
      "Operations, a list; by default gemv at 1 token, gemm at more.",
      discussion: "Known: \(KernelCase.operations.map(\.rawValue).joined(separator: ", ")).",
      valueName: "operations"))
  var op: String?

  @Option(
    help: ArgumentHelp("Weight formats of products, a list; by default all.", valueName: "formats"))
  var weights: String?

  @Option(
    help: ArgumentHelp(
      "ROWSxCOLUMNS, a list; vectors have the columns.", valueName: "shapes"))
  var shape = ProductShape.usual

  @Option(help: ArgumentHelp("Tokens in a call, a list.", valueName: "tokens"))
  var tokens = "1,128"

  @Option(
    help: ArgumentHelp("ASTC: the most partitions of a block, 1 to 3.", valueName: "count"))
  var partitionLimit: Int?

  @Option(help: InstructionSetName.help) var isa: String?

  @Option(
    name: .customLong("in"),
    help: ArgumentHelp(
      "Where the weights lie, a list: "
        + "\(KernelCase.Place.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "places"))
  var places = "memory"

  @Option(
    name: [.customShort("t"), .long],
    help: ArgumentHelp("Threads, a list; by default one per core.", valueName: "threads"))
  var threads: [String] = []

  @Option(
    name: [.customShort("r"), .long],
    help: ArgumentHelp(
      "Repetitions; an interval of a median needs at least 6.", valueName: "count"))
  var repetitions = 11

  @Flag(help: "Lists the kernels there are, and which are chosen here.")
  var list = false

  @Flag(
    help: """
      Measures from how many tokens on GEMM is faster than GEMV, and prints the table for \
      AFM_GEMM_TOKENS and for this package's source.
      """)
  var tune = false

  @Flag(help: "Prints one JSON object.")
  var json = false

  func validate() throws {
    if tune, op != nil || list {
      throw ValidationError("--tune measures gemv and gemm: no --op or --list goes with it.")
    }
    try Limits.check(repetitions, upTo: Limits.repetitions, option: "-r")
    if let partitionLimit { try Limits.check(partitionLimit, upTo: 3, option: "--partition-limit") }
  }

  var files: CommandFiles { [] }

  func run() throws {
    if list {
      let report = try KernelList(isa: isa)
      return try Console.report(json ? Console.json(report) : report.text)
    }
    let plan = try KernelPlan(self)
    if tune { return try measureChoice(plan) }
    var rows: [KernelRow] = []
    for threads in plan.threadCounts {
      let platform = try platform(threads: threads)
      let benchmark = benchmark(on: platform)
      for what in plan.cases { try check(what, benchmark) }
      for (index, what) in plan.cases.enumerated() {
        Console.progress("\(index + 1)/\(plan.cases.count) \(what.label)")
        rows.append(KernelRow(try benchmark.measure(what)))
      }
    }
    Console.progress("")
    try Console.report(json ? Console.json(KernelRow.Report(rows: rows)) : KernelRow.table(rows))
  }

  /// Where everything is measured: on all threads that were asked for, or not at all.
  private func platform(threads: Int?) throws -> KernelPlatform {
    let pool = ThreadPool(threadCount: threads, allowOversubscription: true)
    try pool.requireAllThreads()
    return KernelPlatform(library: try KernelLibrary.named(isa), pool: pool)
  }

  private func benchmark(on platform: KernelPlatform) -> KernelBenchmark {
    KernelBenchmark(
      on: platform, repetitions: repetitions,
      lastCacheByteCount: EnvironmentProbe().largestCacheByteCount,
      partitionLimit: partitionLimit)
  }

  /// Refuses weights so small that no cache is too small for any number of them.
  private func check(_ what: KernelCase, _ benchmark: KernelBenchmark) throws {
    let count = benchmark.copyCount(of: what)
    guard count <= KernelBenchmark.copyLimit else {
      throw CommandFailure(
        .usage,
        "--shape \(what.rows)x\(what.columns): from memory that is \(count) copies of "
          + "\(what.weights?.name ?? "")'s weights, more than \(KernelBenchmark.copyLimit); "
          + "a larger shape is needed, or --in cache")
    }
  }

  /// `--tune`.
  private func measureChoice(_ plan: KernelPlan) throws {
    var measured: [ChoiceMeasurement] = []
    for threads in plan.threadCounts {
      let benchmark = benchmark(on: try platform(threads: threads))
      for place in plan.places {
        for format in PackedProductChoice.formats
        where plan.formats?.contains(format) ?? true {
          for shape in plan.shapes {
            Console.progress("\(format.name) \(shape), \(place.rawValue)")
            try check(
              KernelCase(
                operation: .gemv, weights: format, rows: shape.rows, columns: shape.columns,
                tokens: 1, place: place), benchmark)
            measured.append(try benchmark.measureChoice(format, on: shape, in: place))
          }
        }
      }
    }
    Console.progress("")
    let report = ChoiceReport(measured, isa: try KernelLibrary.named(isa).instructionSet)
    try Console.report(json ? Console.json(report) : report.text)
  }
}

/// One measured kernel, with the names that `kernels --json` has.
struct KernelRow: Encodable {
  struct Report: Encodable { var rows: [KernelRow] }

  var kernel: String
  var op: String
  var weights: String?
  var rows: Int
  var columns: Int
  var tokens: Int
  var threads: Int
  var isa: String
  var `in`: String
  var seconds_median: Double
  var gb_per_s: Double
  var gop_per_s: Double?
  var roof_gb_per_s: Double
  var roof_gop_per_s: Double?
  /// Of the roof that is nearer, the median over the repetitions, 0…1.
  var share_of_roof: Double
  /// 95 % of it, with six repetitions or more.
  var share_low: Double?
  var share_high: Double?

  init(_ measurement: KernelBenchmark.Measurement) {
    let what = measurement.what
    kernel = measurement.kernel
    op = what.operation.rawValue
    weights = what.weights?.name
    rows = what.rows
    columns = what.columns
    tokens = what.tokens
    threads = measurement.threads
    // A kernel's name ends with what it is compiled for, which may be less than the chosen level.
    isa = kernel.split(separator: "_").last.map(String.init) ?? ""
    self.in = what.place.rawValue
    seconds_median = measurement.seconds
    gb_per_s = measurement.bytesPerSecond / 1e9
    gop_per_s = measurement.operationsPerSecond.map { $0 / 1e9 }
    roof_gb_per_s = measurement.roofBytesPerSecond / 1e9
    roof_gop_per_s = measurement.roofOperationsPerSecond.map { $0 / 1e9 }
    share_of_roof = Statistics.median(measurement.shares) ?? 0
    let interval = Statistics.medianInterval(measurement.shares, seed: 1)
    share_low = interval?.low
    share_high = interval?.high
  }

  /// A table for each shape, place and number of threads, within 112 columns.
  static func table(_ rows: [KernelRow]) -> String {
    var headings: [String] = []
    var groups: [String: [KernelRow]] = [:]
    for row in rows {
      if groups[row.heading] == nil { headings.append(row.heading) }
      groups[row.heading, default: []].append(row)
    }
    return headings.map { heading in
      "\(heading)\n\n\(table(ofOne: groups[heading] ?? []))"
    }.joined(separator: "\n")
  }

  private var heading: String {
    "\(rows) x \(columns) from \(self.in), \(threads) thread\(threads == 1 ? "" : "s")"
  }

  private static func table(ofOne rows: [KernelRow]) -> String {
    var table = TextTable([
      .init("kernel", .left), .init("tokens"), .init("µs"), .init("GB/s"), .init("roof"),
      .init("GOP/s"), .init("roof"), .init("share"), .init("95 %"),
    ])
    func number(_ value: Double?) -> String { value.map { String(format: "%.1f", $0) } ?? "–" }
    func percent(_ value: Double) -> String { String(format: "%.0f", 100 * value) }
    for row in rows {
      let interval = row.share_low.flatMap { low in
        row.share_high.map { "\(percent(low))–\(percent($0))" }
      }
      table.append([
        row.kernel, String(row.tokens), number(row.seconds_median * 1e6), number(row.gb_per_s),
        number(row.roof_gb_per_s), number(row.gop_per_s), number(row.roof_gop_per_s),
        "\(percent(row.share_of_roof)) %", interval ?? "–",
      ])
    }
    return table.text(within: 112)
  }
}
