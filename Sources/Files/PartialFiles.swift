import Dispatch
import Glibc
import Synchronization

/// Named partial files of this process, removed when a signal ends it.
///
/// Only file systems without `O_TMPFILE`, and the moment in which a file replaces an older one, need
/// it. The signals are taken on a dispatch queue, where removing a file is an ordinary call; then
/// the process ends by the same signal, as it would have without us.
enum PartialFiles {
  private static let paths = Mutex<Set<String>>([])
  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  /// Listens from the first use on. A signal that was ignored before (`nohup`) stays ignored.
  // Made once and never touched again: it only keeps the sources alive.
  nonisolated(unsafe) private static let sources: [any DispatchSourceSignal] = signals.compactMap {
    number in
    // Only exchanges the disposition of the signal.
    let before = signal(number, SIG_DFL)
    if unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
      _ = signal(number, SIG_IGN)
      return nil
    }
    let source = DispatchSource.makeSignalSource(
      signal: number, queue: .global(qos: .userInitiated))
    source.setEventHandler { end(by: number) }
    // Until the source is registered the signal would end the process at once.
    let registered = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { registered.signal() }
    source.resume()
    registered.wait()
    return source
  }

  /// From now on a signal removes the file.
  static func insert(_ path: String) {
    // Immutable.
    _ = unsafe sources
    paths.withLock { _ = $0.insert(path) }
  }

  /// The file is gone or has become a whole one.
  static func remove(_ path: String) {
    paths.withLock { _ = $0.remove(path) }
  }

  private static func end(by number: Int32) {
    paths.withLock { paths in
      // The C strings and the set live for their calls; nobody adds a file while the lock is held.
      for path in paths { _ = unsafe unlink(path) }
      // Dispatch keeps the signal blocked: this thread alone lets it through, to itself.
      var set = sigset_t()
      unsafe sigemptyset(&set)
      unsafe sigaddset(&set, number)
      _ = signal(number, SIG_DFL)
      unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
      _ = raise(number)
    }
  }
}
