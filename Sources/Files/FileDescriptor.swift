import Glibc

/// An open file that closes itself.
struct FileDescriptor: ~Copyable {
  let number: Int32

  init(number: Int32) { self.number = number }

  deinit { _ = close(number) }

  /// What `fstat` says, or nil where it fails.
  func status() -> stat? {
    var result = stat()
    // `result` outlives the call.
    return unsafe fstat(number, &result) == 0 ? result : nil
  }

  /// Repeats a call that a signal interrupted.
  static func retrying(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }
}

extension stat {
  var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
  var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
}
