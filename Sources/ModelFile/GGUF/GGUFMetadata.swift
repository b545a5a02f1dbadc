import TensorCore

/// The key-value pairs of a GGUF file, in file order, with typed look-ups.
///
/// A look-up returns nil where the key is absent and throws where its value is of another kind,
/// naming the key and the byte offset of its value.
package struct GGUFMetadata: Sendable {
  /// One pair and where its value begins.
  package struct Entry: Hashable, Sendable {
    package var key: String
    package var value: GGUFValue
    /// Bytes from the beginning of the file to the value.
    package var offset: Int
  }

  /// The pairs in file order.
  package private(set) var entries: [Entry] = []
  private var indices: [String: Int] = [:]

  /// Adds a pair; false where the key is there already.
  mutating func append(_ entry: Entry) -> Bool {
    guard indices.updateValue(entries.count, forKey: entry.key) == nil else { return false }
    entries.append(entry)
    return true
  }

  /// The pair of that key.
  package func entry(_ key: String) -> Entry? { indices[key].map { entries[$0] } }

  /// The value of that key.
  package subscript(key: String) -> GGUFValue? { entry(key)?.value }

  /// An error about a key, at its value where there is one.
  package func error(_ key: String, _ reason: String) -> InputError {
    InputError(place: "key \(key)", offset: entry(key)?.offset, reason: reason)
  }

  package func string(_ key: String) throws(InputError) -> String? {
    guard let value = self[key] else { return nil }
    guard case .string(let string) = value else {
      throw error(key, "a string is expected, not \(value.kindName)")
    }
    return string
  }

  /// A non-negative integer.
  package func count(_ key: String) throws(InputError) -> Int? {
    guard let value = self[key] else { return nil }
    guard let count = value.count else {
      throw error(key, "a non-negative integer below 2^63 is expected, not \(describe(value))")
    }
    return count
  }

  /// A finite number.
  package func number(_ key: String) throws(InputError) -> Double? {
    guard let value = self[key] else { return nil }
    guard let number = value.number, number.isFinite else {
      throw error(key, "a finite number is expected, not \(describe(value))")
    }
    return number
  }

  package func bool(_ key: String) throws(InputError) -> Bool? {
    guard let value = self[key] else { return nil }
    guard case .bool(let bool) = value else {
      throw error(key, "a bool is expected, not \(value.kindName)")
    }
    return bool
  }

  package func strings(_ key: String) throws(InputError) -> [String]? {
    guard let value = self[key] else { return nil }
    guard case .array(.string(let strings)) = value else {
      throw error(key, "an array of strings is expected, not \(describe(value))")
    }
    return strings
  }

  package func integers(_ key: String) throws(InputError) -> [Int]? {
    guard let value = self[key] else { return nil }
    guard case .array(let array) = value, let integers = array.integers else {
      throw error(key, "an array of integers is expected, not \(describe(value))")
    }
    return integers
  }

  private func describe(_ value: GGUFValue) -> String {
    switch value {
    case .unsigned(let number): "\(number)"
    case .signed(let number): "\(number)"
    case .float32(let number): "\(number)"
    case .float64(let number): "\(number)"
    case .bool, .string: value.kindName
    case .array: "an array of another kind"
    }
  }
}
