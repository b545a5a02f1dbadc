import CPlatform

/// Threads that split one piece of work at a time: fork, join, and wait for the next one.
///
/// Both faces of the kernels use it: `ThreadPool` of Swift and `afm_pool` of C. The caller of a run
/// is thread 0. A run ends when all of its parts are done, whoever did them: see `ForkJoinState`.
/// One caller at a time; that is the face's to ensure.
@safe package struct ForkJoinPool {
  /// Performs one part of some work: the work's address, the part, the number of parts and the
  /// thread, for working memory.
  package typealias Part =
    @convention(c) (
      _ work: UnsafeRawPointer, _ part: Int, _ partCount: Int, _ thread: Int
    ) -> Void

  /// Pauses before a waiting thread sleeps, on cores of one's own: about the time of a token.
  package static var spinningPauses: Int { 20_000 }
  /// The same on shared cores: a microsecond or two.
  package static var politePauses: Int { 100 }

  /// Lies at an address of its own, which the workers know.
  private let state: UnsafeMutablePointer<ForkJoinState>
  /// Handles of the workers, and how many were started.
  private let handles: UnsafeMutablePointer<UInt>
  private let workerCount: Int
  /// Why the system refused a thread, as an errno; 0 where it refused none.
  package let refusalErrorNumber: Int32
  /// Holds 1 here, and 0 in processes that were forked from this one; nil where the system has no
  /// such memory.
  private let mark: UnsafeMutablePointer<UInt32>?
  /// The process that the workers belong to.
  private let process: Int32

  /// Starts threads, fewer where the system refuses one.
  ///
  /// - Parameters:
  ///   - threadCount: at least 1, the caller included.
  ///   - spinCount: pauses before a waiting thread sleeps.
  ///   - isPinned: binds each worker to a core of its own, where the system allows.
  package init(threadCount: Int, spinCount: Int, isPinned: Bool) {
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(
      to: ForkJoinState(threadCount: threadCount, spinCount: spinCount, isPinned: isPinned))
    unsafe handles = .allocate(capacity: threadCount)
    unsafe handles.initialize(repeating: 0, count: threadCount)
    unsafe mark = cp_fork_mark_create()
    process = cp_process()
    var started = 0
    var error: Int32 = 0
    while started + 1 < threadCount {
      error = unsafe startWorker(state, index: started + 1, handle: handles + started)
      guard error == 0 else { break }
      started += 1
    }
    workerCount = started
    refusalErrorNumber = error
    // Workers learn the count with a run, and there has been none.
    unsafe state.pointee.threadCount = started + 1
  }

  /// The threads of a run, the caller included; 1 in a forked process, which has no workers.
  package var threadCount: Int { isForked ? 1 : workerCount + 1 }

  /// Whether this process was forked from the one that started the threads. A fork copies none.
  package var isForked: Bool {
    if let mark = unsafe mark { return unsafe cp_load_acquire(mark) == 0 }
    return cp_process() != process
  }

  /// Ends the threads and frees everything; no run may be under way. A forked process has no
  /// threads to wait for.
  package func end() {
    if !isForked {
      unsafe state.pointee.stop()
      for index in 0..<workerCount { unsafe cp_thread_join(handles[index]) }
    }
    if let mark = unsafe mark { unsafe cp_fork_mark_destroy(mark) }
    unsafe handles.deallocate()
    unsafe state.pointee.deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Has every part of the work performed once, and returns when all have been.
  ///
  /// The work stays where it is until the return. Allocates nothing; costs about half a microsecond
  /// while the threads spin.
  ///
  /// - Returns: the time that the caller waited for other threads, in nanoseconds.
  @discardableResult
  package func run(
    _ work: UnsafeRawPointer, _ perform: @escaping Part, partsPerThread: Int
  ) -> UInt64 {
    guard workerCount > 0, !isForked else {
      let partCount = (workerCount + 1) * partsPerThread
      for part in 0..<partCount { unsafe perform(work, part, partCount, 0) }
      return 0
    }
    let run = unsafe state.pointee.fork(work, perform, partsPerThread: partsPerThread)
    unsafe state.pointee.performOwn(run, thread: 0)
    let begin = cp_monotonic_nanoseconds()
    unsafe state.pointee.wait(for: run)
    return cp_monotonic_nanoseconds() &- begin
  }

  /// The parts of each thread for a product: of some microseconds each, which 32 KiB of codes take
  /// with one token, so that threads can help each other out.
  package static func partsPerThread(codeBytes: Int, tokenCount: Int, threadCount: Int) -> Int {
    let cost = codeBytes.multipliedReportingOverflow(by: tokenCount)
    if cost.overflow { return 8 }
    return max(1, min(8, cost.partialValue / (threadCount * 32768)))
  }

  /// One of `partCount` contiguous parts of 0 ..< count that differ by 1 at most.
  package static func share(of count: Int, part: Int, partCount: Int) -> Range<Int> {
    let (each, rest) = count.quotientAndRemainder(dividingBy: partCount)
    let begin = part * each + min(part, rest)
    return begin..<begin + each + (part < rest ? 1 : 0)
  }
}

/// What a new thread is told; it frees it.
@unsafe private struct Beginning {
  let state: UnsafeMutablePointer<ForkJoinState>
  let index: Int
}

/// Starts a worker; 0, or an errno where the system refuses.
private func startWorker(
  _ state: UnsafeMutablePointer<ForkJoinState>, index: Int, handle: UnsafeMutablePointer<UInt>
) -> Int32 {
  let beginning = UnsafeMutablePointer<Beginning>.allocate(capacity: 1)
  unsafe beginning.initialize(to: Beginning(state: state, index: index))
  let error = unsafe cp_thread_start(
    { argument in
      // The argument is the one below, and this thread its only user.
      guard let pointer = unsafe argument?.assumingMemoryBound(to: Beginning.self) else {
        return nil
      }
      let beginning = unsafe pointer.move()
      unsafe pointer.deallocate()
      unsafe live(beginning.state, index: beginning.index)
      return nil
    }, beginning, handle)
  if error != 0 {
    unsafe beginning.deinitialize(count: 1)
    unsafe beginning.deallocate()
  }
  return error
}

/// A worker's life.
private func live(_ state: UnsafeMutablePointer<ForkJoinState>, index: Int) {
  // A thread begins with the mode of the one that starts it.
  _ = cp_enter_default_float_mode()
  // A refused pinning costs speed only.
  if unsafe state.pointee.isPinned { _ = cp_pin_to_core(Int32(truncatingIfNeeded: index)) }
  // No run has this number: nothing to take part in, nothing seen.
  var run = ForkJoinState.Run(number: 0, partsPerThread: 0)
  while true {
    unsafe run = state.pointee.next(after: run, thread: index)
    if run.partsPerThread == 0 { return }
    unsafe state.pointee.performOwn(run, thread: index)
  }
}
