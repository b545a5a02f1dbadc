import BenchCore
import Testing

@Suite struct VerdictTests {
  /// A release build's quiet measurement.
  private var quiet: VerdictEvidence {
    var evidence = VerdictEvidence()
    evidence.isDebugBuild = false
    evidence.samples = [100, 101, 99, 100, 101, 100]
    evidence.recordingOverhead = 0.001
    evidence.change = change { _ in }
    return evidence
  }

  /// A second between two states of a quiet machine with two CPUs, one of them ours.
  private func change(_ disturb: (inout SystemState) -> Void) -> SystemChange {
    var before = SystemState()
    before.processCPUNanoseconds = 0
    before.busyNanoseconds = 0
    before.totalNanoseconds = 0
    before.stealNanoseconds = 0
    before.pressureNanoseconds = 0
    before.majorFaults = 3
    before.involuntarySwitches = 0
    before.effectiveGigahertz = 3
    var after = before
    after.monotonicNanoseconds = 1_000_000_000
    after.processCPUNanoseconds = 1_000_000_000
    after.busyNanoseconds = 1_020_000_000
    after.totalNanoseconds = 2_000_000_000
    disturb(&after)
    return SystemChange(from: before, to: after)
  }

  @Test func quietIsTrusted() {
    let verdict = Verdict.judge(quiet)
    #expect(verdict.level == .trusted)
    #expect(verdict.findings.isEmpty)
  }

  /// What each reason is found by, and its words.
  private static let cases:
    [(VerdictReason, Verdict.Level, String, @Sendable (inout VerdictEvidence) -> Void)] = [
      (.error, .invalid, "out of context", { $0.error = "out of context" }),
      (.debugBuild, .invalid, "a debug build's times mean nothing", { $0.isDebugBuild = true }),
      (.droppedEvents, .noisy, "the recording lost 7 events", { $0.droppedEvents = 7 }),
      (
        .recordingOverhead, .noisy, "recording took 2.0 % of the time (limit 1.0 %)",
        { $0.recordingOverhead = 0.02 }
      ),
      (.tooFewSamples, .noisy, "needs 6 samples, has 5", { $0.samples.removeLast() }),
      (
        .spread, .noisy, "the samples spread by 14.8 % (limit 5.0 %)",
        { $0.samples = [100, 110, 90, 100, 110, 90, 100, 110, 90] }
      ),
      (
        .spread, .noisy, "33.3 % of the samples are outliers (limit 20.0 %)",
        { $0.samples = [100, 300, 101, 99, 300, 100] }
      ),
    ]

  @Test(arguments: 0..<cases.count)
  func reasons(index: Int) {
    let (reason, level, words, disturb) = Self.cases[index]
    var evidence = quiet
    disturb(&evidence)
    let verdict = Verdict.judge(evidence)
    #expect(verdict.findings == [VerdictFinding(reason: reason, words: words)])
    #expect(verdict.level == level)
  }

  @Test func drift() {
    var evidence = quiet
    evidence.samples = [100, 100.5, 100, 100.5, 100, 106, 106.5, 106, 106.5, 106]
    let verdict = Verdict.judge(evidence)
    #expect(verdict.findings.map(\.reason) == [.drift])
    #expect(
      verdict.findings.first?.words
        == "the second half took 5.8 % more than the first (limit 5.0 %)")
  }

  @Test func whatTheSystemDid() {
    let disturbances: [(VerdictReason, String, (inout SystemState) -> Void)] = [
      (
        .stealTime, "2.0 % of CPU time was stolen (limit 1.0 %)",
        { $0.stealNanoseconds = 40_000_000 }
      ),
      (
        .cpuPressure, "tasks waited for a CPU in 30.0 % of the time (limit 5.0 %)",
        { $0.pressureNanoseconds = 300_000_000 }
      ),
      (
        .competingLoad, "others took 25.0 % of CPU time (limit 5.0 %)",
        { $0.busyNanoseconds = 1_500_000_000 }
      ),
      (
        .clockChanged, "the effective clock changed by -10.0 % (limit 3.0 %)",
        { $0.effectiveGigahertz = 2.7 }
      ),
      (.majorFaults, "2 pages had to be read from disk", { $0.majorFaults = 5 }),
    ]
    for (reason, words, disturb) in disturbances {
      var evidence = quiet
      evidence.change = change(disturb)
      let verdict = Verdict.judge(evidence)
      #expect(verdict.findings == [VerdictFinding(reason: reason, words: words)])
      #expect(verdict.level == .noisy)
    }
  }

  @Test func tooShortATimeSaysNothingOfTicks() {
    var evidence = quiet
    evidence.change = change {
      $0.monotonicNanoseconds = 100_000_000
      $0.stealNanoseconds = 40_000_000
    }
    #expect(Verdict.judge(evidence).level == .trusted)
  }

  @Test func theWorstDecides() {
    var evidence = quiet
    evidence.samples = [1]
    evidence.isDebugBuild = true
    #expect(Verdict.judge(evidence).level == .invalid)
  }

  @Test func anUnknownStateSaysNothing() {
    var evidence = quiet
    var after = SystemState()
    after.monotonicNanoseconds = 1_000_000_000
    evidence.change = SystemChange(from: SystemState(), to: after)
    #expect(Verdict.judge(evidence).level == .trusted)
  }
}
