import TensorCore

/// Reads JSON (RFC 8259) front to back, one value after another, without building a tree.
///
/// The caller says what it expects, so that a hostile file costs no more memory than what the
/// caller keeps. Strict: UTF-8 only, one value, no duplicate names in an object, nesting up to
/// ``maximumNesting``. An error names the place and the byte offset in the file.
///
/// ```
/// var reader = JSONReader(bytes)
/// try reader.object { reader, name throws(InputError) in
///   if name == "count" { count = try reader.count() } else { try reader.skip() }
/// }
/// try reader.end()
/// ```
struct JSONReader {
  private let bytes: [UInt8]
  private let limit: Int
  private(set) var position: Int
  /// What errors call the place being read.
  var place: String
  /// The file offset of the first of `bytes`.
  private let fileOffset: Int
  private var nesting = 0

  static let maximumNesting = 32

  /// What a value is, by its first character.
  enum Kind: String {
    case object = "an object"
    case array = "an array"
    case string = "a string"
    case number = "a number"
    case bool = "a bool"
    case null = "null"
  }

  /// Reads a range of bytes, whose first byte lies at `fileOffset` of its file.
  init(_ bytes: [UInt8], range: Range<Int>? = nil, fileOffset: Int = 0, place: String = "") {
    self.bytes = bytes
    position = range?.lowerBound ?? 0
    limit = range?.upperBound ?? bytes.count
    self.fileOffset = fileOffset - position
    self.place = place
  }

  /// Bytes from the beginning of the file to what is read next.
  var offset: Int { fileOffset + position }

  /// An error at the current place, or at an offset of the file.
  func error(_ reason: String, at offset: Int? = nil) -> InputError {
    InputError(place: place, offset: offset ?? self.offset, reason: reason)
  }

  /// The kind of the next value.
  mutating func kind() throws(InputError) -> Kind {
    skipSpace()
    guard let current else { throw error("the JSON ends where a value should stand") }
    switch current {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    default: throw error("not valid JSON")
    }
  }

  /// Reads an object: `body` reads the value of every name.
  mutating func object(
    _ body: (inout JSONReader, String) throws(InputError) -> Void
  ) throws(InputError) {
    var names: Set<[UInt8]> = []
    try expect(.object)
    try enter()
    if take(UInt8(ascii: "}")) { return leave() }
    repeat {
      skipSpace()
      let start = offset
      guard current == UInt8(ascii: "\"") else { throw error("a name is expected") }
      let name = try string()
      // Names are compared as bytes: canonically equivalent ones are different.
      guard names.insert(Array(name.utf8)).inserted else {
        throw error("the name \"\(name)\" occurs twice", at: start)
      }
      guard take(UInt8(ascii: ":")) else { throw error("a colon is expected") }
      try body(&self, name)
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw error("a comma or } is expected") }
    leave()
  }

