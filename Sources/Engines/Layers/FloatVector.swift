import TensorCore

/// A vector of weights in float32: a norm's gain or a bias.
@safe
final class FloatVector: Sendable {
  let count: Int
  private let storage: AlignedStorage

  /// Takes the bytes of `count` little-endian binary32 values.
  init(_ storage: consuming AlignedStorage, count: Int) {
    precondition(storage.byteCount >= count * 4, "a vector without its elements")
    self.count = count
    self.storage = storage
  }

  /// `count` values, read-only, as long as this object lives.
  var baseAddress: UnsafePointer<Float> {
    // Written once, before the initialiser took it.
    unsafe UnsafePointer(storage.baseAddress.assumingMemoryBound(to: Float.self))
  }
}
