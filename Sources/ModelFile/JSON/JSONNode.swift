import TensorCore

/// A small JSON document as a tree, whose values know where they stand: for configurations, of
/// which few names matter.
///
/// Look-ups throw where a value is of another kind; names with the value `null` count as absent,
/// as they do to the programs that write such files.
struct JSONNode: Sendable {
  indirect enum Value: Sendable {
    case object([String: JSONNode])
    case array([JSONNode])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null
  }

  let value: Value
  /// Bytes from the beginning of the file to the value.
  let offset: Int
  /// The names on the way to it: `rope_parameters.rope_theta`.
  let place: String

  /// Values that one tree may have: 65,536 take a few MiB.
  static let valueLimit = 1 << 16

  /// Parses a whole file.
  init(parsing bytes: [UInt8]) throws(InputError) {
    var reader = JSONReader(bytes)
    var budget = Self.valueLimit
    try self.init(reading: &reader, place: "", budget: &budget)
    try reader.end()
  }

  /// An object of values that have been read.
  init(members: [String: JSONNode], place: String) {
    value = .object(members)
    offset = 0
    self.place = place
  }

  /// Reads the next value; `budget` is how many values there may be.
  init(reading reader: inout JSONReader, place: String, budget: inout Int) throws(InputError) {
    let kind = try reader.kind()
    budget -= 1
    guard budget >= 0 else { throw reader.error("more than \(Self.valueLimit) values") }
    self.place = place
    offset = reader.offset
    func inside(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }
    switch kind {
    case .object:
      var members: [String: JSONNode] = [:]
      try reader.object { reader, name throws(InputError) in
        members[name] = try JSONNode(
          reading: &reader, place: inside(name), budget: &budget)
      }
      value = .object(members)
    case .array:
      var elements: [JSONNode] = []
      try reader.array { reader throws(InputError) in
        elements.append(
          try JSONNode(reading: &reader, place: inside("\(elements.count)"), budget: &budget))
      }
      value = .array(elements)
    case .string: value = .string(try reader.string())
    case .number: value = .number(try reader.number())
    case .bool: value = .bool(try reader.bool())
    case .null:
      try reader.skip()
      value = .null
    }
  }

  /// An error about this value.
  func error(_ reason: String) -> InputError {
    InputError(place: place, offset: offset, reason: reason)
  }

  /// An error about a name of this object, at its value where it has one.
  func error(_ name: String, _ reason: String) -> InputError {
    self[name]?.error(reason)
      ?? InputError(place: place.isEmpty ? name : "\(place).\(name)", reason: reason)
  }

  /// The value under a name of an object; nil where it is absent or null.
  subscript(name: String) -> JSONNode? {
    guard case .object(let members) = value, let member = members[name] else { return nil }
    if case .null = member.value { return nil }
    return member
  }

  /// The elements of an array, nil for any other value.
  var elements: [JSONNode]? {
    if case .array(let elements) = value { return elements }
    return nil
  }

  /// The names of an object, nil for any other value.
  var members: [String: JSONNode]? {
    if case .object(let members) = value { return members }
    return nil
  }

  /// The text, nil for any other value.
  var text: String? {
    if case .string(let text) = value { return text }
    return nil
  }

  func string(_ name: String) throws(InputError) -> String? {
    guard let node = self[name] else { return nil }
    guard let text = node.text else { throw node.error("a string is expected") }
    return text
  }

  func bool(_ name: String) throws(InputError) -> Bool? {
    guard let node = self[name] else { return nil }
    guard case .bool(let bool) = node.value else { throw node.error("true or false is expected") }
    return bool
  }

  func number(_ name: String) throws(InputError) -> Double? {
    guard let node = self[name] else { return nil }
    guard case .number(let number) = node.value else { throw node.error("a number is expected") }
    return number
  }

  /// An integer from 1 to 2^31 − 1: products of two fit an `Int`.
  func count(_ name: String) throws(InputError) -> Int? {
    guard let number = try number(name) else { return nil }
    guard let count = Int(exactly: number), count >= 1, count <= Int(Int32.max) else {
      throw error(name, "\(number) is no integer from 1 to \(Int32.max)")
    }
    return count
  }

  func requiredCount(_ name: String) throws(InputError) -> Int {
    guard let count = try count(name) else { throw error(name, "the name is missing") }
    return count
  }
}
