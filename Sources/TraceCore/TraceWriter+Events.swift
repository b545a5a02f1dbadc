/// The calls that instrumented code makes. A value whose key ``TraceKey/isString`` is a
/// ``TraceString/value``; all others are numbers.
extension TraceWriter {
  /// Opens a span; returns its timestamp.
  @inlinable @discardableResult
  public func begin(_ name: TraceName) -> UInt64 { recordBegin(name, 0, 0, 0, 0, 0, 0, 0) }

  /// Opens a span with one argument; returns its timestamp.
  @inlinable @discardableResult
  public func begin(_ name: TraceName, _ key: TraceKey, _ value: Int64) -> UInt64 {
    recordBegin(name, 1, key.rawValue, value, 0, 0, 0, 0)
  }

  /// Opens a span with two arguments; returns its timestamp.
  @inlinable @discardableResult
  public func begin(
    _ name: TraceName, _ key0: TraceKey, _ value0: Int64, _ key1: TraceKey, _ value1: Int64
  ) -> UInt64 {
    recordBegin(name, 2, key0.rawValue, value0, key1.rawValue, value1, 0, 0)
  }

  /// Opens a span with three arguments; returns its timestamp.
  @inlinable @discardableResult
  public func begin(
    _ name: TraceName, _ key0: TraceKey, _ value0: Int64, _ key1: TraceKey, _ value1: Int64,
    _ key2: TraceKey, _ value2: Int64
  ) -> UInt64 {
    recordBegin(name, 3, key0.rawValue, value0, key1.rawValue, value1, key2.rawValue, value2)
  }

  /// Closes the innermost open span; returns its timestamp.
  @inlinable @discardableResult
  public func end() -> UInt64 { recordEnd(0, 0, 0, 0, 0, 0, 0) }

  /// Closes the innermost open span with what is known by then; returns its timestamp.
  @inlinable @discardableResult
  public func end(_ key: TraceKey, _ value: Int64) -> UInt64 {
    recordEnd(1, key.rawValue, value, 0, 0, 0, 0)
  }

  /// Closes the innermost open span with two arguments; returns its timestamp.
  @inlinable @discardableResult
  public func end(
    _ key0: TraceKey, _ value0: Int64, _ key1: TraceKey, _ value1: Int64
  ) -> UInt64 {
    recordEnd(2, key0.rawValue, value0, key1.rawValue, value1, 0, 0)
  }

  /// Closes the innermost open span with three arguments; returns its timestamp.
  @inlinable @discardableResult
  public func end(
    _ key0: TraceKey, _ value0: Int64, _ key1: TraceKey, _ value1: Int64, _ key2: TraceKey,
    _ value2: Int64
  ) -> UInt64 {
    recordEnd(3, key0.rawValue, value0, key1.rawValue, value1, key2.rawValue, value2)
  }

  /// Sets a counter; returns the timestamp.
  @inlinable @discardableResult
  public func counter(_ counter: TraceCounter, _ value: Int64) -> UInt64 {
    recordPoint(.counter, counter.rawValue, false, 0, 0, value, 0, 0)
  }

  /// Marks a moment; returns its timestamp.
  @inlinable @discardableResult
  public func instant(_ name: TraceName) -> UInt64 {
    recordPoint(.instant, name.rawValue, name.isDetail, 0, 0, 0, 0, 0)
  }

  /// Marks a moment with one argument; returns its timestamp.
  @inlinable @discardableResult
  public func instant(_ name: TraceName, _ key: TraceKey, _ value: Int64) -> UInt64 {
    recordPoint(.instant, name.rawValue, name.isDetail, 1, key.rawValue, value, 0, 0)
  }

  /// Marks a moment with two arguments; returns its timestamp.
  @inlinable @discardableResult
  public func instant(
    _ name: TraceName, _ key0: TraceKey, _ value0: Int64, _ key1: TraceKey, _ value1: Int64
  ) -> UInt64 {
    recordPoint(
      .instant, name.rawValue, name.isDetail, 2, key0.rawValue, value0, key1.rawValue, value1)
  }
}
