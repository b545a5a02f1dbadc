import Foundation
import ModelFile
import TraceCore

/// Loadings as a recording: one track for the whole, one for each thread with its stages.
struct LoadRecording {
  let recording: Recording

  init(samples: [LoadSample], file: String) {
    let process = ProcessInfo.processInfo.processIdentifier
    var main: [TraceEvent] = []
    var workers: [[TraceEvent]] = []
    for (number, sample) in samples.enumerated() {
      let report = sample.report
      let end = report.startNanoseconds + UInt64(report.readyNanoseconds)
      main.append(
        Self.begin(
          .load, at: report.startNanoseconds, .repetition, Int64(number), .bytes,
          Int64(report.tensorByteCount)))
      main.append(Self.end(at: end))
      for interval in report.intervals.sorted(by: { $0.start < $1.start }) {
        while workers.count <= interval.worker { workers.append([]) }
        workers[interval.worker].append(
          Self.begin(
            Self.name(of: interval.stage), at: interval.start, .bytes,
            Int64(interval.byteCount), .repetition, Int64(number)))
        workers[interval.worker].append(Self.end(at: interval.end))
      }
    }
    var tracks = [
      // The command runs on the process's first thread, which has the process's id.
      Recording.Track(name: "load", threadID: process, events: main)
    ]
    for (index, events) in workers.enumerated() {
      tracks.append(
        // Its thread is gone, and was another one in each loading.
        Recording.Track(name: "loader \(index)", events: events))
    }
    var start = TraceClock.snapshot()
    let finish = start
    // The clocks run alike: the first loading's moment on each of them.
    let first = samples.first?.report.startNanoseconds ?? start.monotonicNanoseconds
    let elapsed = start.monotonicNanoseconds - min(first, start.monotonicNanoseconds)
    start.monotonicNanoseconds -= elapsed
    start.realtimeNanoseconds -= elapsed
    start.boottimeNanoseconds -= min(elapsed, start.boottimeNanoseconds)
    recording = Recording(
      processID: process, start: start, end: finish,
      metadata: Version.metadata + [.init(key: "file", value: file)],
      strings: [], tracks: tracks)
  }

  private static func name(of stage: LoadStage) -> TraceName {
    switch stage {
    case .read: .read
    case .check: .verify
    case .inflate: .inflate
    case .allocate: .allocate
    case .transcode: .transcode
    case .validate: .validate
    }
  }

  private static func begin(
    _ name: TraceName, at time: UInt64, _ key0: TraceKey, _ value0: Int64, _ key1: TraceKey,
    _ value1: Int64
  ) -> TraceEvent {
    TraceEvent(
      timestamp: time, kind: .begin, code: name.rawValue, argumentCount: 2, key0: key0.rawValue,
      key1: key1.rawValue, key2: 0, value0: value0, value1: value1, value2: 0)
  }

  private static func end(at time: UInt64) -> TraceEvent {
    TraceEvent(
      timestamp: time, kind: .end, code: 0, argumentCount: 0, key0: 0, key1: 0, key2: 0, value0: 0,
      value1: 0, value2: 0)
  }
}
