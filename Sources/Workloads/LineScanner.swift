import TensorCore

/// Reads one line of a trace from left to right; its errors name the line.
struct LineScanner {
  private let bytes: ArraySlice<UInt8>
  private var place: Int
  let file: String
  let line: Int

  init(_ bytes: ArraySlice<UInt8>, file: String, line: Int) {
    self.bytes = bytes
    place = bytes.startIndex
    self.file = file
    self.line = line
  }

  /// The lines of a file, numbered from 1, without their ends; an empty last one is left out.
  static func lines(_ bytes: [UInt8], file: String) -> [LineScanner] {
    var lines: [LineScanner] = []
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      lines.append(LineScanner(content, file: file, line: lines.count + 1))
    }
    if lines.last?.isAtEnd == true { lines.removeLast() }
    return lines
  }

  var isAtEnd: Bool { place == bytes.endIndex }

  func failure(_ reason: String) -> InputError {
    InputError(file: file, place: "line \(line)", reason: reason)
  }

  /// The column of the next byte, from 1.
  private var column: Int { place - bytes.startIndex + 1 }

  mutating func skipSpaces() {
    while place < bytes.endIndex, bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
  }

  /// Takes a character if it comes next.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard place < bytes.endIndex, bytes[place] == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  mutating func expect(_ character: Unicode.Scalar) throws(InputError) {
    guard take(character) else {
      throw failure("“\(character)” expected at column \(column)")
    }
  }

  /// A number without sign, up to a limit.
  mutating func integer(_ what: String, upTo limit: Int) throws(InputError) -> Int {
    let start = place
    var value = 0
    while place < bytes.endIndex, (0x30...0x39).contains(bytes[place]) {
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int(bytes[place] - 0x30))
      guard !overflow, !carry, sum <= limit else { throw failure("\(what) above \(limit)") }
      value = sum
      place += 1
    }
    guard place > start else { throw failure("\(what): no number at column \(column)") }
    return value
  }

  /// A number of exactly so many digits.
  mutating func digits(_ count: Int, _ what: String) throws(InputError) -> Int {
    var value = 0
    for _ in 0..<count {
      guard place < bytes.endIndex, (0x30...0x39).contains(bytes[place]) else {
        throw failure("\(what): \(count) digits expected at column \(column)")
      }
      value = value * 10 + Int(bytes[place] - 0x30)
      place += 1
    }
    return value
  }

  /// Digits after a decimal point, as billionths; finer ones are dropped.
  mutating func billionths() -> Int {
    var value = 0
    var unit = 100_000_000
    while place < bytes.endIndex, (0x30...0x39).contains(bytes[place]) {
      value += Int(bytes[place] - 0x30) * unit
      unit /= 10
      place += 1
    }
    return value
  }

  /// A quoted name without escapes.
  mutating func quotedName() throws(InputError) -> String {
    try expect("\"")
    let start = place
    while place < bytes.endIndex, bytes[place] != UInt8(ascii: "\"") { place += 1 }
    let name = String(decoding: bytes[start..<place], as: UTF8.self)
    try expect("\"")
    return name
  }

  func expectEnd() throws(InputError) {
    guard isAtEnd else { throw failure("nothing expected after column \(column - 1)") }
  }
}
