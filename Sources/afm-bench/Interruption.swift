import CProcess
import Foundation

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

  /// Waits so long, or until the end is asked for.
  static func wait(seconds: Double) {
    let end = ContinuousClock.now + .seconds(seconds)
    while signal == nil, ContinuousClock.now < end {
      let left = (end - ContinuousClock.now) / .seconds(1)
      Thread.sleep(forTimeInterval: min(0.1, max(0, left)))
    }
  }
}
