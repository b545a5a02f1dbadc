import BenchCore
import Foundation
import ModelFile

/// What `load` prints: the median repetition's stages, and how near loading comes to its slowest
/// stage.
struct LoadSummary: Encodable {
  var file: String
  var bytes: Int
  var threads: Int
  /// `warm` or `cold`.
  var page_cache: String
  /// The share of the file in the page cache when each loading began.
  var resident_shares: [Double]
  var open_seconds: Double
  var ready_seconds: [Double]
  var ready_seconds_median: Double
  var tensor_bytes: Int
  var mapped_bytes: Int
  var stored_bytes: Int
  var peak_rss_bytes: Int?
  /// Peak resident memory of the first loading over the tensors' bytes.
  var peak_rss_over_tensor_bytes: Int?
  var stages: [Stage]
  var slowest_alone: Alone?

  struct Stage: Encodable {
    var stage: String
    /// Over all threads.
    var processor_seconds: Double
    var elapsed_seconds: Double
    var bytes: Int
    /// Of one core.
    var gb_per_s: Double
    /// Of all stages' processor time.
    var share: Double
    /// Processor time over all threads of the stage alone, in the median; not of validating.
    var alone_processor_seconds: Double?
  }

  struct Alone: Encodable {
    var stage: String
    var seconds: [Double]
    var seconds_median: Double
    var processor_seconds: Double
    var gb_per_s: Double
    /// The stage's time alone over the time to ready; medians.
    var ratio: Double
    /// The same in processor time, which other processes disturb less.
    var processor_ratio: Double
  }

  init(
    file: String, byteCount: Int, openSeconds: Double, cold: Bool, peakResidentByteCount: Int?,
    samples: [LoadSample]
  ) {
    let ordered = samples.sorted { $0.report.readyNanoseconds < $1.report.readyNanoseconds }
    // There is at least one repetition.
    let report = ordered[ordered.count / 2].report
    self.file = file
    bytes = byteCount
    threads = report.threadCount
    page_cache = cold ? "cold" : "warm"
    resident_shares = samples.map(\.report.residentShare)
    open_seconds = openSeconds
    ready_seconds = samples.map { Double($0.report.readyNanoseconds) * 1e-9 }
    ready_seconds_median = Statistics.median(ready_seconds) ?? 0
    tensor_bytes = report.tensorByteCount
    mapped_bytes = report.mappedByteCount
    stored_bytes = report.storedByteCount
    peak_rss_bytes = peakResidentByteCount
    peak_rss_over_tensor_bytes = peakResidentByteCount.map { $0 - report.tensorByteCount }
    let total = LoadStage.allCases.reduce(0) { $0 + report[$1].processorNanoseconds }
    stages = LoadStage.allCases.map { stage in
      let timing = report[stage]
      return Stage(
        stage: stage.rawValue, processor_seconds: Double(timing.processorNanoseconds) * 1e-9,
        elapsed_seconds: Double(timing.elapsedNanoseconds) * 1e-9, bytes: timing.byteCount,
        gb_per_s: Self.rate(timing.byteCount, timing.processorNanoseconds),
        share: total > 0 ? Double(timing.processorNanoseconds) / Double(total) : 0,
        alone_processor_seconds: Self.alone(stage, samples)?.processor_seconds)
    }
    slowest_alone = Self.slowest(samples)
  }

  /// The stage that takes longest alone, in the median.
  private static func slowest(_ samples: [LoadSample]) -> Alone? {
    LoadStage.allCases.compactMap { alone($0, samples) }.max {
      $0.seconds_median < $1.seconds_median
    }
  }

  private static func alone(_ stage: LoadStage, _ samples: [LoadSample]) -> Alone? {
    let measured = samples.compactMap { $0.alone.first { $0.stage == stage } }
    let seconds = measured.map { Double($0.elapsedNanoseconds) * 1e-9 }
    let processor = measured.map { Double($0.processorNanoseconds) }
    let ready = samples.map { Double($0.report.readyNanoseconds) * 1e-9 }
    let busy = samples.map { sample in
      Double(LoadStage.allCases.reduce(0) { $0 + sample.report[$1].processorNanoseconds })
    }
    guard let first = measured.first, let median = Statistics.median(seconds),
      let readyMedian = Statistics.median(ready),
      let processorMedian = Statistics.median(processor), let busyMedian = Statistics.median(busy),
      readyMedian > 0, busyMedian > 0
    else { return nil }
    return Alone(
      stage: stage.rawValue, seconds: seconds, seconds_median: median,
      processor_seconds: processorMedian * 1e-9,
      gb_per_s: median > 0 ? Double(first.byteCount) / median * 1e-9 : 0,
      ratio: median / readyMedian, processor_ratio: processorMedian / busyMedian)
  }

  private static func rate(_ bytes: Int, _ nanoseconds: Int) -> Double {
    nanoseconds > 0 ? Double(bytes) / Double(nanoseconds) : 0
  }

  /// All values where they are few, the least and the largest of many.
  private static func list(_ values: [Double], _ text: (Double) -> String) -> String {
    guard values.count > 5, let low = values.min(), let high = values.max() else {
      return values.map(text).joined(separator: ", ")
    }
    return "\(text(low)) to \(text(high))"
  }

  /// The same as lines.
  var text: String {
    func milliseconds(_ seconds: Double) -> String { String(format: "%.1f ms", seconds * 1e3) }
    let resident = Self.list(resident_shares) { String(format: "%.0f %%", $0 * 100) }
    var lines = [
      "\(file): \(bytes) bytes, \(tensor_bytes) in memory, \(mapped_bytes) of them mapped",
      "page cache \(page_cache): held \(resident) of the file at the start",
      "ready in \(milliseconds(ready_seconds_median)) (\(ready_seconds.count) loadings: "
        + Self.list(ready_seconds, milliseconds)
        + "), opened in \(milliseconds(open_seconds)), \(threads) threads",
      "stage       processor time      bytes  GB/s a core   share         alone",
    ]
    for stage in stages where stage.bytes > 0 {
      lines.append(
        stage.stage.padding(toLength: 10, withPad: " ", startingAt: 0)
          + String(
            format: "  %11.1f ms %10d  %11.2f  %4.1f %%", stage.processor_seconds * 1e3,
            stage.bytes, stage.gb_per_s, stage.share * 100)
          + (stage.alone_processor_seconds.map { String(format: "  %8.1f ms", $0 * 1e3) } ?? ""))
    }
    if let slowest_alone {
      lines.append(
        "\(slowest_alone.stage) alone: \(milliseconds(slowest_alone.seconds_median)), "
          + String(
            format: "%.2f GB/s; loading reaches %.1f %% of that (%.1f %% in processor time)",
            slowest_alone.gb_per_s, slowest_alone.ratio * 100, slowest_alone.processor_ratio * 100)
      )
    }
    if let over = peak_rss_over_tensor_bytes {
      lines.append(
        String(
          format: "peak resident memory: the tensors' bytes and %.1f MiB",
          Double(over) / 1_048_576))
    }
    if page_cache == "cold", resident_shares.contains(where: { $0 > 0.1 }) {
      lines.append("the system kept part of the file although it was asked to forget it")
    }
    return lines.joined(separator: "\n")
  }
}
