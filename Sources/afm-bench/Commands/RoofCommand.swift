import ArgumentParser
import BenchCore
import Foundation
import KernelContract
import QuantKernels
import Report

struct RoofCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "roof",
    abstract: "What this machine can do at most: instruction sets, read rates, arithmetic.",
    discussion: """
      Every figure is measured several times, all of them in turns; the median and the best are \
      shown. Read rates are of the widest loads; 8-bit peaks of products of unsigned and signed \
      bytes, summed; one multiplication and one addition are two operations.

      Example: afm-bench roof -t 2
      """)

  @Option(
    name: [.customShort("t"), .long],
    help: ArgumentHelp("The most threads; by default one per core.", valueName: "threads"))
  var threads: Int?

  @Option(
    name: [.customShort("r"), .long], help: ArgumentHelp("Repetitions.", valueName: "count"))
  var repetitions = 9

  @Flag(help: "Prints one JSON object.")
  var json = false

  func validate() throws {
    if let threads { try Limits.check(threads, upTo: Limits.threads, option: "-t") }
    try Limits.check(repetitions, upTo: 1000, option: "-r")
  }

  var files: CommandFiles { [] }

  func run() throws {
    let probe = EnvironmentProbe()
    let library = try KernelLibrary()
    let pool = ThreadPool(threadCount: threads, allowOversubscription: true)
    // Each of the smaller numbers below is one that there are threads for.
    try pool.requireAllThreads()
    let most = pool.threadCount
    var report = RoofReport(
      environment: probe.environment(
        toolVersion: Version.text, buildCommit: Version.commit,
        instructionSet: library.instructionSet.rawValue, features: library.features.featureNames),
      instruction_sets: InstructionSet.available(on: library.features).map(\.rawValue))
    report.environment.before = probe.state()
    for count in RoofMeasurement.threadCounts(upTo: most) {
      Console.progress("\(count) thread\(count == 1 ? "" : "s")")
      let measurement = RoofMeasurement(
        threads: count, caches: report.environment.caches, repetitions: repetitions)
      report.rows += measurement.rows()
    }
    Console.progress("")
    report.environment.after = probe.state()
    try Console.report(json ? Console.json(report) : report.text)
  }
}

/// The roofs of one number of threads.
struct RoofMeasurement {
  private let pool: ThreadPool
  private let repetitions: Int
  /// What is read, and of how many bytes: a thread's share of a cache is three quarters of it.
  private var blocks: [(what: String, byteCount: Int)] = []

  /// 1, 2, 4, … and the most.
  static func threadCounts(upTo most: Int) -> [Int] {
    var counts = Array(sequence(first: 1) { $0 * 2 }.prefix { $0 < most })
    counts.append(most)
    return counts
  }

  init(threads: Int, caches: [Environment.CacheLevel], repetitions: Int) {
    pool = ThreadPool(threadCount: threads, allowOversubscription: true)
    self.repetitions = repetitions
    for cache in caches where cache.type != "Instruction" {
      // Caches that each core has hold a share of every thread; shared ones one block.
      let isOwn = cache.level < 3
      let byteCount = cache.byteCount / 4 * 3 * (isOwn ? pool.threadCount : 1)
      // A shared cache is only seen where the block does not fit the own ones.
      blocks.append((what: "L\(cache.level) read", byteCount: min(byteCount, 64 << 20)))
    }
    let largest = caches.map(\.byteCount).max() ?? 0
    blocks.append(("memory read", max(192 << 20, min(4 * largest, 2 << 30))))
  }

  func rows() -> [RoofReport.Row] {
    let roofs = MachineRoofs()
    var samples: [[Double]] = Array(repeating: [], count: blocks.count + 2)
    for (place, block) in blocks.enumerated() {
      let memory = ReadBlock(byteCount: block.byteCount, pool: pool)
      // Some 64 MB a sample, at least one pass.
      let passes = max(1, (64 << 20) / block.byteCount)
      _ = roofs.readRate(memory, passCount: passes, pool: pool)
      for _ in 0..<repetitions {
        samples[place].append(roofs.readRate(memory, passCount: passes, pool: pool))
        if place == 0 {
          roofs.int8Rate(pool: pool).map { samples[blocks.count].append($0) }
          roofs.floatRate(pool: pool).map { samples[blocks.count + 1].append($0) }
        }
      }
    }
    let names = blocks.map { ($0.what, "GB/s") } + [("int8", "GOP/s"), ("float32", "GOP/s")]
    return zip(names, samples).compactMap { name, samples in
      guard let median = Statistics.median(samples), let best = samples.max() else { return nil }
      return RoofReport.Row(
        what: name.0, threads: pool.threadCount, unit: name.1, median: median / 1e9,
        best: best / 1e9)
    }
  }
}

/// What `roof` prints.
struct RoofReport: Encodable {
  struct Row: Encodable {
    var what: String
    var threads: Int
    /// GB/s, 10⁹ bytes a second, or GOP/s.
    var unit: String
    var median: Double
    var best: Double
  }

  var environment: Environment
  var instruction_sets: [String]
  var rows: [Row] = []

  var text: String {
    var table = TextTable([
      .init("roof", .left), .init("threads"), .init("median"), .init("best"), .init("unit", .left),
    ])
    for row in rows {
      table.append([
        row.what, String(row.threads), String(format: "%.1f", row.median),
        String(format: "%.1f", row.best), row.unit,
      ])
    }
    let caches = environment.caches.filter { $0.type != "Instruction" }.map {
      "L\($0.level) \($0.byteCount >> 10) KiB"
    }
    return """
      \(environment.cpuModel ?? "unknown CPU"), \(ThreadPool.availableCoreCount) cores, \
      \(caches.joined(separator: ", "))
      instruction sets: \(instruction_sets.joined(separator: ", "))

      \(table.text)
      """
  }
}
