import CPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a pool's threads do together in one run.
public protocol ThreadPoolWork {
  /// One thread's part of it, called once on each thread.
  func perform(thread: Int, threadCount: Int)
}

extension ThreadPoolWork {
  /// The same for a value of this type that lies at an address.
  fileprivate static func perform(_ pointer: UnsafeRawPointer, thread: Int, threadCount: Int) {
    unsafe pointer.assumingMemoryBound(to: Self.self).pointee
      .perform(thread: thread, threadCount: threadCount)
  }
}

/// A closure as work.
private struct ClosureWork: ThreadPoolWork {
  let body: (Int, Int) -> Void
  func perform(thread: Int, threadCount: Int) { body(thread, threadCount) }
}

/// Threads that split one piece of work at a time: fork, join, and wait for the next one.
///
/// The caller is thread 0. Between runs the others spin for a bounded time, about that of a token,
/// and then sleep on a futex, so that an idle pool costs nothing. A run allocates nothing. Pools
/// are independent of each other; one pool serves one caller at a time, and a body must not run its
/// own pool again.
@safe public final class ThreadPool: @unchecked Sendable {
  // The shared words are only touched by the atomics of CPlatform, `work` only between the fork
  // and the join that order it.

  /// The threads of a run, the caller included.
  public let threadCount: Int

  private let shared: UnsafeMutablePointer<Shared>
  private var threads: [pthread_t] = []

  /// The CPUs that this process may run on.
  public static var availableCoreCount: Int { Int(cp_available_core_count()) }

  /// A pool of that many threads.
  ///
  /// - Parameters:
  ///   - threadCount: nil takes one for every core that the process may run on.
  ///   - allowOversubscription: more threads than cores only where this says so: spinning threads
  ///     that wait for each other's core are a thousand times slower.
  ///   - pinned: binds each thread but the caller's to a core of its own.
  ///   - spinCount: pauses before a waiting thread sleeps.
  public init(
    threadCount: Int? = nil, allowOversubscription: Bool = false, pinned: Bool = false,
    spinCount: Int = 20_000
  ) {
    let cores = Self.availableCoreCount
    let wanted = max(1, threadCount ?? cores)
    let count = allowOversubscription ? min(wanted, 4096) : min(wanted, cores)
    // A spinning thread without a core of its own keeps the one that it waits for from running.
    unsafe shared = .allocate(capacity: 1)
    unsafe shared.initialize(
      to: Shared(
        words: Shared.allocateWords(), spinCount: count > cores ? 0 : spinCount, isPinned: pinned,
        threadCount: count))
    var started: [pthread_t] = []
    while started.count + 1 < count {
      guard let thread = unsafe start(shared, index: started.count + 1) else { break }
      started.append(thread)
    }
    threads = started
    // Where the system refuses a thread, the pool is smaller; workers read the count at a run.
    self.threadCount = started.count + 1
    unsafe shared.pointee.threadCount = started.count + 1
  }

  deinit {
    unsafe shared.pointee.isStopping = true
    unsafe shared.pointee.fork()
    for thread in threads { pthread_join(thread, nil) }
    unsafe shared.pointee.words.deallocate()
    unsafe shared.deinitialize(count: 1)
    unsafe shared.deallocate()
  }

  /// Lets every thread perform the work once, and returns when all have. Allocates nothing; costs
  /// about half a microsecond while the threads spin.
  public func run<Work: ThreadPoolWork>(_ work: Work) {
    guard threadCount > 1 else { return work.perform(thread: 0, threadCount: 1) }
    // The work stays where it is until the join, which comes before the return.
    unsafe withUnsafePointer(to: work) { pointer in
      unsafe shared.pointee.work = UnsafeRawPointer(pointer)
      unsafe shared.pointee.workType = Work.self
      unsafe shared.pointee.fork()
      work.perform(thread: 0, threadCount: threadCount)
      unsafe shared.pointee.join()
    }
  }

  /// Calls the body once on every thread, with its index and the number of threads. Allocates a
  /// closure context; what runs for every token is better a `ThreadPoolWork`.
  public func run(_ body: (_ thread: Int, _ threadCount: Int) -> Void) {
    guard threadCount > 1 else { return body(0, 1) }
    // The closure does not outlive the call.
    withoutActuallyEscaping(body) { run(ClosureWork(body: $0)) }
  }

  /// Splits 0 ..< count into contiguous ranges, as even as they can be, one a thread; threads
  /// without a share are not called.
  public func runRanges(_ count: Int, _ body: (_ range: Range<Int>, _ thread: Int) -> Void) {
    guard threadCount > 1, count > 1 else {
      if count > 0 { body(0..<count, 0) }
      return
    }
    run { thread, threadCount in
      let range = Self.share(of: count, thread: thread, threadCount: threadCount)
      if !range.isEmpty { body(range, thread) }
    }
  }

