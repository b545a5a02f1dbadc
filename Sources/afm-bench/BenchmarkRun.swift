import BenchCore
import EngineInterface
import Engines
import Files
import Foundation
import KernelContract
import QuantKernels
import TraceCore
import TraceExport

/// A run: every model of a plan measured, probed and judged, then written where it was asked for.
struct BenchmarkRun {
  private(set) var rows: [RunRow] = []
  private let plan: RunPlan
  private let probe = EnvironmentProbe()
  private let recorder: TraceRecorder
  private var recording: Recording?
  private var samples: [SampleRecord] = []
  /// Whether everything was measured that was planned.
  private(set) var isComplete = true
  /// Why the report could not be written to its end.
  private(set) var reportFailure: (any Error)?
  /// Bytes a second that memory gave, by the number of threads.
  private var roofs: [Int: Double] = [:]
  private var environment: Environment?
  private var adapterByteCounts: [String: Int] = [:]
  private let started: SystemState

  /// Checks that every model opens before long work begins.
  init(plan: RunPlan) throws {
    self.plan = plan
    for model in plan.models { _ = try ModelPath.open(model) }
    started = probe.state()
    // Each writer is made with the capacity that its tier needs.
    recorder = TraceRecorder(eventCapacity: 0)
  }

  /// Measures everything and judges it, and hands out each row as soon as it is known. Ends early
  /// where `Interruption` asks for it; `isComplete` says so.
  mutating func measure(_ show: (RunRow) throws -> Void) throws {
    let runs = plan.models.flatMap { model in plan.threadCounts.map { (model, $0) } }
    for (index, run) in runs.enumerated() {
      guard isComplete else { break }
      do {
        try measure(run.0, threads: run.1, runsLeft: runs.count - 1 - index, show)
      } catch let failure as ReportFailure {
        // Nobody reads the report any more: what was measured is still written to files.
        isComplete = false
        reportFailure = failure.reason
      }
    }
    Console.progress("")
    recording = recorder.finish(metadata: metadata)
    environment?.after = probe.state()
    environment?.isComplete = isComplete
  }

  /// The report could not be written.
  private struct ReportFailure: Error {
    var reason: any Error
  }

  private mutating func measure(
    _ model: String, threads: Int?, runsLeft: Int, _ show: (RunRow) throws -> Void
  ) throws {
    Console.progress("\(model): measuring the memory roof")
    let roof = try memoryRoof(threads: threads)
    ResidentMemory.resetPeak()
    Console.progress("\(model): loading")
    let engine = try EngineLoader.load(model, options: plan.setup.options(threads: threads))
    if plan.isVerbose { Console.error(Self.description(of: engine.facts, file: model)) }
    let adapters = try plan.configuration.adapters.compactMap { path in
      try path.map { try engine.loadAdapter($0) }
    }
    for adapter in adapters { adapterByteCounts[adapter.name] = adapter.byteCount }
    try describeMachine()
    var runner = Runner(
      engine: engine, modelFilename: model, adapters: adapters, configuration: plan.configuration,
      recorder: recorder, isInterrupted: { Interruption.signal != nil })
    var before = probe.state()
    let started = ContinuousClock.now
    isComplete = try runner.run { event in
      switch event {
      case .block: before = probe.state()
      case .request(let progress):
        // The other runs take about as long as this one.
        let spent = (ContinuousClock.now - started) / .seconds(1)
        let left = progress.secondsLeft.map { $0 + Double(runsLeft) * (spent + $0) }
        let line = "\(model): \(progress.what), \(progress.done) of \(progress.total) requests"
        if plan.showsProgress { Console.error(line) }
        Console.progress(line, secondsLeft: left)
        let isFirst = progress.done == 0 && rows.isEmpty
        if !isFirst { Interruption.wait(seconds: plan.delay) }
      case .measured(let cell):
        let row = judged(
          cell, of: engine.facts, model: model, roof: roof,
          change: SystemChange(from: before, to: probe.state()))
        rows.append(row)
        samples += cell.samples.enumerated().map {
          SampleRecord(row: row, index: $0.offset, request: $0.element)
        }
        do { try show(row) } catch { throw ReportFailure(reason: error) }
      }
    }
  }

