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
  /// What each row is judged by.
  private var evidence: [VerdictEvidence] = []
  private var environment: Environment?
  private var adapterByteCounts: [String: Int] = [:]
  private let started: SystemState

  /// Checks that every model opens and every output can be written, before long work begins.
  init(plan: RunPlan) throws {
    self.plan = plan
    for model in plan.models { _ = try ModelPath.open(model) }
    if let trace = plan.trace {
      for model in plan.models { try OutputPath.check(trace, isNot: model) }
    }
    started = probe.state()
    // Each writer is made with the capacity that its tier needs.
    recorder = TraceRecorder(eventCapacity: 0)
    if let bundle = plan.bundle { try OutputFolder.check(bundle) }
    if let trace = plan.trace { _ = try OutputFile(creating: trace) }
  }

  /// Measures everything and judges it.
  mutating func measure() throws {
    for model in plan.models {
      for threads in plan.threadCounts { try measure(model, threads: threads) }
    }
    Console.progress("")
    let recording = recorder.finish(metadata: metadata)
    self.recording = recording
    environment?.after = probe.state()
    // What the recording lost is known only now.
    for index in rows.indices {
      evidence[index].droppedEvents = Int(clamping: recording.droppedEvents)
      rows[index].setVerdict(Verdict.judge(evidence[index]))
    }
  }

  private mutating func measure(_ model: String, threads: Int?) throws {
    Console.progress("\(model): measuring the memory roof")
    let roofBefore = ThreadPool(threadCount: threads).measureReadBandwidth()
    ResidentMemory.resetPeak()
    let runner: [CellMeasurement]
    let facts: EngineFacts
    let before: SystemState
    do {
      Console.progress("\(model): loading")
      let engine = try EngineLoader.load(model, options: plan.setup.options(threads: threads))
      facts = engine.facts
      let adapters = try plan.configuration.adapters.compactMap { path in
        try path.map { try engine.loadAdapter($0) }
      }
      for adapter in adapters { adapterByteCounts[adapter.name] = adapter.byteCount }
      before = probe.state()
      var measuring = Runner(
        engine: engine, adapters: adapters, configuration: plan.configuration, recorder: recorder)
      runner = measuring.run { done, total, what in
        Console.progress("\(model): \(done)/\(total) \(what)")
      }
    }
    let after = probe.state()
    let peak = probe.state(measuresClock: false).peakResidentByteCount
    // The engine is gone: its weights and the roof's block are never resident together.
    let roof = max(roofBefore, ThreadPool(threadCount: threads).measureReadBandwidth())
    describeMachine(facts)
    for cell in runner {
      var row = cell.row(
        facts: facts, modelFilename: model, configuration: plan.configuration)
      row.mapsWeights = plan.setup.mmap
      row.buildCommit = Version.commit
      row.buildNumber = Version.number
      row.cpuInfo = environment?.cpuModel ?? probe.cpuModel()
      row.peakResidentByteCount = peak
      row.recordBandwidth(
        decodeWeightByteCount: facts.decodeWeightByteCount
          + (row.adapter.flatMap { adapterByteCounts[$0] } ?? 0),
        memoryReadBytesPerSecond: roof)
      row.recordingOverhead = overhead.share(of: cell)
      var evidence = VerdictEvidence()
      evidence.samples = row.sampleNanoseconds.map { Double($0) }
      evidence.change = SystemChange(from: before, to: after)
      evidence.recordingOverhead = row.recordingOverhead
      evidence.error = row.error
      self.evidence.append(evidence)
      samples += cell.samples.enumerated().map {
        SampleRecord(row: row, index: $0.offset, request: $0.element)
      }
      rows.append(row)
    }
  }

  private let overhead = TraceRecorder.measureOverhead()

  private mutating func describeMachine(_ facts: EngineFacts) {
    guard environment == nil else { return }
    environment = probe.environment(
      toolVersion: Version.text, buildCommit: Version.commit,
      instructionSet: facts.instructionSet, features: CPUFeatures.detect().featureNames)
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
    var files: [PlannedFile] = []
    if let path = plan.trace {
      files.append(PlannedFile(path: path, content: PlannedFile.Content(recording, path: path)))
    }
    if let bundle = plan.bundle, let environment {
      try OutputFolder.make(bundle)
      let texts = try BundleText.files(rows: rows, samples: samples, environment: environment)
      files += texts.map { PlannedFile(path: "\(bundle)/\($0.name)", content: .text($0.text)) }
      files += [
        PlannedFile(path: "\(bundle)/\(BundleText.recordingName)", content: .recording(recording)),
        PlannedFile(path: "\(bundle)/\(BundleText.perfettoName)", content: .perfetto(recording)),
      ]
    }
    try PlannedFile.write(files[...])
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

/// A folder for results.
enum OutputFolder {
  /// Throws where the folder could not be made or written to; makes nothing.
  static func check(_ path: String) throws {
    var existing = URL(fileURLWithPath: path).standardizedFileURL
    while !FileManager.default.fileExists(atPath: existing.path), existing.path != "/" {
      existing.deleteLastPathComponent()
    }
    do {
      // A file that is never committed leaves nothing behind.
      _ = try OutputFile(creating: existing.appendingPathComponent("results.json").path)
    } catch {
      throw CommandFailure(.environment, "\(path): cannot make files there (\(error))")
    }
  }

  static func make(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure(.environment, "\(path): cannot make the folder")
    }
  }
}
