/// One record of a writer: 40 bytes, plain data.
///
/// An `end` has no name: it closes the innermost open span of its track.
@frozen
public struct TraceEvent: Hashable, Sendable {
  /// What the event does. Raw values from 5 on are kept free for flows.
  @frozen
  public enum Kind: UInt8, CaseIterable, Hashable, Sendable {
    /// Opens a span.
    case begin = 1
    /// Closes the innermost open span.
    case end = 2
    /// Marks a moment.
    case instant = 3
    /// Sets a counter; the value is the event's first value.
    case counter = 4
  }

  /// Nanoseconds of the monotonic clock.
  public var timestamp: UInt64
  /// What the event does.
  public var kind: Kind
  /// The raw value of the ``TraceName`` or ``TraceCounter``; 0 for an end.
  @usableFromInline package var code: UInt8
  /// Arguments in use, 0…3.
  @usableFromInline package var argumentCount: UInt8
  @usableFromInline package var key0: UInt8
  @usableFromInline package var key1: UInt8
  @usableFromInline package var key2: UInt8
  @usableFromInline package var value0: Int64
  @usableFromInline package var value1: Int64
  @usableFromInline package var value2: Int64

  @inlinable
  package init(
    timestamp: UInt64, kind: Kind, code: UInt8, argumentCount: UInt8, key0: UInt8, key1: UInt8,
    key2: UInt8, value0: Int64, value1: Int64, value2: Int64
  ) {
    self.timestamp = timestamp
    self.kind = kind
    self.code = code
    self.argumentCount = argumentCount
    self.key0 = key0
    self.key1 = key1
    self.key2 = key2
    self.value0 = value0
    self.value1 = value1
    self.value2 = value2
  }

  /// The name of a span that begins or of an instant; nil for the other kinds.
  public var name: TraceName? {
    kind == .begin || kind == .instant ? TraceName(rawValue: code) : nil
  }

  /// The counter that is set; nil for the other kinds.
  public var counter: TraceCounter? { kind == .counter ? TraceCounter(rawValue: code) : nil }

  /// The value of a counter event.
  public var counterValue: Int64 { value0 }

  /// The arguments in the order they were given. Allocates: for readers of a recording.
  public var arguments: [TraceArgument] {
    let all = [(key0, value0), (key1, value1), (key2, value2)].prefix(Int(argumentCount))
    return all.compactMap { raw, value in
      TraceKey(rawValue: raw).map { TraceArgument(key: $0, value: value) }
    }
  }

  /// The value of the argument `key`, if the event has it.
  public func value(of key: TraceKey) -> Int64? {
    if argumentCount > 0, key0 == key.rawValue { return value0 }
    if argumentCount > 1, key1 == key.rawValue { return value1 }
    if argumentCount > 2, key2 == key.rawValue { return value2 }
    return nil
  }
}

/// A key and its value: a number, or the index of a string where the key says so.
public struct TraceArgument: Hashable, Sendable {
  /// What the value means.
  public var key: TraceKey
  /// The number, or the index in ``Recording/strings``.
  public var value: Int64

  /// A key with its value.
  public init(key: TraceKey, value: Int64) {
    self.key = key
    self.value = value
  }
}
