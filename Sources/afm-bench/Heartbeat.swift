import Foundation
import Synchronization
import TensorCore

/// What long work says of itself on standard error: on a terminal a line that replaces itself, with
/// the time that is left; elsewhere a line every ten seconds, so that a log shows that it lives.
enum Heartbeat {
  /// What is being done, and when it is expected to end.
  private struct State {
    var text = ""
    var end: ContinuousClock.Instant?
    var isSilent = false
    var lastLine: ContinuousClock.Instant?
    var isTicking = false
  }

  private static let state = Mutex(State())

  /// Seconds between two lines where nobody watches.
  private static let interval = 10.0

  /// Says nothing from now on.
  static func silence() { state.withLock { $0.isSilent = true } }

  /// Work goes on with that; an empty text ends it and clears the terminal's line.
  static func update(_ text: String, secondsLeft: Double? = nil) {
    let end = secondsLeft.map { ContinuousClock.now + .seconds($0) }
    state.withLock { state in
      guard !state.isSilent else { return }
      state.text = MessageText.line(text)
      state.end = end
      guard !text.isEmpty else {
        state.lastLine = nil
        if Console.isTerminal { Console.put("\r\u{1B}[2K") }
        return
      }
      if state.lastLine == nil { state.lastLine = .now }
      if !state.isTicking {
        state.isTicking = true
        startTicking()
      }
      beat(&state)
    }
  }

  /// Takes the line off the terminal while something else is written there.
  static func hide() {
    state.withLock { state in
      if Console.isTerminal && !state.text.isEmpty && !state.isSilent { Console.put("\r\u{1B}[2K") }
    }
  }

  /// Starts a thread that repeats the line until the process ends. A timer of Dispatch would need
  /// descriptors, and end the process where the system refuses them; without this thread lines come
  /// only when the work says something.
  private static func startTicking() {
    var attributes = pthread_attr_t()
    var thread = pthread_t()
    // Both values outlive the calls, and the function takes no argument.
    guard unsafe pthread_attr_init(&attributes) == 0 else { return }
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    unsafe pthread_attr_setstacksize(&attributes, 256 << 10)
    _ = unsafe pthread_create(
      &thread, &attributes,
      { _ in
        while true {
          usleep(Console.isTerminal ? 999_000 : 500_000)
          Heartbeat.state.withLock { Heartbeat.beat(&$0) }
        }
      }, nil)
    unsafe pthread_attr_destroy(&attributes)
  }

  private static func beat(_ state: inout State) {
    guard !state.text.isEmpty, !state.isSilent else { return }
    if Console.isTerminal {
      let columns = TerminalSize.columns(of: STDERR_FILENO) ?? 80
      Console.put("\r\u{1B}[2K" + String(line(state).prefix(columns - 1)))
    } else if let last = state.lastLine, ContinuousClock.now - last >= .seconds(interval) {
      state.lastLine = .now
      Console.put("afm-bench: \(line(state))\n")
    }
  }

  private static func line(_ state: State) -> String {
    guard let end = state.end else { return state.text }
    let left = end - .now
    return "\(state.text), \(words(left)) left"
  }

  /// `5 s`, `1 min 40 s`, `2 h 3 min`.
  static func words(_ duration: Duration) -> String {
    let seconds = max(0, Int(duration.components.seconds))
    if seconds < 60 { return "\(seconds) s" }
    return seconds < 3600
      ? "\(seconds / 60) min \(seconds % 60) s" : "\(seconds / 3600) h \(seconds % 3600 / 60) min"
  }
}

/// How wide a terminal is.
enum TerminalSize {
  /// Its columns; nil where the descriptor is none, or does not say.
  static func columns(of descriptor: Int32) -> Int? {
    var size = winsize()
    // The system fills the structure and keeps no address.
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return nil
    }
    return Int(size.ws_col)
  }
}
