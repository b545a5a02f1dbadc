import ArgumentParser
import BenchCore
import CPlatform
import Foundation
import ModelFile
import PackedFormats
import QuantKernels
import TensorCore

struct LoadCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Loads a packed model until its kernels could run, and says where the time went.",
    usage: "afm-bench load [<options>] <file>",
    discussion: """
      Every repetition loads the file (.afmw) and then runs each stage alone, on as many threads, \
      so that all saw the same machine. The ratio says how near loading comes to the slowest \
      stage. Stages' seconds are of processor time over all threads. --cold asks the system to \
      forget the file before every repetition.

      Example: afm-bench load model.afmw -r 5
      """)

  @OptionGroup var model: ModelArgument

  @Flag(help: "Comes from the disk, not from the page cache.")
  var cold = false

  @Flag(
    help: "What is stored with --layout kernel is used in the page cache, as run --mmap does.")
  var mmap = false

  @OptionGroup var threads: ThreadOption

  @Option(
    name: [.customShort("r"), .long], help: ArgumentHelp("Repetitions.", valueName: "count"))
  var repetitions = 3

  @Flag(help: "Prints one JSON object.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "A file for the recording: .afmtrace, or .perfetto-trace for Perfetto at once.",
      valueName: "file"))
  var trace: String?

  var file: String { model.path }

  func validate() throws {
    try Limits.check(repetitions, upTo: Limits.repetitions, option: "-r")
  }

  var files: CommandFiles { [.file(file, "the model"), .output(trace, "--trace", .recording)] }

  func run() throws {
    let opening = ContinuousClock.now
    let container = try PackedModel.open(file)
    let opened = ContinuousClock.now - opening
    var loader = ModelLoader(threads: threads.count ?? ProcessInfo.processInfo.activeProcessorCount)
    loader.layout = { $0.format.kernelLayout ?? .canonical }
    loader.mapsStoredPlanes = mmap
    loader.keepsIntervals = trace != nil
    loader.progress = { done, total in Console.progress("\(100 * done / max(total, 1)) %") }
    var samples: [LoadSample] = []
    var peak: Int?
    for repetition in 0..<repetitions {
      let resident = cold ? try container.evictFromPageCache() : nil
      if repetition == 0 { ResidentMemory.resetPeak() }
      let report = try load(container, loader)
      // The first loading's peak: what follows measures other things.
      if repetition == 0 {
        peak = EnvironmentProbe().state(measuresClock: false).peakResidentByteCount
      }
      samples.append(LoadSample(report: report, residentAfterEviction: resident))
      samples[repetition].alone = try measure(container, loader, after: report)
    }
    Console.progress("")
    if let trace {
      let recording = LoadRecording(samples: samples, file: file).recording
      try PlannedFile(
        path: trace, content: PlannedFile.Content(recording, path: trace)
      ).write()
    }
    let summary = LoadSummary(
      file: file, byteCount: container.byteCount, openSeconds: opened.inSeconds, cold: cold,
      peakResidentByteCount: peak, samples: samples)
    try Console.report(json ? Console.json(summary) : summary.text)
  }

  /// Loads once; the tensors are gone when this returns. Throws where not all threads worked that
  /// were to: their times would be of fewer.
  private func load(_ container: AFMWFile, _ loader: ModelLoader) throws -> LoadReport {
    let report = try loader.load(container).report
    var error: Int32 = 0
    // `error` outlives the call.
    guard unsafe cp_refused_thread_count(&error) == 0 else {
      throw ThreadRefusal(
        wanted: loader.threads, started: report.threadCount, errorNumber: error)
    }
    return report
  }

  /// Every stage that the loading had, alone. Validating has none of its own to be slow at: it
  /// reads a small part of the tensors' bytes.
  private func measure(
    _ container: AFMWFile, _ loader: ModelLoader, after report: LoadReport
  ) throws -> [StageMeasurement] {
    try LoadStage.allCases.filter { report[$0].count > 0 && $0 != .validate }
      .map { try loader.measure($0, of: container) }
  }
}

/// One repetition.
struct LoadSample {
  var report: LoadReport
  /// The share of the file that stayed in the page cache when it was to go.
  var residentAfterEviction: Double?
  /// Each stage by itself.
  var alone: [StageMeasurement] = []
}

extension Duration {
  /// Seconds, rounded to a Double.
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
