import Dispatch
import Synchronization

/// Runs numbered pieces of work on a few threads.
enum WorkerGroup {
  /// Calls `body` once for each of 0..<count, on at most `threads` threads, in about that order.
  ///
  /// Every thread makes one context for itself and hands it to `finish` in the end, unless its work
  /// failed. The error that is thrown is that of the lowest
  /// failing number, on any number of threads; later numbers may then not have run.
  static func forEach<Context: ~Copyable, Failure: Error>(
    _ count: Int, threads: Int, context makeContext: @Sendable () -> Context,
    finish: @Sendable (consuming Context) -> Void = { _ in },
    body: @Sendable (inout Context, Int) throws(Failure) -> Void
  ) throws(Failure) {
    precondition(threads > 0, "no threads")
    let workers = min(threads, count)
    if workers <= 1 {
      var context = makeContext()
      for index in 0..<count { try body(&context, index) }
      finish(context)
      return
    }
    let next = Atomic<Int>(0)
    // Numbers are handed out upwards, so whatever precedes a failing one has begun and will end.
    let failure = Mutex<(index: Int, error: Failure)?>(nil)
    DispatchQueue.concurrentPerform(iterations: workers) { _ in
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
  }
}