  /// The part of 0 ..< count that belongs to one of several threads.
  public static func share(of count: Int, thread: Int, threadCount: Int) -> Range<Int> {
    let (each, rest) = count.quotientAndRemainder(dividingBy: threadCount)
    let begin = thread * each + min(thread, rest)
    return begin..<begin + each + (thread < rest ? 1 : 0)
  }
}

/// What the threads of a pool share; it lives until all of them have been joined.
@unsafe private struct Shared {
  /// Four words, 128 bytes apart, since neighbouring cache lines are fetched in pairs.
  let words: UnsafeMutablePointer<UInt32>
  let spinCount: Int
  let isPinned: Bool
  var threadCount: Int
  /// The work of this run, and what it is.
  var work: UnsafeRawPointer?
  var workType: (any ThreadPoolWork.Type)?
  var isStopping = false

  static func allocateWords() -> UnsafeMutablePointer<UInt32> {
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: 4 * 128, alignment: 128)
    return unsafe bytes.initializeMemory(as: UInt32.self, repeating: 0, count: 128)
  }

  /// Counts forks; workers wait for it to change.
  var forks: UnsafeMutablePointer<UInt32> { unsafe words }
  /// Counts workers that have not finished; the caller waits for zero.
  var working: UnsafeMutablePointer<UInt32> { unsafe words + 32 }
  /// Counts the threads that sleep on `forks`, and on `working`.
  var sleepingWorkers: UnsafeMutablePointer<UInt32> { unsafe words + 64 }
  var sleepingCaller: UnsafeMutablePointer<UInt32> { unsafe words + 96 }

  /// Lets the workers begin; `work` or `isStopping` has been written.
  func fork() {
    unsafe cp_store(working, UInt32(threadCount - 1))
    _ = unsafe cp_fetch_add(forks, 1)
    // A worker counts itself as asleep before it looks at `forks` a last time: either it sees this
    // fork, or this sees it.
    if unsafe cp_load(sleepingWorkers) > 0 { unsafe cp_futex_wake(forks, Int32.max) }
  }

  /// Waits until every worker has finished.
  func join() {
    unsafe wait(on: working, counting: sleepingCaller) { $0 == 0 }
  }

  /// One worker has finished; the last one wakes the caller.
  func finish() {
    let before = unsafe cp_fetch_add(working, UInt32.max)
    if unsafe before == 1 && cp_load(sleepingCaller) > 0 { unsafe cp_futex_wake(working, 1) }
  }

  /// Spins, then sleeps, until the word satisfies the condition.
  func wait(
    on word: UnsafeMutablePointer<UInt32>, counting sleepers: UnsafeMutablePointer<UInt32>,
    until condition: (UInt32) -> Bool
  ) {
    var spins = 0
    while unsafe spins < spinCount {
      if unsafe condition(cp_load_acquire(word)) { return }
      cp_pause()
      spins += 1
    }
    _ = unsafe cp_fetch_add(sleepers, 1)
    while true {
      let value = unsafe cp_load(word)
      if condition(value) { break }
      unsafe cp_futex_wait(word, value)
    }
    _ = unsafe cp_fetch_add(sleepers, UInt32.max)
  }
}

/// What a new thread is told; it frees it.
@unsafe private struct Beginning {
  let shared: UnsafeMutablePointer<Shared>
  let index: Int
}

/// Starts a worker; nil where the system refuses.
private func start(_ shared: UnsafeMutablePointer<Shared>, index: Int) -> pthread_t? {
  let beginning = UnsafeMutablePointer<Beginning>.allocate(capacity: 1)
  unsafe beginning.initialize(to: Beginning(shared: shared, index: index))
  var thread = pthread_t()
  let error = unsafe pthread_create(
    &thread, nil,
    { argument in
      // The argument is the one below, and this thread its only user.
      guard let pointer = unsafe argument?.assumingMemoryBound(to: Beginning.self) else {
        return nil
      }
      let beginning = unsafe pointer.move()
      unsafe pointer.deallocate()
      unsafe work(beginning.shared, index: beginning.index)
      return nil
    }, beginning)
  if error == 0 { return thread }
  unsafe beginning.deinitialize(count: 1)
  unsafe beginning.deallocate()
  return nil
}

/// A worker's life. The work and the flag were written before the fork that it has seen.
private func work(_ shared: UnsafeMutablePointer<Shared>, index: Int) {
  // A refused pinning costs speed only.
  if unsafe shared.pointee.isPinned { _ = cp_pin_to_core(Int32(truncatingIfNeeded: index)) }
  var seen: UInt32 = 0
  while true {
    let last = seen
    unsafe shared.pointee.wait(
      on: shared.pointee.forks, counting: shared.pointee.sleepingWorkers
    ) { $0 != last }
    // The next fork comes after this thread's finish: the count has grown by exactly one.
    seen = last &+ 1
    if unsafe shared.pointee.isStopping { return }
    if let work = unsafe shared.pointee.work, let type = unsafe shared.pointee.workType {
      unsafe type.perform(work, thread: index, threadCount: shared.pointee.threadCount)
    }
    unsafe shared.pointee.finish()
  }
}
