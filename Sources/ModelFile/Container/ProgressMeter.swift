import Synchronization

/// Adds up bytes from several threads and tells a listener, one call at a time.
final class ProgressMeter: Sendable {
  private let done = Mutex(0)
  private let total: Int
  private let report: (@Sendable (_ done: Int, _ total: Int) -> Void)?

  init(total: Int, report: (@Sendable (_ done: Int, _ total: Int) -> Void)?) {
    self.total = total
    self.report = report
  }

  func add(_ byteCount: Int) {
    guard let report else { return }
    done.withLock { done in
      done += byteCount
      report(done, total)
    }
  }
}
