import Files
import KVCache
import TensorCore

/// Why a snapshot could not be written or restored; the sequence is as it was before.
public enum SnapshotError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file cannot be read, ends early, or its bytes are not those that were written.
  case input(InputError)
  /// The file cannot be written: path and reason.
  case output(String)
  /// The snapshot is of another model, adapter or layout.
  case differs(file: String, what: String, found: String, expected: String)
  /// The pool or the sequence has no room for it.
  case cache(CacheError)

  /// One line.
  public var description: String {
    switch self {
    case .input(let error): error.description
    case .output(let reason): reason
    case .differs(let file, let what, let found, let expected):
      InputError(
        file: file, place: what, reason: "the snapshot has \(found), this cache \(expected)"
      ).description
    case .cache(let error): error.description
    }
  }
}
