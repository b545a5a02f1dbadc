import Files
import TensorCore

/// Why a model could not be packed: bytes that came in, or a file that could not be written.
///
/// Its description is one line.
package enum PackError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The source holds something that cannot be packed.
  case input(InputError)
  /// The destination cannot be written.
  case output(FileError)

  /// The same error with the source file named, where it is the source's and names none.
  package func inSource(_ path: String) -> PackError {
    guard case .input(let error) = self else { return self }
    return .input(error.inFile(path))
  }

  package var description: String {
    switch self {
    case .input(let error): error.description
    case .output(let error): error.description
    }
  }
}
