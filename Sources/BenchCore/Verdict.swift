/// Whether a result is to be believed, and why not.
package struct Verdict: Hashable, Sendable {
  package var findings: [VerdictFinding]

  package init(findings: [VerdictFinding] = []) { self.findings = findings }

  /// The worst of the findings' severities.
  package enum Level: String, Codable, CaseIterable, Comparable, Sendable {
    /// Nothing was found against it.
    case trusted
    /// Something disturbed it: repeat it, or use it with its interval.
    case noisy
    /// It does not measure what it says.
    case invalid

    package static func < (a: Self, b: Self) -> Bool { a.severity < b.severity }

    private var severity: Int {
      switch self {
      case .trusted: 0
      case .noisy: 1
      case .invalid: 2
      }
    }
  }

  /// The worst severity among the findings.
  package var level: Level { findings.map(\.reason.severity).max() ?? .trusted }
}

/// One thing that speaks against a result.
package struct VerdictFinding: Hashable, Sendable {
  package var reason: VerdictReason
  /// What was seen and what was allowed, in words.
  package var words: String

  package init(reason: VerdictReason, words: String) {
    self.reason = reason
    self.words = words
  }
}

/// All that can speak against a result.
package enum VerdictReason: String, Codable, CaseIterable, Hashable, Sendable {
  case error
  case debugBuild = "debug-build"
  case droppedEvents = "dropped-events"
  case recordingOverhead = "recording-overhead"
  case tooFewSamples = "too-few-samples"
  case spread
  case drift
  case stealTime = "steal-time"
  case cpuPressure = "cpu-pressure"
  case competingLoad = "competing-load"
  case clockChanged = "clock-changed"
  case majorFaults = "major-faults"

  /// Whether it is about the machine at that time rather than about the row.
  package var isOfMachine: Bool {
    switch self {
    case .debugBuild, .droppedEvents, .recordingOverhead, .stealTime, .cpuPressure, .competingLoad,
      .clockChanged, .majorFaults:
      true
    case .error, .tooFewSamples, .spread, .drift: false
    }
  }

  /// How much it costs the result.
  package var severity: Verdict.Level {
    switch self {
    case .error, .debugBuild: .invalid
    // A row's figures come from its requests, not from the recording.
    case .droppedEvents, .recordingOverhead, .tooFewSamples, .spread, .drift, .stealTime,
      .cpuPressure,
      .competingLoad, .clockChanged, .majorFaults:
      .noisy
    }
  }
}
