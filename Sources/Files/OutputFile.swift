import Glibc

/// A file that appears at its path whole, at `commit`, or not at all.
///
/// The bytes go to a file without a name in the destination's folder (`O_TMPFILE`), which the
/// system itself frees when the process ends, however it ends: an interrupt or SIGKILL leaves
/// nothing behind. Where the file system cannot do that, they go to `.NAME.PID.N.partial` beside
/// the destination, which is removed when this value goes away without a commit, or when a signal
/// ends a program that has installed `cpr_install`'s handlers.
///
/// Creating one fails early where the destination cannot be written, before any long work.
package struct OutputFile: ~Copyable {
  /// The destination as the user named it.
  package let path: String
  /// Bytes from the beginning to the furthest byte written.
  package private(set) var byteCount = 0
  /// The destination with symbolic links resolved, so that a commit replaces the file and not
  /// a link to it.
  private let target: String
  private let descriptor: FileDescriptor
  /// The partial file, where it has a name.
  private var partial: PartialFile?
  /// Appended bytes that are not in the file yet.
  private var pending: [UInt8] = []

  /// What is written at once, at multiples of itself: the page cache then holds the file in large
  /// pieces, and mapping 0.85 GB of it takes 15 ms instead of 60.
  private static var unitByteCount: Int { 2 << 20 }

  /// Creates an empty partial file for that destination.
  ///
  /// `anonymous: false` asks for a named partial file, for tests of file systems without
  /// `O_TMPFILE`.
  package init(creating path: String, anonymous: Bool = true) throws(FileError) {
    let target = try Self.checkedTarget(path)
    let folder = Self.folder(of: target)
    var number: Int32 = -1
    if anonymous, Self.mayBeUnnamed {
      // The C string lives for the call, as in every call below.
      number = unsafe open(folder, O_WRONLY | O_CLOEXEC | Self.unnamed, 0o666)
    }
    var partial: PartialFile?
    if number < 0 {
      // Without O_TMPFILE, or where it is not supported: a named file. Any other failure
      // (no such folder, no permission) fails here again, with the same error.
      (number, partial) = Self.createNamed(beside: target)
    }
    guard number >= 0 else { throw .last(path: path, operation: .create) }
    self.init(
      path: path, target: target, descriptor: FileDescriptor(number: number), partial: partial)
  }

  private init(
    path: String, target: String, descriptor: consuming FileDescriptor, partial: PartialFile?
  ) {
    self.path = path
    self.target = target
    self.descriptor = descriptor
    self.partial = partial
  }

  deinit {
    if let partial {
      _ = unsafe unlink(partial.path)
      partial.forget()
    }
  }

  /// Writes at the end.
  package mutating func append(_ bytes: RawSpan) throws(FileError) {
    if bytes.byteCount >= 4 * Self.unitByteCount {
      // Large enough by itself, and not worth a copy.
      try writePending(pending.count)
      try put(bytes, at: byteCount)
      byteCount += bytes.byteCount
      return
    }
    let start = byteCount - pending.count
    // The buffer lives for the call.
    unsafe bytes.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
    byteCount += bytes.byteCount
    let whole = byteCount / Self.unitByteCount * Self.unitByteCount - start
    guard whole > 0 else { return }
    try writePending(whole)
  }

  /// Writes the first of the appended bytes that wait.
  private mutating func writePending(_ count: Int) throws(FileError) {
    guard count > 0 else { return }
    let start = byteCount - pending.count
    let waiting = pending
    let span = waiting.span
    // Bytes have no padding.
    try unsafe put(span.bytes.extracting(0..<count), at: start)
    pending = Array(waiting[count...])
  }

  /// Writes at an offset; a gap before it reads as zeros.
  package mutating func write(_ bytes: RawSpan, at offset: Int) throws(FileError) {
    precondition(offset >= 0, "a negative offset")
    try writePending(pending.count)
    try put(bytes, at: offset)
    byteCount = max(byteCount, offset + bytes.byteCount)
  }

  private func put(_ bytes: RawSpan, at offset: Int) throws(FileError) {
    var done = 0
    let total = bytes.byteCount
    while done < total {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        FileDescriptor.retrying {
          // The range done..<total lies inside the span.
          unsafe pwrite(
            descriptor.number, buffer.baseAddress! + done, total - done, off_t(offset + done))
        }
      }
      guard count > 0 else { throw .last(path: path, operation: .write) }
      done += count
    }
  }

  /// Writes what has been appended, so that of `commit` only the name is left to do: a full disk
  /// is found here.
  package mutating func flush() throws(FileError) { try writePending(pending.count) }

  /// Makes the file appear at its path, in place of the one that may be there.
  ///
  /// `synchronize` first waits until the bytes are on the medium.
  package consuming func commit(synchronize: Bool = false) throws(FileError) {
    try writePending(pending.count)
    if synchronize, fsync(descriptor.number) != 0 {
      throw .last(path: path, operation: .synchronize)
    }
    if partial == nil {
      let source = "/proc/self/fd/\(descriptor.number)"
      if Self.link(source, to: target) { return }
      guard errno == EEXIST else { throw .last(path: path, operation: .rename) }
      // Something is there already: a link cannot replace it, a rename can.
      var attempt = 0
      repeat {
        let named = PartialFile(noting: Self.temporaryName(beside: target, attempt: attempt))
        if Self.link(source, to: named.path) {
          partial = named
        } else {
          let error = FileError.last(path: path, operation: .rename)
          named.forget()
          if error.reason != .system(EEXIST) || attempt == 1000 { throw error }
        }
        attempt += 1
      } while partial == nil
    }
    if let named = partial {
      guard unsafe rename(named.path, target) == 0 else {
        throw .last(path: path, operation: .rename)
      }
      named.forget()
      partial = nil
    }
  }
}

