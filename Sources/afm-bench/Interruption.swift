import CProcess

/// A request from outside to end early, for work that keeps what it has so far: the first SIGINT or
/// SIGTERM is only noted, and the work looks for it now and then. The next one ends the process.
enum Interruption {
  /// Takes the next signal as a request.
  static func listen() { cpr_defer_request() }

  /// The signal that asked for the end; nil without one.
  static var signal: Int32? {
    let number = cpr_deferred_request()
    return number == 0 ? nil : number
  }
}
