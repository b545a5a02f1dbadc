/// A stage of loading.
public enum LoadStage: String, CaseIterable, Hashable, Sendable {
  /// Bringing file bytes from the page cache (or the disk) into the mapping, and giving the
  /// mapping's pages back.
  case read
  /// Holding bytes of the file against their digests.
  case check
  /// zstd bytes to plane bytes.
  case inflate
  /// Having the system hand out, and clear, the memory that tensors go to.
  case allocate
  /// Plane bytes from the canonical to the run-time layout.
  case transcode
  /// Holding values against the rules of their formats.
  case validate
}

/// How loading went: what each stage took, on all threads together.
public struct LoadReport: Hashable, Sendable {
  /// One stage's account.
  public struct Timing: Hashable, Sendable {
    /// Bytes that the stage took in (inflate and allocate: that it gave out).
    public var byteCount = 0
    /// Processor time, over all threads.
    public var processorNanoseconds = 0
    /// Time on the clock, over all threads: more than processor time where a stage waited.
    public var elapsedNanoseconds = 0
    /// How many times the stage ran.
    public var count = 0
    mutating func add(_ other: Timing) {
      byteCount += other.byteCount
      processorNanoseconds += other.processorNanoseconds
      elapsedNanoseconds += other.elapsedNanoseconds
      count += other.count
    }
  }

  /// One piece of work of one thread, for a trace.
  public struct Interval: Hashable, Sendable {
    /// Which stage.
    public var stage: LoadStage
    /// The thread's number in this loading, from 0.
    public var worker: Int
    /// Nanoseconds of the monotonic clock.
    public var start: UInt64
    /// Likewise.
    public var end: UInt64
    /// Bytes that the stage took in.
    public var byteCount: Int
  }

  /// From the call until every tensor was ready.
  public var readyNanoseconds = 0
  /// When loading began, on the monotonic clock.
  public var startNanoseconds: UInt64 = 0
  /// Bytes of the tensors in memory.
  public var tensorByteCount = 0
  /// Of them, bytes in the mapped file.
  public var mappedByteCount = 0
  /// Bytes of the file that belong to the tensors.
  public var storedByteCount = 0
  /// Threads that worked.
  public var threadCount = 0
  /// The share of the file that was in the page cache when loading began, 0…1.
  public var residentShare = 1.0
  /// Every stage.
  public var stages: [LoadStage: Timing] = [:]
  /// The single pieces of work, where they were asked for.
  public var intervals: [Interval] = []

  /// A stage's account; all zero where it did not run.
  public subscript(stage: LoadStage) -> Timing { stages[stage] ?? Timing() }
}