  /// Reads an array: `body` reads every element.
  mutating func array(
    _ body: (inout JSONReader) throws(InputError) -> Void
  ) throws(InputError) {
    try expect(.array)
    try enter()
    if take(UInt8(ascii: "]")) { return leave() }
    repeat { try body(&self) } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw error("a comma or ] is expected") }
    leave()
  }

  /// An integer from 0 to 2^63 − 1, written without fraction and exponent.
  mutating func count() throws(InputError) -> Int {
    try expect(.number)
    let start = offset
    let text = try numberText()
    guard let value = Int(text), value >= 0, text.utf8.first != UInt8(ascii: "-") else {
      throw error("\(text.prefix(40)) is no integer from 0 to 2^63 - 1", at: start)
    }
    return value
  }

  /// A finite number.
  mutating func number() throws(InputError) -> Double {
    try expect(.number)
    let start = offset
    let text = try numberText()
    guard let value = Double(text), value.isFinite else {
      throw error("\(text.prefix(40)) is no finite number", at: start)
    }
    return value
  }

  mutating func bool() throws(InputError) -> Bool {
    try expect(.bool)
    if takeWord("true") { return true }
    guard takeWord("false") else { throw error("not valid JSON") }
    return false
  }

  /// Passes over one value, checking it.
  mutating func skip() throws(InputError) {
    switch try kind() {
    case .object: try object { reader, _ throws(InputError) in try reader.skip() }
    case .array: try array { reader throws(InputError) in try reader.skip() }
    case .string: _ = try string()
    case .number: _ = try number()
    case .bool: _ = try bool()
    case .null: guard takeNull() else { throw error("not valid JSON") }
    }
  }

  /// Passes over `null` if that is what comes next.
  mutating func takeNull() -> Bool {
    skipSpace()
    return takeWord("null")
  }

  /// Demands that nothing but white space is left.
  mutating func end() throws(InputError) {
    skipSpace()
    guard position == limit else { throw error("bytes behind the JSON value") }
  }

  // MARK: - Pieces

  private var current: UInt8? { position < limit ? bytes[position] : nil }

  private mutating func expect(_ kind: Kind) throws(InputError) {
    let found = try self.kind()
    guard found == kind else { throw error("\(kind.rawValue) is expected, not \(found.rawValue)") }
  }

  /// Passes the opening character.
  private mutating func enter() throws(InputError) {
    guard nesting < Self.maximumNesting else {
      throw error("the JSON nests deeper than \(Self.maximumNesting)")
    }
    nesting += 1
    position += 1
  }

  private mutating func leave() { nesting -= 1 }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  private mutating func take(_ character: UInt8) -> Bool {
    skipSpace()
    guard current == character else { return false }
    position += 1
    return true
  }

  private mutating func takeWord(_ word: String) -> Bool {
    let count = word.utf8.count
    guard limit - position >= count,
      bytes[position..<position + count].elementsEqual(word.utf8)
    else { return false }
    position += count
    return true
  }

  /// The characters of a number, which follow the grammar of JSON.
  private mutating func numberText() throws(InputError) -> String {
    let start = position
    if current == UInt8(ascii: "-") { position += 1 }
    if current == UInt8(ascii: "0") {
      position += 1
    } else {
      try digits()
    }
    if current == UInt8(ascii: ".") {
      position += 1
      try digits()
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      position += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func digits() throws(InputError) {
    let start = position
    while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    guard position > start else { throw error("a digit is expected") }
  }
}

// MARK: - Strings

extension JSONReader {
  /// A string; escapes resolved.
  mutating func string() throws(InputError) -> String {
    try expect(.string)
    let start = offset
    position += 1
    let first = position
    while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
      position += 1
    }
    if current == UInt8(ascii: "\"") {
      // The common case: no escape, no copy but the string's own.
      guard let text = String(validating: bytes[first..<position], as: UTF8.self) else {
        throw error("the string is not valid UTF-8", at: start)
      }
      position += 1
      return text
    }
    var content = Array(bytes[first..<position])
    while let byte = current, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw error("a control character in a string") }
      if byte == UInt8(ascii: "\\") {
        content.append(contentsOf: String(try escape()).utf8)
      } else {
        content.append(byte)
        position += 1
      }
    }
    guard current != nil else { throw error("the string does not end", at: start) }
    position += 1
    guard let text = String(validating: content, as: UTF8.self) else {
      throw error("the string is not valid UTF-8", at: start)
    }
    return text
  }

  /// The character of an escape sequence.
  private mutating func escape() throws(InputError) -> Character {
    let start = offset
    position += 1
    guard let letter = current else { throw error("the string does not end", at: start) }
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      return Character(Unicode.Scalar(letter))
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return Character(try escapedScalar(start: start))
    default: throw error("an unknown escape sequence", at: start)
    }
  }

  /// `\u` and four digits, or two of them that are a surrogate pair.
  private mutating func escapedScalar(start: Int) throws(InputError) -> Unicode.Scalar {
    let high = try fourDigits()
    var value = high
    if 0xD800..<0xDC00 ~= high {
      guard takeWord("\\u") else { throw error("half a surrogate pair", at: start) }
      let low = try fourDigits()
      guard 0xDC00..<0xE000 ~= low else { throw error("half a surrogate pair", at: start) }
      value = 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(value) else {
      throw error("half a surrogate pair", at: start)
    }
    return scalar
  }

  private mutating func fourDigits() throws(InputError) -> UInt32 {
    guard limit - position >= 4 else { throw error("four hexadecimal digits are expected") }
    var value: UInt32 = 0
    for byte in bytes[position..<position + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("four hexadecimal digits are expected")
      }
      value = value << 4 | UInt32(digit)
    }
    position += 4
    return value
  }
}
