import TensorCore

/// Reads the head of a GGUF file front to back through a bounded buffer, checking every count
/// against the bytes that are left before anything is allocated.
struct GGUFCursor {
  private let file: GGUFInput
  /// Bytes from the beginning of the file to what is read next.
  private(set) var offset = 0
  /// What errors call the place being read.
  var place = "header"
  private var buffer: [UInt8] = []
  /// The file offset of the buffer's first byte.
  private var bufferStart = 0

  static let bufferByteCount = 1 << 16
  /// GGUF sets no limit to nested arrays; every level costs a level of this program's stack.
  static let maximumNesting = 8

  init(_ file: GGUFInput) { self.file = file }

  var remaining: Int { file.byteCount - offset }

  /// An error at the current place.
  func error(_ reason: String, at offset: Int? = nil) -> InputError {
    InputError(file: file.path, place: place, offset: offset ?? self.offset, reason: reason)
  }

  /// A little-endian integer.
  mutating func integer<Value: FixedWidthInteger>(
    _ type: Value.Type = Value.self
  ) throws(InputError) -> Value {
    let width = Value.bitWidth / 8
    try fill(width)
    var value: Value = 0
    for index in 0..<width {
      value |= Value(truncatingIfNeeded: buffer[offset - bufferStart + index]) << (8 * index)
    }
    offset += width
    return value
  }

  /// A number of things that take at least `minimumByteCount` bytes each.
  mutating func count(of things: String, minimumByteCount: Int) throws(InputError) -> Int {
    let start = offset
    let raw: UInt64 = try integer()
    guard let count = Int(exactly: raw), count <= remaining / minimumByteCount else {
      throw error("\(raw) \(things) do not fit the \(remaining) bytes that are left", at: start)
    }
    return count
  }

  /// A string: its byte count, then UTF-8.
  mutating func string() throws(InputError) -> String {
    let count = try count(of: "string bytes", minimumByteCount: 1)
    if count <= Self.bufferByteCount {
      try fill(count)
      let start = offset - bufferStart
      guard let text = String(validating: buffer[start..<start + count], as: UTF8.self) else {
        throw error("the string is not valid UTF-8")
      }
      offset += count
      return text
    }
    var bytes = [UInt8](repeating: 0, count: count)
    try read(at: offset, into: &bytes)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw error("the string is not valid UTF-8")
    }
    offset += count
    return text
  }

  /// One byte, 0 or 1.
  mutating func bool() throws(InputError) -> Bool {
    let start = offset
    let byte: UInt8 = try integer()
    guard byte <= 1 else { throw error("a bool is \(byte) instead of 0 or 1", at: start) }
    return byte == 1
  }

  /// A value of the type with that number.
  mutating func value(type: UInt32) throws(InputError) -> GGUFValue {
    switch type {
    case 0: .unsigned(UInt64(try integer(UInt8.self)))
    case 1: .signed(Int64(try integer(Int8.self)))
    case 2: .unsigned(UInt64(try integer(UInt16.self)))
    case 3: .signed(Int64(try integer(Int16.self)))
    case 4: .unsigned(UInt64(try integer(UInt32.self)))
    case 5: .signed(Int64(try integer(Int32.self)))
    case 6: .float32(Float(bitPattern: try integer()))
    case 7: .bool(try bool())
    case 8: .string(try string())
    case 9: .array(try array(nesting: 1))
    case 10: .unsigned(try integer())
    case 11: .signed(try integer())
    case 12: .float64(Double(bitPattern: try integer()))
    default: throw error("unknown value type \(type)", at: offset - 4)
    }
  }

  /// Element type, count, elements.
  private mutating func array(nesting: Int) throws(InputError) -> GGUFArray {
    guard nesting <= Self.maximumNesting else {
      throw error("arrays are nested more than \(Self.maximumNesting) deep")
    }
    let type: UInt32 = try integer()
    switch type {
    case 0: return .uint8(try elements(1) { c throws(InputError) in try c.integer() })
    case 1: return .int8(try elements(1) { c throws(InputError) in try c.integer() })
    case 2: return .uint16(try elements(2) { c throws(InputError) in try c.integer() })
    case 3: return .int16(try elements(2) { c throws(InputError) in try c.integer() })
    case 4: return .uint32(try elements(4) { c throws(InputError) in try c.integer() })
    case 5: return .int32(try elements(4) { c throws(InputError) in try c.integer() })
    case 6:
      return .float32(
        try elements(4) { c throws(InputError) in Float(bitPattern: try c.integer()) })
    case 7: return .bool(try elements(1) { c throws(InputError) in try c.bool() })
    case 8: return .string(try elements(8) { c throws(InputError) in try c.string() })
    case 9:
      return .nested(
        try elements(12) { c throws(InputError) in try c.array(nesting: nesting + 1) })
    case 10: return .uint64(try elements(8) { c throws(InputError) in try c.integer() })
    case 11: return .int64(try elements(8) { c throws(InputError) in try c.integer() })
    case 12:
      return .float64(
        try elements(8) { c throws(InputError) in Double(bitPattern: try c.integer()) })
    default: throw error("unknown array element type \(type)", at: offset - 4)
    }
  }

  private mutating func elements<Element>(
    _ minimumByteCount: Int, _ read: (inout GGUFCursor) throws(InputError) -> Element
  ) throws(InputError) -> [Element] {
    let count = try count(of: "array elements", minimumByteCount: minimumByteCount)
    var elements: [Element] = []
    elements.reserveCapacity(count)
    for _ in 0..<count { elements.append(try read(&self)) }
    return elements
  }

  /// Makes `count` (at most the buffer's) bytes from the offset on available in the buffer.
  private mutating func fill(_ count: Int) throws(InputError) {
    guard count <= remaining else {
      throw error("the file ends \(count - remaining) bytes too early")
    }
    let available = bufferStart + buffer.count - offset
    guard available < count else { return }
    let byteCount = min(Self.bufferByteCount, remaining)
    if buffer.count != byteCount { buffer = [UInt8](repeating: 0, count: byteCount) }
    try read(at: offset, into: &buffer)
    bufferStart = offset
  }

  private func read(at offset: Int, into bytes: inout [UInt8]) throws(InputError) {
    var elements = bytes.mutableSpan
    // Any bytes are valid elements.
    var raw = unsafe elements.mutableBytes
    try file.read(at: offset, into: &raw, place: place)
  }
}