extension OutputFile {
  /// Linux's `O_TMPFILE`, which the C library hides behind `_GNU_SOURCE`: `__O_TMPFILE`, the same
  /// number on every architecture that Swift supports, and `O_DIRECTORY`.
  private static var unnamed: Int32 { 0o20_000_000 | O_DIRECTORY }

  /// Whether an unnamed file can be given a name later: `/proc` is there. The environment variable
  /// `AFM_NAMED_PARTIAL_FILES`, if set, asks for names from the start, for file systems that take
  /// `O_TMPFILE` and then fail.
  private static var mayBeUnnamed: Bool {
    // Nobody changes the environment of this process.
    unsafe access("/proc/self/fd", X_OK) == 0 && getenv("AFM_NAMED_PARTIAL_FILES") == nil
  }

  /// The destination to replace, or the reason why it cannot be.
  private static func checkedTarget(_ path: String) throws(FileError) -> String {
    var status = stat()
    // Only reads the path and fills `status`.
    let found = unsafe stat(path, &status) == 0
    guard found else {
      guard errno == ENOENT else { throw .last(path: path, operation: .create) }
      if path.isEmpty || path.utf8.last == UInt8(ascii: "/") {
        throw FileError(path: path, operation: .create, reason: .system(ENOENT))
      }
      return path
    }
    guard !status.isDirectory else {
      throw FileError(path: path, operation: .create, reason: .isDirectory)
    }
    guard status.isRegular else {
      throw FileError(path: path, operation: .create, reason: .isNotRegular)
    }
    guard unsafe access(path, W_OK) == 0 else {
      throw .last(path: path, operation: .create)
    }
    guard let resolved = unsafe realpath(path, nil) else {
      throw .last(path: path, operation: .create)
    }
    // realpath allocated it with malloc for us alone.
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func temporaryName(beside target: String, attempt: Int) -> String {
    let name =
      target.utf8.lastIndex(of: UInt8(ascii: "/"))
      .map { String(target[target.index(after: $0)...]) } ?? target
    return "\(folder(of: target))/.\(name.prefix(64)).\(getpid()).\(attempt).partial"
  }

  /// A named partial file that did not exist before: its descriptor, −1 on failure, and its name.
  private static func createNamed(beside target: String) -> (Int32, PartialFile?) {
    for attempt in 0...1000 {
      let named = PartialFile(noting: temporaryName(beside: target, attempt: attempt))
      let number = unsafe open(named.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if number >= 0 { return (number, named) }
      let failure = errno
      named.forget()
      errno = failure
      if failure != EEXIST { break }
    }
    return (-1, nil)
  }

  private static func link(_ source: String, to name: String) -> Bool {
    unsafe linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
  }
}
