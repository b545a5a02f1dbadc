import ArgumentParser
import BenchCore
import Foundation
import KernelBench
import KernelContract
import PackedFormats
import QuantKernels
import Report

struct KernelsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kernels",
    abstract: "Measures kernels on shapes, beside the machine's roofs.",
    discussion: """
      Every repetition measures the roof and the kernel one after the other; medians are shown, and \
      the share of the nearer roof with its 95 % interval. From memory the weights change with every \
      call, and take more than the caches hold. Measure on a quiet machine.

      Example: afm-bench kernels --weights u2c,s8c --shape 2048x2048 --tokens 1,128 --in memory
      """)

  @Option(
    help: "Operations, a list: gemv, gemm, rmsnorm, …; by default gemv at 1 token, gemm at more.")
  var op: String?

  @Option(help: "Weight formats of products, a list; by default all.")
  var weights: String?

  @Option(help: "ROWSxCOLUMNS, a list; vectors have the columns.")
  var shape = ProductShape.usual

  @Option(help: "Tokens in a call, a list.")
  var tokens = "1,128"

  @Option(help: "ASTC: the most partitions of a block, 1 to 3.")
  var partitionLimit: Int?

  @Option(help: "Forces portable, avx2, avx2vnni or avx512vnni. AFM_ISA does the same.")
  var isa: String?

  @Option(name: .customLong("in"), help: "Where the weights lie, a list: cache, memory.")
  var places = "memory"

  @Option(name: .customShort("t"), help: "Threads, a list; by default one a core.")
  var threads: String?

  @Option(name: .customShort("r"), help: "Repetitions; an interval of a median needs at least 6.")
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

  func run() throws {
    if list {
      let report = try KernelList(isa: isa)
      return try Console.report(json ? Console.json(report) : report.text)
    }
    let plan = try KernelPlan(self)
    if tune { return try measureChoice(plan) }
    var rows: [KernelRow] = []
    for threads in plan.threadCounts {
      let platform = KernelPlatform(
        library: try KernelLibrary.named(isa), pool: ThreadPool(threadCount: threads))
      let benchmark = KernelBenchmark(
        on: platform, repetitions: repetitions,
        lastCacheByteCount: EnvironmentProbe().largestCacheByteCount,
        partitionLimit: partitionLimit)
      for (index, what) in plan.cases.enumerated() {
        Console.progress("\(index + 1)/\(plan.cases.count) \(what.label)")
        rows.append(
          KernelRow(try benchmark.measure(what), isa: platform.library.instructionSet.rawValue))
      }
    }
    Console.progress("")
    try Console.report(json ? Console.json(KernelRow.Report(rows: rows)) : KernelRow.table(rows))
  }

  /// `--tune`.
  private func measureChoice(_ plan: KernelPlan) throws {
    var measured: [ChoiceMeasurement] = []
    for threads in plan.threadCounts {
      let platform = KernelPlatform(
        library: try KernelLibrary.named(isa), pool: ThreadPool(threadCount: threads))
      let benchmark = KernelBenchmark(
        on: platform, repetitions: repetitions,
        lastCacheByteCount: EnvironmentProbe().largestCacheByteCount,
        partitionLimit: partitionLimit)
      for place in plan.places {
        for format in PackedProductChoice.formats
        where plan.formats?.contains(format) ?? true {
          for shape in plan.shapes {
            Console.progress("\(format.name) \(shape), \(place.rawValue)")
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

  init(_ measurement: KernelBenchmark.Measurement, isa: String) {
    let what = measurement.what
    kernel = measurement.kernel
    op = what.operation.rawValue
    weights = what.weights?.name
    rows = what.rows
    columns = what.columns
    tokens = what.tokens
    threads = measurement.threads
    self.isa = isa
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

  static func table(_ rows: [KernelRow]) -> String {
    var table = TextTable([
      .init("kernel", .left), .init("shape"), .init("tokens"), .init("t"), .init("in", .left),
      .init("µs"), .init("GB/s"), .init("roof"), .init("GOP/s"), .init("roof"), .init("share"),
      .init("95 %"),
    ])
    func number(_ value: Double?) -> String { value.map { String(format: "%.1f", $0) } ?? "–" }
    func percent(_ value: Double) -> String { String(format: "%.0f", 100 * value) }
    for row in rows {
      let interval = row.share_low.flatMap { low in
        row.share_high.map { "\(percent(low))–\(percent($0))" }
      }
      table.append([
        row.kernel, "\(row.rows)x\(row.columns)", String(row.tokens), String(row.threads), row.in,
        number(row.seconds_median * 1e6), number(row.gb_per_s), number(row.roof_gb_per_s),
        number(row.gop_per_s), number(row.roof_gop_per_s), "\(percent(row.share_of_roof)) %",
        interval ?? "–",
      ])
    }
    return table.text
  }
}
