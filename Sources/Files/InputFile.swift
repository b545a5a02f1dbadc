import Glibc

/// A regular file, open for reading at any offset, from any number of threads.
///
/// What `read` gives lies in the caller's memory, so that resident memory is what the caller asked
/// for, and a file that shrinks meanwhile is an error rather than a signal (of a ``FileMapping`` it
/// is a signal).
package struct InputFile: ~Copyable, Sendable {
  package let path: String
  /// The byte count when the file was opened.
  package let byteCount: Int
  let descriptor: FileDescriptor

  /// Opens a file; refuses folders, devices and pipes without waiting on them.
  package init(opening path: String) throws(FileError) {
    let descriptor = try Self.open(path)
    byteCount = try Self.byteCount(of: descriptor, path: path)
    self.descriptor = descriptor
    self.path = path
  }

  private static func open(_ path: String) throws(FileError) -> FileDescriptor {
    // The C string lives for the call. O_NONBLOCK matters to pipes alone, which are refused.
    let number = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else { throw .last(path: path, operation: .open) }
    return FileDescriptor(number: number)
  }

  private static func byteCount(
    of descriptor: borrowing FileDescriptor, path: String
  ) throws(FileError) -> Int {
    guard let status = descriptor.status() else { throw .last(path: path, operation: .open) }
    guard !status.isDirectory else {
      throw FileError(path: path, operation: .open, reason: .isDirectory)
    }
    guard status.isRegular else {
      throw FileError(path: path, operation: .open, reason: .isNotRegular)
    }
    return Int(status.st_size)
  }

  /// Fills `bytes`, or its first `byteCount` bytes, from `offset` on, all of it, or throws.
  package func read(
    at offset: Int, into bytes: inout MutableRawSpan, byteCount: Int? = nil
  ) throws(FileError) {
    let total = byteCount ?? bytes.byteCount
    precondition(offset >= 0 && total >= 0 && total <= bytes.byteCount, "outside the span")
    var done = 0
    while done < total {
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        FileDescriptor.retrying {
          // The range done..<total lies inside the span, which is exclusive for the call.
          unsafe pread(
            descriptor.number, buffer.baseAddress! + done, total - done, off_t(offset + done))
        }
      }
      guard count >= 0 else { throw .last(path: path, operation: .read) }
      guard count > 0 else {
        throw FileError(path: path, operation: .read, reason: .ended(at: offset + done))
      }
      done += count
    }
  }

  /// Fills `byteCount` bytes at `destination` from `offset` on, all of them, or throws.
  ///
  /// For callers that fill disjoint parts of one buffer from several threads.
  package func read(
    at offset: Int, toAddress destination: UnsafeMutableRawPointer, byteCount: Int
  ) throws(FileError) {
    // The caller vouches for byteCount writable bytes at `destination`.
    var span = unsafe MutableRawSpan(_unsafeStart: destination, byteCount: byteCount)
    try read(at: offset, into: &span)
  }

  /// Asks the system to forget what it keeps of the file, so that the next reading comes from the
  /// disk. Only a request: pages that are mapped or not yet written stay.
  package func evict() {
    _ = posix_fadvise(descriptor.number, 0, 0, POSIX_FADV_DONTNEED)
  }
}
