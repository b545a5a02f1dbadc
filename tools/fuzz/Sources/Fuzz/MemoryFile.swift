import CFuzz
import TensorCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file without a disk: readers that take a path are given that of a descriptor.
final class MemoryFile: Sendable {
  private let descriptor: Int32
  let path: String

  init() {
    descriptor = memory_file()
    precondition(descriptor >= 0, "no memory file")
    path = "/proc/self/fd/\(descriptor)"
  }

  deinit { close(descriptor) }

  /// Makes those bytes the file's content.
  func replace(with bytes: [UInt8]) {
    // The buffer lives for the call; a memory file takes all of it at once.
    let written = unsafe bytes.withUnsafeBytes {
      unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0)
    }
    precondition(written == bytes.count && ftruncate(descriptor, bytes.count) == 0, "memory file")
  }
}

/// Reads bytes as a file, and checks the error where there is one.
func reading(
  _ bytes: [UInt8], in file: MemoryFile, _ body: (String) throws(InputError) -> Void
) {
  file.replace(with: bytes)
  checking(bytes, name: file.path, body)
}

/// Reads bytes, or checks the error: it names the file, a reason in one line, and an offset that
/// lies in it.
func checking(
  _ bytes: [UInt8], name: String, _ body: (String) throws(InputError) -> Void
) {
  do throws(InputError) {
    try body(name)
  } catch {
    promise(!isStrict, "refused: \(error)")
    promise(error.file == name, "no file in: \(error)")
    promise(!error.reason.isEmpty, "no reason in: \(error)")
    promise(!error.description.utf8.contains(0x0A), "two lines: \(error)")
    promise((0...bytes.count).contains(error.offset ?? 0), "outside the file: \(error)")
  }
}
