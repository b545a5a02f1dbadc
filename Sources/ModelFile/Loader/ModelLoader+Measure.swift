import Glibc
import Synchronization
import TensorCore

/// What one stage reaches when it does nothing but its own work.
public struct StageMeasurement: Hashable, Sendable {
  /// Which stage.
  public var stage: LoadStage
  /// From the first to the last piece of work, on all threads at once.
  public var elapsedNanoseconds: Int
  /// Processor time, over all threads.
  public var processorNanoseconds: Int
  /// Bytes that the stage took in (inflate and allocate: that it gave out).
  public var byteCount: Int
}

extension ModelLoader {
  /// Runs one stage alone over all tensors of a file, on as many threads as loading does.
  ///
  /// Inflating is done as `zstd -b -d` does it: from memory that is there into memory that is there,
  /// which holds all of the content, with the contents' checksums. Transcoding takes whatever bytes
  /// are in a buffer: its speed does not depend on them. Reading brings pages that are not mapped
  /// yet, allocating gets memory anew. A stage that the file does not need takes no time.
  public func measure(_ stage: LoadStage, of file: AFMWFile) throws(LoadError) -> StageMeasurement {
    var alone = self
    alone.checksContent = true
    let source = try alone.source(file, Array(file.tensors.indices))
    if stage == .check || stage == .inflate { _ = try alone.run(.read, source) }
    if stage == .inflate || stage == .transcode { _ = try alone.run(.allocate, source) }
    return try alone.run(stage, source)
  }

  private func run(
    _ stage: LoadStage, _ source: LoadSource
  ) throws(LoadError) -> StageMeasurement {
    let start = StageClock.nanoseconds(CLOCK_MONOTONIC)
    let accounts = Mutex<[StageClock]>([])
    try WorkerGroup.forEach(
      source.plan.jobs.count, threads: threads,
      context: { LoadWorker(source, clock: StageClock(worker: 0, keepsIntervals: false)) },
      finish: { worker in accounts.withLock { $0.append(worker.clock) } }
    ) { worker, number throws(LoadError) in
      if let cancellation, cancellation.isCancelled { throw .cancelled }
      do throws(InputError) { try worker.run(stage, of: source.plan.jobs[number]) } catch {
        throw .input(error.inFile(source.container.path))
      }
    }
    let end = StageClock.nanoseconds(CLOCK_MONOTONIC)
    var report = LoadReport()
    for account in accounts.withLock({ $0 }) { report.add(account) }
    return StageMeasurement(
      stage: stage, elapsedNanoseconds: Int(end &- start),
      processorNanoseconds: report[stage].processorNanoseconds,
      byteCount: report[stage].byteCount)
  }
}

extension LoadWorker {
  /// One stage of one job, where the job has it.
  fileprivate mutating func run(
    _ stage: LoadStage, of job: LoadPlan.Job
  ) throws(InputError) {
    switch stage {
    case .read: try read(job)
    case .check: checkAlone(job)
    case .inflate: try inflateAlone(job)
    case .allocate: allocateAlone(job)
    case .transcode: try transcodeAlone(job)
    case .validate: return
    }
  }
}
