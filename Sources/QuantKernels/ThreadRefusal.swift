#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Threads that the system refused to start.
///
/// Its description is one line: `cannot start thread 2 of 4: Resource temporarily unavailable; …`.
public struct ThreadRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The threads that were asked for, the caller included.
  public var wanted: Int
  /// The threads that there are, the caller included.
  public var started: Int
  /// What `pthread_create` said.
  public var errorNumber: Int32

  /// A refusal with what `pthread_create` returned.
  public init(wanted: Int, started: Int, errorNumber: Int32) {
    self.wanted = wanted
    self.started = started
    self.errorNumber = errorNumber
  }

  /// One line.
  public var description: String {
    // strerror's text is copied before anything else runs.
    let reason = unsafe String(cString: strerror(errorNumber))
    return "cannot start thread \(started + 1) of \(wanted): \(reason); "
      + "processes (ulimit -u, a container's pids) or memory (ulimit -v) are limited"
  }
}
