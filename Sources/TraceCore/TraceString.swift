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

/// Arguments that many events have in common, put together at setup: the hot path records their
/// number under ``TraceKey/shared``.
///
/// It belongs to the recorder that interned it.
public struct TraceArgumentSet: Hashable, Sendable {
  /// The index in ``Recording/argumentSets``.
  public let index: UInt32

  @usableFromInline package init(index: UInt32) { self.index = index }

  /// The value to pass for ``TraceKey/shared``.
  @inlinable public var value: Int64 { Int64(index) }
}
