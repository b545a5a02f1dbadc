/// A string interned at setup, so that the hot path records a number.
///
/// It belongs to the recorder that interned it.
public struct TraceString: Hashable, Sendable {
  /// The index in ``Recording/strings``.
  public let index: UInt32

  @usableFromInline package init(index: UInt32) { self.index = index }

  /// The value to pass for an argument whose key ``TraceKey/isString``.
  @inlinable public var value: Int64 { Int64(index) }
}
