#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Says which case a fault, or a call without an end, happened in.
enum Watchdog {
  /// The name of what runs, and the number of its case; written before each case, read by the
  /// handler.
  nonisolated(unsafe) private static let text = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
  nonisolated(unsafe) private static var textCount = 0
  nonisolated(unsafe) private static var number = 0

  /// Seconds that one case may take.
  private static let limit: UInt32 = 10

  static func start() {
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGALRM] {
      signal(fault) { number in
        // Writing and ending are all that a handler may do.
        unsafe Watchdog.put(Watchdog.text, Watchdog.textCount)
        Watchdog.put(number == SIGALRM ? ": a call does not end, case " : ": a fault, case ")
        unsafe Watchdog.putNumber(Watchdog.number)
        Watchdog.put(", signal ")
        Watchdog.putNumber(Int(number))
        Watchdog.put("\n")
        _exit(1)
      }
    }
  }

  static func begin(_ name: String) {
    unsafe textCount = 0
    for byte in name.utf8.prefix(255) {
      unsafe text[textCount] = byte
      unsafe textCount += 1
    }
  }

  static func begin(case number: Int) {
    unsafe self.number = number
    // Every call of `alarm` is a system call: one in a few hundred cases is enough.
    if number % 256 == 0 { alarm(limit) }
  }

  static func end() { alarm(0) }

  private static func put(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    _ = unsafe write(2, bytes, count)
  }

  private static func put(_ text: StaticString) {
    unsafe put(text.utf8Start, text.utf8CodeUnitCount)
  }

  private static func putNumber(_ number: Int) {
    var rest = number
    var divisor = 1
    while rest / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      var digit = UInt8(truncatingIfNeeded: 48 + rest / divisor)
      unsafe put(&digit, 1)
      rest %= divisor
      divisor /= 10
    }
  }
}
