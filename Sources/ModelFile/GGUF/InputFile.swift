import Glibc
import TensorCore

/// A regular file that is read at offsets, by several threads if need be.
///
/// Reading instead of mapping keeps a big source file out of this process's memory.
final class InputFile: Sendable {
  /// The file as the user named it.
  let path: String
  let byteCount: Int
  private let descriptor: Int32

  /// Opens a file to read.
  init(path: String) throws(InputError) {
    self.path = path
    // The path contains no zero byte that would name another file: open(2) would stop there.
    guard !path.utf8.contains(0) else {
      throw InputError(file: path, reason: "the path contains a zero byte")
    }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.systemError(path, "cannot be opened") }
    var status = stat()
    // fstat fills the structure that it is given.
    guard unsafe fstat(descriptor, &status) == 0 else {
      let error = Self.systemError(path, "cannot be examined")
      close(descriptor)
      throw error
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw InputError(file: path, reason: "not a regular file")
    }
    self.descriptor = descriptor
    byteCount = Int(status.st_size)
  }

  deinit { close(descriptor) }

  /// Fills `buffer` with the bytes from `offset` on; errors name the file and the offset.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(InputError) {
    var done = 0
    while done < buffer.count {
      // pread writes at most the bytes that are left of the buffer.
      let count = unsafe pread(
        descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done,
        off_t(offset + done))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        var error = Self.systemError(path, "cannot be read")
        error.offset = offset + done
        throw error
      }
      guard count > 0 else {
        throw InputError(
          file: path, offset: offset + done,
          reason: "the file ends \(buffer.count - done) bytes too early")
      }
      done += count
    }
  }

  private static func systemError(_ path: String, _ action: String) -> InputError {
    // strerror returns a zero-terminated string that lives until this thread's next call.
    let words = unsafe String(cString: strerror(errno))
    return InputError(file: path, reason: "\(action): \(words)")
  }
}
