/// What a verdict is made from.
package struct VerdictEvidence: Sendable {
  /// The measured times, in the order they were taken.
  package var samples: [Double] = []
  /// What the system did meanwhile; nil where it was not probed.
  package var change: SystemChange?
  package var isDebugBuild = BuildConfiguration.isDebug
  /// Trace events that found no room.
  package var droppedEvents = 0
  /// The share of the measured time that recording took.
  package var recordingOverhead: Double?
  /// What went wrong.
  package var error: String?

  package init() {}
}

extension Verdict {
  /// The limits beyond which something speaks against a result.
  package enum Limit {
    /// Below this the effects that are looked for (5 %) cannot be hidden by it.
    package static let recordingOverhead = 0.01
    /// Below this there is no 95 % interval of a median; see `Statistics.minimumIntervalCount`.
    package static let sampleCount = Statistics.minimumIntervalCount
    /// Scaled median deviation over median. Repetitions on a quiet machine lie within 1–2 %; at
    /// 5 % an effect of 5 % is not seen in a handful of samples.
    package static let spread = 0.05
    /// Outliers beyond this share are no accidents but a second way of running.
    package static let outlierShare = 0.2
    /// The shift between the halves of the samples: the smallest effect of interest.
    package static let drift = 0.05
    /// One tick of 10 ms in a second of one CPU: the finest that the counter shows.
    package static let stealShare = 0.01
    /// The share of time in which some task waited; one core's worth of threads more than there
    /// are cores gives tens of percent, an idle machine's housekeeping below one.
    package static let pressureShare = 0.05
    /// CPU time of others over that of all CPUs; housekeeping takes about 1 %.
    package static let othersShare = 0.05
    /// The calibration loop repeats within 1 % on an undisturbed core.
    package static let clockChange = 0.03
    /// Counters of ticks say nothing about less time than this: a tick is 10 ms, 5 % of it.
    package static let shortestProbedNanoseconds: UInt64 = 200_000_000
  }

  /// Judges a result by all that is known of its making.
  package static func judge(_ evidence: VerdictEvidence) -> Verdict {
    var verdict = Verdict()
    verdict.judgeMaking(evidence)
    if evidence.error == nil { verdict.judgeSamples(evidence.samples) }
    if let change = evidence.change { verdict.judgeSystem(change) }
    return verdict
  }

  private mutating func add(_ reason: VerdictReason, _ words: String) {
    findings.append(VerdictFinding(reason: reason, words: words))
  }

  private mutating func judgeMaking(_ evidence: VerdictEvidence) {
    if let error = evidence.error { add(.error, error) }
    if evidence.isDebugBuild { add(.debugBuild, "a debug build's times mean nothing") }
    if evidence.droppedEvents > 0 {
      add(.droppedEvents, "the recording lost \(evidence.droppedEvents) events")
    }
    if let share = evidence.recordingOverhead, share > Limit.recordingOverhead {
      add(
        .recordingOverhead,
        "recording took \(percent(share)) of the time (limit \(percent(Limit.recordingOverhead)))")
    }
  }

  private mutating func judgeSamples(_ samples: [Double]) {
    if samples.count < Limit.sampleCount {
      add(.tooFewSamples, "needs \(Limit.sampleCount) samples, has \(samples.count)")
    }
    guard let median = Statistics.median(samples), median > 0,
      let deviation = Statistics.scaledMedianDeviation(samples),
      let outliers = Statistics.outlierShare(samples)
    else { return }
    if deviation / median > Limit.spread {
      add(
        .spread,
        "the samples spread by \(percent(deviation / median)) (limit \(percent(Limit.spread)))")
    } else if outliers > Limit.outlierShare {
      add(
        .spread,
        "\(percent(outliers)) of the samples are outliers (limit \(percent(Limit.outlierShare)))")
    }
    if let drift = Statistics.drift(samples), abs(drift) > Limit.drift {
      add(
        .drift,
        "the second half took \(percent(abs(drift))) \(drift > 0 ? "more" : "less") than the first "
          + "(limit \(percent(Limit.drift)))")
    }
  }

  private mutating func judgeSystem(_ change: SystemChange) {
    if change.nanoseconds >= Limit.shortestProbedNanoseconds {
      if let share = change.stealShare, share > Limit.stealShare {
        add(
          .stealTime,
          "\(percent(share)) of CPU time was stolen (limit \(percent(Limit.stealShare)))")
      }
      if let share = change.pressureShare, share > Limit.pressureShare {
        add(
          .cpuPressure,
          "tasks waited for a CPU in \(percent(share)) of the time "
            + "(limit \(percent(Limit.pressureShare)))")
      }
      if let share = change.othersShare, share > Limit.othersShare {
        add(
          .competingLoad,
          "others took \(percent(share)) of CPU time (limit \(percent(Limit.othersShare)))")
      }
    }
    if let ratio = change.clockRatio, abs(ratio - 1) > Limit.clockChange {
      add(
        .clockChanged,
        "the effective clock changed by \(percent(ratio - 1)) (limit \(percent(Limit.clockChange)))"
      )
    }
    if let faults = change.majorFaults, faults > 0 {
      add(.majorFaults, "\(faults) pages had to be read from disk")
    }
  }

  /// A share as percent with one decimal.
  private func percent(_ share: Double) -> String { DecimalText.fixed(share * 100, 1) + " %" }
}
