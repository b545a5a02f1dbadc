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

  package var description: String {
    switch self {
    case .input(let error): error.description
    case .output(let error): error.description
    }
  }
}
