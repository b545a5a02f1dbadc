import Synchronization

/// The last progress that was told.
final class Counter: Sendable {
  let last = Mutex<(done: Int, total: Int)?>(nil)

  func note(_ done: Int, of total: Int) { last.withLock { $0 = (done, total) } }
}
