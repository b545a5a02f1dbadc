import Synchronization
import TensorCore

/// A switch that ends loading early, from any thread.
public final class LoadCancellation: Sendable {
  private let flag = Atomic<Bool>(false)

  /// A switch that has not been used.
  public init() {}

  /// Asks loading to end; every thread looks at it before its next frame, about once a millisecond.
  public func cancel() { flag.store(true, ordering: .relaxed) }

  /// Whether `cancel` has been called.
  public var isCancelled: Bool { flag.load(ordering: .relaxed) }
}

/// Why loading ended without tensors.
public enum LoadError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Bytes of the file are not what they must be.
  case input(InputError)
  /// A ``LoadCancellation`` was used.
  case cancelled

  /// One line.
  public var description: String {
    switch self {
    case .input(let error): error.description
    case .cancelled: "loading was cancelled"
    }
  }
}