  /// What reading memory reaches with that many threads: the best that this run has seen. It is
  /// measured before the model is loaded, so that the two are never resident together.
  private mutating func memoryRoof(threads: Int?) throws -> Double {
    let pool = ThreadPool(threadCount: threads, allowOversubscription: true)
    try pool.requireAllThreads()
    let roof = max(roofs[pool.threadCount] ?? 0, pool.measureReadBandwidth(passes: 14))
    roofs[pool.threadCount] = roof
    return roof
  }

  /// The row of a cell, with all that is known of its making.
  private func judged(
    _ cell: CellMeasurement, of facts: EngineFacts, model: String, roof: Double,
    change: SystemChange
  ) -> RunRow {
    var row = cell.row(facts: facts, modelFilename: model, configuration: plan.configuration)
    row.batchTokens = plan.batchTokens
    row.mapsWeights = plan.setup.mmap
    row.buildCommit = Version.commit
    row.buildNumber = Version.number
    row.cpuInfo = environment?.cpuModel ?? probe.cpuModel()
    row.availableCoreCount = ThreadPool.availableCoreCount
    row.peakResidentByteCount = probe.state(measuresClock: false).peakResidentByteCount
    row.recordBandwidth(
      decodeWeightByteCount: facts.decodeWeightByteCount
        + (row.adapter.flatMap { adapterByteCounts[$0] } ?? 0),
      memoryReadBytesPerSecond: roof)
    row.recordingOverhead = overhead.share(of: cell)
    var evidence = VerdictEvidence()
    evidence.samples = row.sampleNanoseconds.map { Double($0) }
    evidence.change = change
    evidence.recordingOverhead = row.recordingOverhead
    // What is not kept is not missed.
    if plan.trace != nil || plan.bundle != nil {
      evidence.droppedEvents = Int(clamping: cell.droppedEvents)
    }
    evidence.error = row.error
    row.setVerdict(Verdict.judge(evidence))
    return row
  }

  /// `--verbose`: what was loaded, in one line.
  private static func description(of facts: EngineFacts, file: String) -> String {
    "\(file): \(facts.modelName), \(facts.modelType), \(facts.layerCount) layers, "
      + "\(facts.weightByteCount) bytes of weights, context \(facts.trainedContextLength), "
      + "\(facts.instructionSet), \(facts.threadCount) threads: "
      + facts.kernelNames.joined(separator: ", ")
  }

  private let overhead = TraceRecorder.measureOverhead()

  private mutating func describeMachine() throws {
    guard environment == nil else { return }
    let library = try KernelLibrary.named(plan.setup.isa)
    environment = probe.environment(
      toolVersion: Version.text, buildCommit: Version.commit,
      instructionSet: library.instructionSet.rawValue, features: library.features.featureNames)
    environment?.before = started
  }

  private var metadata: [Recording.Metadata] {
    Version.metadata + [
      .init(key: "cpu", value: environment?.cpuModel ?? ""),
      .init(key: "instruction set", value: environment?.instructionSet ?? ""),
      .init(key: "models", value: plan.models.joined(separator: ", ")),
    ]
  }

  /// Writes the bundle and the trace: all of their files, or none where one cannot be written.
  func writeFiles() throws {
    guard let recording else { return }
    let trace = plan.trace.map {
      PlannedFile(path: $0, content: PlannedFile.Content(recording, path: $0))
    }
    var files: [PlannedFile] = []
    if plan.bundle != nil, let environment {
      let texts = try BundleText.files(rows: rows, samples: samples, environment: environment)
      files = texts.map { PlannedFile(path: $0.name, content: .text($0.text)) }
      files += [
        PlannedFile(path: BundleText.recordingName, content: .recording(recording)),
        PlannedFile(path: BundleText.perfettoName, content: .perfetto(recording)),
      ]
    }
    try PlannedFile.write(trace, bundle: files.isEmpty ? nil : plan.bundle, files: files)
  }
}

extension RecordingOverhead {
  /// The share of a cell's time that recording took: its events' cost over its requests' time.
  fileprivate func share(of cell: CellMeasurement) -> Double? {
    let nanoseconds = cell.samples.reduce(UInt64(0)) { $0 + ($1.ended - $1.submitted) }
    guard nanoseconds > 0 else { return nil }
    return share(ofEvents: cell.eventCount, in: nanoseconds)
  }
}

/// The process's resident memory as the system counts it.
enum ResidentMemory {
  /// Begins a new peak, so that each model's is its own; does nothing where the system refuses.
  static func resetPeak() {
    guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return }
    try? file.write(contentsOf: Data("5".utf8))
    try? file.close()
  }
}
