/// Writes protobuf messages: every field goes straight to the end of one array of bytes.
///
/// Fields come out in the order they are given, so callers give them by ascending number. That is
/// the order of other encoders, and the bytes are theirs.
///
/// ```
/// 08 96 01          field 1, varint: 150
/// 12 02 68 69       field 2, two bytes: "hi"
/// ```
struct ProtobufEncoder {
  /// What has been written and not been taken.
  private(set) var bytes: [UInt8] = []

  /// The bytes so far; the encoder begins again with none.
  mutating func takeBytes() -> [UInt8] {
    let taken = bytes
    bytes = []
    bytes.reserveCapacity(taken.count + taken.count / 8)
    return taken
  }

  /// An unsigned number, a Boolean or a case of an enumeration.
  mutating func append(_ field: UInt32, _ value: UInt64) {
    append(varint: UInt64(field) << 3)
    append(varint: value)
  }

  /// A signed number in two's complement, as `int32` and `int64` have it.
  mutating func append(_ field: UInt32, signed value: Int64) {
    append(field, UInt64(bitPattern: value))
  }

  /// A string, or bytes that are one.
  mutating func append(_ field: UInt32, _ text: String) {
    append(varint: UInt64(field) << 3 | 2)
    append(varint: UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  /// A message; `body` appends its fields.
  mutating func append(message field: UInt32, _ body: (inout ProtobufEncoder) -> Void) {
    append(varint: UInt64(field) << 3 | 2)
    let start = bytes.count
    // Most messages are shorter than 128 bytes: one byte holds their count.
    bytes.append(0)
    body(&self)
    let count = bytes.count - start - 1
    guard count >= 0x80 else {
      bytes[start] = UInt8(truncatingIfNeeded: count)
      return
    }
    var length = ProtobufEncoder()
    length.append(varint: UInt64(count))
    bytes.replaceSubrange(start...start, with: length.bytes)
  }

  private mutating func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}
