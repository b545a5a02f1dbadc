import Files
import Glibc
import PackedFormats
import Synchronization
import TensorCore

/// Loads tensors on all cores at once: every frame is read, checked, inflated and brought into the
/// layout that kernels run, one thread a frame from beginning to end.
///
/// ```
/// var loader = ModelLoader(threads: 2)
/// loader.layout = { $0.format.kernelLayout ?? .canonical }
/// let loaded = try loader.load(file)
/// print(loaded.report[.inflate].processorNanoseconds)
/// ```
///
/// A frame's bytes stay in a core's caches between the stages: the file is mapped, its content is
/// inflated into a buffer of 1 MiB and goes from there to its place. Planes that are stored in the
/// layout that is asked for are used where they are mapped (``mapsStoredPlanes``), without a copy,
/// but not unchecked.
///
/// Memory: the tensors, about 1.3 MiB a thread, and the mapped pages of the last 48 MiB of frames.
///
/// The whole file is mapped while it is loaded. Pages that cannot be read when their frame's turn
/// comes are an error; if another process shortens the file in the moment between that and their
/// use, the system raises SIGBUS. `afm-bench` has a handler that ends it with one line; a program
/// that loads files which others may shorten needs its own. ``AFMWFile`` reads what it reads by
/// itself without a mapping.
public struct ModelLoader: Sendable {
  /// How many threads work at once.
  public var threads: Int
  /// How a tensor's planes are to lie in memory. Where the layout does not hold the format, or
  /// would pad the tensor to more than twice its bytes, the planes stay canonical.
  public var layout: @Sendable (StoredTensor) -> WeightLayout = { _ in .canonical }
  /// Whether planes that are stored in that layout are used where the file is mapped; otherwise they
  /// are copied to huge pages like all others. Mapped ones take no memory of their own and no time
  /// to copy, but kernels read them as fast as the pieces are large in which the page cache happens
  /// to hold the file: decoding was up to a tenth slower from one that came there in small ones.
  public var mapsStoredPlanes = true
  /// Called from the working threads, one call at a time, with the plane bytes ready so far.
  public var progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?
  /// What ends loading early.
  public var cancellation: LoadCancellation?
  /// Whether the report holds every single piece of work.
  public var keepsIntervals = false
  /// Whether zstd computes the checksums of contents although the digests of the frames have been
  /// checked.
  var checksContent = false

  /// A loader on that many threads.
  public init(threads: Int) {
    precondition(threads > 0, "no threads")
    self.threads = threads
  }

  /// The tensors, in the order that was asked for, and how loading went.
  public struct Loaded: Sendable {
    /// The tensors.
    public var tensors: [LoadedTensor]
    /// What each stage took.
    public var report: LoadReport
    /// Of tensors that stayed canonical because the layout that was asked for has no place for one
    /// of their blocks: which, and why.
    public var refusals: [InputError] = []
  }

  /// Loads tensors, all of them unless some are named by their places in `file.tensors`.
  ///
  /// - Throws: `.input` with the first fault in file order: a digest that does not match, a frame
  ///   that zstd refuses, values that the format forbids; with tensor, frame and file offset.
  ///   `.cancelled` where `cancellation` was used.
  public func load(
    _ file: AFMWFile, tensors indices: [Int]? = nil
  ) throws(LoadError) -> Loaded {
    var loaded = try loadFrames(of: file, indices)
    if loaded.tensors.contains(where: becomesASTCTiles) { try makeASTCTiles(&loaded, file) }
    return loaded
  }

  /// Loads tensors into what can be made of single frames: anything but ASTC tiles.
  private func loadFrames(
    of file: AFMWFile, _ indices: [Int]?
  ) throws(LoadError) -> Loaded {
    let start = StageClock.nanoseconds(CLOCK_MONOTONIC)
    let source = try source(file, indices ?? Array(file.tensors.indices))
    var report = LoadReport()
    report.startNanoseconds = start
    report.residentShare = source.mapped.residentAtStart
    do {
      try runJobs(source, &report)
      try finish(source, &report)
      // Whoever loads everything wants to know that all of the file is sound.
      if indices == nil { try checkUnnamedFrames(file) }
    } catch {
      guard case .input(let fault) = error else { throw error }
      throw .input(fault.inFile(file.path))
    }
    report.tensorByteCount = source.plan.tensors.reduce(0) { $0 + $1.byteCount }
    report.mappedByteCount = source.plan.mappedByteCount
    report.storedByteCount = source.plan.tensors.reduce(0) { $0 + $1.description.storedByteCount }
    report.readyNanoseconds = Int(StageClock.nanoseconds(CLOCK_MONOTONIC) &- start)
    return Loaded(tensors: source.plan.tensors, report: report)
  }

  private func checkUnnamedFrames(_ file: AFMWFile) throws(LoadError) {
    do { try file.verifyUnnamedFrames(threads: threads) } catch { throw .input(error) }
  }

