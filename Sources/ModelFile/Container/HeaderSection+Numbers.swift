import TensorCore

/// Finds the number that a decoder refuses: Foundation's says of valid JSON with 1.5 in place of an
/// integer that it is not valid JSON, and not where.
struct JSONNumberFault {
  /// A number of the document.
  private struct Number {
    var range: Range<Int>
    /// The names on the way to it: `cacheScales.keys.3`.
    var place: String
  }

  private let bytes: [UInt8]
  private var numbers: [Number] = []

  /// Looks through a document. Throws where it is not JSON, with the place.
  init(_ bytes: [UInt8], fileOffset: Int, place: String) throws(InputError) {
    self.bytes = bytes
    var reader = JSONReader(bytes, fileOffset: fileOffset, place: place)
    try gather(&reader, place: "")
    try reader.end()
  }

  private mutating func gather(_ reader: inout JSONReader, place: String) throws(InputError) {
    func inside(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }
    // White space before the value is behind it from here on.
    switch try reader.kind() {
    case .object:
      var found = self
      try reader.object { reader, name throws(InputError) in
        try found.gather(&reader, place: inside(name))
      }
      self = found
    case .array:
      var found = self
      var index = 0
      try reader.array { reader throws(InputError) in
        try found.gather(&reader, place: inside("\(index)"))
        index += 1
      }
      self = found
    case .number:
      let start = reader.position
      _ = try reader.number()
      numbers.append(Number(range: start..<reader.position, place: place))
    case .string, .bool, .null: try reader.skip()
    }
  }

  /// The last of the numbers that keep the document from being decoded, and what is wrong with it;
  /// nil where no number is to blame.
  func find(_ decodes: ([UInt8]) -> Bool) -> (reason: String, position: Int)? {
    // It is decoded once all of them, and those before them, are replaced by a harmless one.
    var (good, bad) = (0, numbers.count)
    guard decodes(replacing(bad)) else { return nil }
    while bad - good > 1 {
      let middle = (good + bad) / 2
      if decodes(replacing(middle)) { bad = middle } else { good = middle }
    }
    guard bad > 0 else { return nil }
    let number = numbers[bad - 1]
    let text = String(decoding: bytes[number.range], as: UTF8.self)
    let value = Double(text) ?? 0
    let isFraction = value != value.rounded() && value.magnitude < 0x1p127
    return (
      "\(number.place) is \(MessageText.line(text, limit: 40)), "
        + (isFraction ? "not an integer" : "out of range"), number.range.lowerBound
    )
  }

  /// The document with 1 in place of its first `count` numbers.
  private func replacing(_ count: Int) -> [UInt8] {
    var result: [UInt8] = []
    var end = 0
    for number in numbers[..<count] {
      result += bytes[end..<number.range.lowerBound]
      result.append(UInt8(ascii: "1"))
      end = number.range.upperBound
    }
    return result + bytes[end...]
  }
}
