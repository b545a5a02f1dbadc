import Glibc
import TensorCore

/// What the operating system refused: the file, what was being done to it and why it failed.
///
/// Its description is one line: `out.afmw: cannot write: No space left on device`.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was being done.
  package enum Operation: String, Sendable {
    case create
    case open
    case read
    case write
    case map
    case synchronize
    case rename
  }

  /// Why it failed.
  package enum Reason: Hashable, Sendable {
    /// The system call's `errno`.
    case system(Int32)
    /// A folder stands where a file was meant.
    case isDirectory
    /// A device, pipe or socket stands where a file was meant.
    case isNotRegular
    /// The file ended before the bytes that were asked for: the offset of the first missing byte.
    case ended(at: Int)
    /// A stream has more bytes than are taken.
    case tooLong(limit: Int)
  }

  /// The path as the user named it.
  package var path: String
  package var operation: Operation
  package var reason: Reason

  package init(path: String, operation: Operation, reason: Reason) {
    self.path = path
    self.operation = operation
    self.reason = reason
  }

  /// The error of the system call that has just failed.
  package static func last(path: String, operation: Operation) -> FileError {
    FileError(path: path, operation: operation, reason: .system(errno))
  }

  /// Whether there is no file of that name.
  package var isMissing: Bool { reason == .system(ENOENT) }

  /// The reason without the path: `cannot write: No space left on device`.
  package var summary: String {
    let why =
      switch reason {
      case .system(let number): Self.text(ofError: number)
      case .isDirectory: "it is a directory"
      case .isNotRegular: "it is not a regular file"
      case .ended(let offset): "the file ends at offset \(offset)"
      case .tooLong(let limit): "it has more than \(limit) bytes"
      }
    return "cannot \(operation.rawValue): \(why)"
  }

  /// Whether the system lacked something (memory, a descriptor, a place on the disk) rather than
  /// the file being wrong.
  package var isLackOfResources: Bool {
    switch reason {
    case .system(let number):
      [ENOMEM, EMFILE, ENFILE, EAGAIN, ENOSPC, EDQUOT, EFBIG].contains(number)
    default: false
    }
  }

  /// One line: control characters of the path are escaped.
  package var description: String { "\(MessageText.line(path)): \(summary)" }

  private static func text(ofError number: Int32) -> String {
    // strerror_l writes to no shared buffer for the numbers that the system defines.
    unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
  }
}

extension InputError {
  /// What the system refused about an input file, at a place of it.
  package init(
    _ error: FileError, file: String? = nil, place: String = "", offset: Int? = nil
  ) {
    self.init(file: file, place: place, offset: offset, reason: error.summary)
    isLackOfResources = error.isLackOfResources
  }
}