  /// Maps the file and makes room.
  func source(_ file: AFMWFile, _ indices: [Int]) throws(LoadError) -> LoadSource {
    let mapped: MappedFile
    do { mapped = try MappedFile(file.file) } catch {
      throw .input(InputError(error, file: file.path))
    }
    let plan = LoadPlan(
      indices.map { file.tensors[$0] }, table: file.table, mapped: mapped,
      mapsStoredPlanes: mapsStoredPlanes, layout: layout)
    return LoadSource(
      container: file, mapped: mapped, plan: plan, checksContent: checksContent)
  }

  private func runJobs(_ source: LoadSource, _ report: inout LoadReport) throws(LoadError) {
    let meter = ProgressMeter(
      total: source.plan.jobs.reduce(0) { $0 + $1.byteCount }, report: progress)
    let workers = Atomic<Int>(0)
    let accounts = Mutex<[StageClock]>([])
    report.threadCount = try WorkerGroup.forEach(
      source.plan.jobs.count, threads: threads,
      context: {
        LoadWorker(
          source,
          clock: StageClock(
            worker: workers.wrappingAdd(1, ordering: .relaxed).oldValue,
            keepsIntervals: keepsIntervals))
      },
      finish: { worker in accounts.withLock { $0.append(worker.clock) } }
    ) { worker, number throws(LoadError) in
      if let cancellation, cancellation.isCancelled { throw .cancelled }
      do throws(InputError) { try worker.run(number) } catch { throw .input(error) }
      meter.add(source.plan.jobs[number].byteCount)
    }
    // Where a tensor keeps the mapping, it keeps the pages that were not given back on the way.
    source.release(jobs: max(0, source.plan.jobs.count - 64)..<source.plan.jobs.count)
    for account in accounts.withLock({ $0 }) { report.add(account) }
  }

  /// What needs whole planes: the words that two frames share, the digests of stored planes, and
  /// the values.
  private func finish(_ source: LoadSource, _ report: inout LoadReport) throws(LoadError) {
    for (tensor, planes) in source.plan.planes.enumerated() {
      for plane in planes {
        do { try plane.finish(tensor: tensor, source) } catch { throw .input(error) }
      }
    }
    var pieces: [(tensor: LoadedTensor, units: Range<Int>)] = []
    for tensor in source.plan.tensors {
      let count = tensor.validationUnitCount
      let unitsAtOnce = max(1, Self.validationByteCount / max(1, tensor.byteCount / count))
      for start in stride(from: 0, to: count, by: unitsAtOnce) {
        pieces.append((tensor, start..<min(count, start + unitsAtOnce)))
      }
    }
    let workers = Atomic<Int>(0)
    let accounts = Mutex<[StageClock]>([])
    let all = pieces
    try WorkerGroup.forEach(
      all.count, threads: threads,
      context: {
        StageClock(
          worker: workers.wrappingAdd(1, ordering: .relaxed).oldValue,
          keepsIntervals: keepsIntervals)
      },
      finish: { clock in accounts.withLock { $0.append(clock) } }
    ) { clock, number throws(LoadError) in
      if let cancellation, cancellation.isCancelled { throw .cancelled }
      let piece = all[number]
      let byteCount = piece.tensor.byteCount / piece.tensor.validationUnitCount * piece.units.count
      do throws(InputError) {
        try clock.measure(.validate, byteCount: byteCount) { () throws(InputError) in
          try piece.tensor.validate(piece.units)
        }
      } catch {
        throw .input(error)
      }
    }
    for account in accounts.withLock({ $0 }) { report.add(account) }
  }

  /// What one thread validates at a time.
  private static var validationByteCount: Int { 4 << 20 }
}

extension LoadPlan.PlaneWork {
  /// Holds a stored plane against its digest, and brings the words that two frames share.
  fileprivate func finish(tensor: Int, _ source: LoadSource) throws(InputError) {
    let chunk = ContainerLayout.contentLimit
    let count = (stored.byteCount + chunk - 1) / chunk
    if stored.storage == .stored {
      let hashes = (0..<count).lazy.map { notes[hash: $0] }
      guard ContentDigest.of(chunkHashes: hashes) == stored.digest else {
        throw InputError(
          place: "tensor \(source.plan.tensors[tensor].name): frame \(stored.frames.lowerBound)",
          offset: stored.fileOffset, reason: "the \(stored.plane) do not match their digest")
      }
    }
    guard case .interleaved(let layout) = way, stored.plane == .codes, count > 1 else { return }
    for index in 1..<count {
      let edges = notes.edges(at: index)
      let row = unsafe layout.stitch(
        at: index * chunk, before: edges.before, after: edges.after, into: destination.address)
      if let row { throw source.fault(row: row, tensor: tensor) }
    }
  }
}
