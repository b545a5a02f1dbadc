import TensorCore

/// Reads little-endian fields one after another from bytes that came from outside.
///
/// Running past the end throws the place and the file offset; nothing here traps.
struct IndexReader {
  /// The file offset of `bytes[0]`, for errors.
  let base: Int
  let bytes: [UInt8]
  private(set) var position: Int
  /// The end of what may be read.
  let end: Int
  /// What is being read, for errors.
  var place: String

  init(_ bytes: [UInt8], range: Range<Int>? = nil, base: Int, place: String) {
    self.bytes = bytes
    self.base = base
    self.place = place
    position = range?.lowerBound ?? 0
    end = min(range?.upperBound ?? bytes.count, bytes.count)
  }

  /// The file offset of the next byte.
  var offset: Int { base + position }
  var remaining: Int { end - position }

  /// An error at the next byte, or at the given offset from the beginning of the file.
  func error(_ reason: String, at offset: Int? = nil) -> InputError {
    InputError(place: place, offset: offset ?? self.offset, reason: reason)
  }

  /// The range of the next bytes, which are then behind. What they are for is put into words where
  /// they are missing only: a vocabulary has 10^5 tokens to name.
  mutating func take(
    _ byteCount: Int, for what: @autoclosure () -> String
  ) throws(InputError) -> Range<Int> {
    guard byteCount >= 0, byteCount <= remaining else {
      throw error("\(what()) needs \(byteCount) bytes, \(remaining) are left")
    }
    defer { position += byteCount }
    return position..<position + byteCount
  }

  mutating func integer<T: FixedWidthInteger & UnsignedInteger>(
    _: T.Type, for what: @autoclosure () -> String
  ) throws(InputError) -> T {
    let range = try take(T.bitWidth / 8, for: what())
    var value: T = 0
    for index in range.reversed() { value = value << 8 | T(bytes[index]) }
    return value
  }

  /// A 64-bit field that must fit an `Int` and not be above `limit`.
  mutating func count(for what: String, limit: Int = .max) throws(InputError) -> Int {
    let start = offset
    let value = try integer(UInt64.self, for: what)
    guard value <= UInt64(limit) else {
      throw error("\(what) is \(value), at most \(limit) is possible", at: start)
    }
    return Int(value)
  }

  /// A field that must be zero.
  mutating func reserved<T: FixedWidthInteger & UnsignedInteger>(
    _: T.Type
  ) throws(InputError) {
    let start = offset
    let value = try integer(T.self, for: "a reserved field")
    guard value == 0 else { throw error("a reserved field is \(value) instead of 0", at: start) }
  }

  /// Zero bytes up to the next multiple of eight, counted from `start`.
  mutating func padding(from start: Int) throws(InputError) {
    let count = (8 - (position - start) % 8) % 8
    let offset = offset
    let range = try take(count, for: "padding")
    guard bytes[range].allSatisfy({ $0 == 0 }) else {
      throw error("padding is not zero", at: offset)
    }
  }

  mutating func string(
    byteCount: Int, for what: @autoclosure () -> String
  ) throws(InputError) -> String {
    let start = offset
    let range = try take(byteCount, for: what())
    guard let text = String(validating: bytes[range], as: UTF8.self) else {
      throw error("\(what()) is not valid UTF-8", at: start)
    }
    return text
  }

  /// A reader of the next bytes alone, which are then behind.
  mutating func part(_ byteCount: Int, place: String) throws(InputError) -> IndexReader {
    let range = try take(byteCount, for: place)
    return IndexReader(bytes, range: range, base: base, place: place)
  }
}

extension [UInt8] {
  /// Appends an integer, least significant byte first.
  mutating func appendLittleEndian<T: FixedWidthInteger & UnsignedInteger>(_ value: T) {
    for shift in stride(from: 0, to: T.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> T(shift)))
    }
  }

  /// Appends zeros until the count since `start` is a multiple of eight.
  mutating func padToEight(from start: Int) {
    while (count - start) % 8 != 0 { append(0) }
  }
}
