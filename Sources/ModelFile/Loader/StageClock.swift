import Glibc

/// One thread's account of its stages.
///
/// Two reads of two clocks around each piece of work: about a microsecond for a frame that takes a
/// millisecond.
struct StageClock {
  private let worker: Int
  private let keepsIntervals: Bool
  private(set) var timings = [LoadReport.Timing](
    repeating: LoadReport.Timing(), count: LoadStage.allCases.count)
  private(set) var intervals: [LoadReport.Interval] = []

  init(worker: Int, keepsIntervals: Bool) {
    self.worker = worker
    self.keepsIntervals = keepsIntervals
  }

  /// Runs one piece of work of a stage.
  @inline(__always)
  mutating func measure<Result: ~Copyable, Failure: Error>(
    _ stage: LoadStage, byteCount: Int, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = Self.nanoseconds(CLOCK_MONOTONIC)
    let startCPU = Self.nanoseconds(CLOCK_THREAD_CPUTIME_ID)
    let result = try body()
    let endCPU = Self.nanoseconds(CLOCK_THREAD_CPUTIME_ID)
    let end = Self.nanoseconds(CLOCK_MONOTONIC)
    timings[stage.index].add(
      LoadReport.Timing(
        byteCount: byteCount, processorNanoseconds: Int(endCPU &- startCPU),
        elapsedNanoseconds: Int(end &- start), count: 1))
    if keepsIntervals {
      intervals.append(
        LoadReport.Interval(
          stage: stage, worker: worker, start: start, end: end, byteCount: byteCount))
    }
    return result
  }

  static func nanoseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    // A local that outlives the call.
    _ = unsafe clock_gettime(clock, &time)
    return UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000
      &+ UInt64(truncatingIfNeeded: time.tv_nsec)
  }
}

extension LoadStage {
  fileprivate var index: Int {
    switch self {
    case .read: 0
    case .check: 1
    case .inflate: 2
    case .allocate: 3
    case .transcode: 4
    case .validate: 5
    }
  }
}

extension LoadReport {
  mutating func add(_ clock: StageClock) {
    for stage in LoadStage.allCases {
      let timing = clock.timings[stage.index]
      if timing.count > 0 { stages[stage, default: Timing()].add(timing) }
    }
    intervals += clock.intervals
  }
}
