import CPlatform
import ForkJoin

/// What a pool's threads do together in one run.
public protocol ThreadPoolWork {
  /// One part of it. Every part is performed exactly once; parts may run at the same time, and one
  /// thread may perform several, one after the other.
  ///
  /// - Parameters:
  ///   - part: 0 ..< partCount. Each thread begins with a contiguous range of parts.
  ///   - thread: who performs it, 0 ..< the pool's threads: for working memory.
  func perform(part: Int, of partCount: Int, thread: Int)
}

/// Work of any type: where it lies, and what it is.
@unsafe private struct AnyWork {
  let work: UnsafeRawPointer
  let type: any ThreadPoolWork.Type
}

extension ThreadPoolWork {
  /// One part of a value of this type that lies at an address.
  fileprivate static func perform(
    _ pointer: UnsafeRawPointer, part: Int, of partCount: Int, thread: Int
  ) {
    unsafe pointer.assumingMemoryBound(to: Self.self).pointee
      .perform(part: part, of: partCount, thread: thread)
  }
}

/// One part of the `AnyWork` at an address.
private func performAny(_ work: UnsafeRawPointer, part: Int, partCount: Int, thread: Int) {
  let any = unsafe work.assumingMemoryBound(to: AnyWork.self).pointee
  unsafe any.type.perform(any.work, part: part, of: partCount, thread: thread)
}

/// A closure as work.
private struct ClosureWork: ThreadPoolWork {
  let body: (Int, Int) -> Void
  func perform(part: Int, of partCount: Int, thread: Int) { body(part, partCount) }
}

/// Threads that split one piece of work at a time: fork, join, and wait for the next one.
///
/// The caller is thread 0. Every thread takes the parts of a contiguous range, and who has waited
/// for a while takes what others have not begun: a thread that the system has given no core holds up
/// no more than the part that it is in. Between runs the others spin for a bounded time, about that
/// of a token, and then sleep on a futex, so that an idle pool costs nothing. A run allocates
/// nothing. Pools are independent of each other; one pool serves one caller at a time, and a body
/// must not run its own pool again. A process that `fork` made has none of the threads: there the
/// pool performs all parts on the calling thread.
@safe public final class ThreadPool: @unchecked Sendable {
  // The threads' words are only touched by the atomics of CPlatform; what else they share is
  // written by the caller before a fork that the reader has seen.

  /// How threads wait for each other.
  public enum Waiting: Hashable, Sendable {
    /// For a machine, or cores, of one's own: some hundred microseconds before a thread sleeps. A run
    /// costs less than a microsecond over its work.
    case spinning
    /// For a machine that is shared: a microsecond or two before a thread sleeps, so that waiting
    /// takes no core from others, nor from our own threads. Waking costs tens of microseconds, in
    /// which the awake ones go on with the parts of the sleeping.
    case polite

    /// Pauses before a waiting thread sleeps.
    var spinCount: Int {
      switch self {
      case .spinning: ForkJoinPool.spinningPauses
      case .polite: ForkJoinPool.politePauses
      }
    }
  }

  /// The threads of a run, the caller included.
  public let threadCount: Int

  /// How its threads wait.
  public let waiting: Waiting

  /// Why there are fewer threads than were asked for; nil where all of them run.
  public let refusal: ThreadRefusal?

  /// Time that callers have waited for other threads at the ends of runs, since the pool was made.
  /// Read it between runs.
  public private(set) var waitedNanoseconds: UInt64 = 0

  private let threads: ForkJoinPool

  /// The CPUs that this process may run on.
  public static var availableCoreCount: Int { Int(cp_available_core_count()) }

  /// A pool of that many threads, or of fewer where the system refuses one: see `refusal`.
  ///
  /// - Parameters:
  ///   - threadCount: nil takes one for every core that the process may run on.
  ///   - allowOversubscription: more threads than cores only where this says so; they never spin:
  ///     a spinning thread without a core of its own keeps the one that it waits for from running.
  ///   - pinned: binds each thread but the caller's to a core of its own, where the system allows.
  public init(
    threadCount: Int? = nil, allowOversubscription: Bool = false, pinned: Bool = false,
    waiting: Waiting = .spinning
  ) {
    let cores = Self.availableCoreCount
    let wanted = max(1, threadCount ?? cores)
    let count = allowOversubscription ? min(wanted, 4096) : min(wanted, cores)
    self.waiting = waiting
    threads = ForkJoinPool(
      threadCount: count, spinCount: count > cores ? 0 : waiting.spinCount, isPinned: pinned)
    // Where the system refuses a thread, the pool is smaller.
    self.threadCount = threads.threadCount
    let error = threads.refusalErrorNumber
    refusal =
      error == 0
      ? nil : ThreadRefusal(wanted: count, started: threads.threadCount, errorNumber: error)
  }

  deinit { threads.end() }

  /// Throws where the system refused a thread: for who says how many threads have worked.
  public func requireAllThreads() throws(ThreadRefusal) {
    if let refusal { throw refusal }
  }

  /// Has every part of the work performed once, and returns when all have been. Allocates nothing;
  /// costs about half a microsecond while the threads spin.
  ///
  /// - Parameter partsPerThread: 1 for even work on idle cores; more, some microseconds each, let
  ///   threads help each other out.
  public func run<Work: ThreadPoolWork>(_ work: Work, partsPerThread: Int = 1) {
    precondition(partsPerThread > 0 && partsPerThread <= 1 << 16, "1...2^16 parts a thread")
    guard threadCount > 1 else {
      for part in 0..<partsPerThread { work.perform(part: part, of: partsPerThread, thread: 0) }
      return
    }
    // The work stays where it is until the join, which comes before the return.
    unsafe withUnsafePointer(to: work) { pointer in
      let any = unsafe AnyWork(work: pointer, type: Work.self)
      unsafe withUnsafePointer(to: any) { any in
        waitedNanoseconds &+= unsafe threads.run(
          any, performAny, partsPerThread: partsPerThread)
      }
    }
  }

  /// Calls the body for each of `threadCount` indices, at the same time where there are cores.
  /// Allocates a closure context; what runs for every token is better a `ThreadPoolWork`.
  public func run(_ body: (_ index: Int, _ count: Int) -> Void) {
    guard threadCount > 1 else { return body(0, 1) }
    // The closure does not outlive the call.
    withoutActuallyEscaping(body) { run(ClosureWork(body: $0)) }
  }

  /// Splits 0 ..< count into contiguous ranges, as even as they can be, one for each thread; each
  /// that is not empty is called for with its number.
  public func runRanges(_ count: Int, _ body: (_ range: Range<Int>, _ index: Int) -> Void) {
    guard threadCount > 1, count > 1 else {
      if count > 0 { body(0..<count, 0) }
      return
    }
    run { index, rangeCount in
      let range = Self.share(of: count, part: index, partCount: rangeCount)
      if !range.isEmpty { body(range, index) }
    }
  }

  /// One of `partCount` contiguous parts of 0 ..< count that differ by 1 at most.
  public static func share(of count: Int, part: Int, partCount: Int) -> Range<Int> {
    ForkJoinPool.share(of: count, part: part, partCount: partCount)
  }
}
