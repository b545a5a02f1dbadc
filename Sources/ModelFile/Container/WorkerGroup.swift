import CPlatform
import Synchronization

/// Runs numbered pieces of work on a few threads.
enum WorkerGroup {
  /// Calls `body` once for each of 0..<count, on at most `threads` threads, in about that order;
  /// the calling thread is one of them. Returns how many threads there were: fewer where there is
  /// less work, or where the system refuses a thread (`cp_refused_thread_count` counts those).
  ///
  /// Every thread makes one context for itself and hands it to `finish` in the end, unless its work
  /// failed. The error that is thrown is that of the lowest
  /// failing number, on any number of threads; later numbers may then not have run.
  @discardableResult
  static func forEach<Context: ~Copyable, Failure: Error>(
    _ count: Int, threads: Int, context makeContext: @Sendable () -> Context,
    finish: @Sendable (consuming Context) -> Void = { _ in },
    body: @Sendable (inout Context, Int) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    precondition(threads > 0, "no threads")
    let workers = min(threads, count)
    if workers <= 1 {
      var context = makeContext()
      for index in 0..<count { try body(&context, index) }
      finish(context)
      return 1
    }
    let next = Atomic<Int>(0)
    // Numbers are handed out upwards, so whatever precedes a failing one has begun and will end.
    let failure = Mutex<(index: Int, error: Failure)?>(nil)
    let started = onThreads(workers) {
      var context = makeContext()
      while true {
        let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard index < count else { break }
        do throws(Failure) {
          try body(&context, index)
        } catch {
          failure.withLock { first in
            if first.map({ index < $0.index }) ?? true { first = (index, error) }
          }
          next.store(count, ordering: .relaxed)
          return
        }
      }
      finish(context)
    }
    if let first = failure.withLock({ $0 }) { throw first.error }
    return started
  }

  /// Runs `body` on the calling thread and on up to `count` − 1 others at the same time; returns on
  /// how many it ran.
  ///
  /// Threads of our own rather than a queue's: a queue that gets no thread waits for one for ever.
  private static func onThreads(_ count: Int, _ body: @Sendable () -> Void) -> Int {
    withoutActuallyEscaping(body) { body in
      let work = Work(body)
      // Every thread is joined below, while `work` lives.
      let argument = unsafe Unmanaged.passUnretained(work).toOpaque()
      var started: [UInt] = []
      while started.count + 1 < count {
        var thread: UInt = 0
        let error = unsafe cp_thread_start(
          { argument in
            // The argument is the one below.
            if let argument = unsafe argument {
              unsafe Unmanaged<Work>.fromOpaque(argument).takeUnretainedValue().body()
            }
            return nil
          }, argument, &thread)
        guard error == 0 else { break }
        started.append(thread)
      }
      body()
      for thread in started { cp_thread_join(thread) }
      return withExtendedLifetime(work) { started.count + 1 }
    }
  }

  /// A closure as an object, to be handed to threads.
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
