/// A metadata value of a GGUF file.
package enum GGUFValue: Hashable, Sendable {
  case unsigned(UInt64)
  case signed(Int64)
  case float32(Float)
  case float64(Double)
  case bool(Bool)
  case string(String)
  case array(GGUFArray)

  /// What it is, for errors.
  package var kindName: String {
    switch self {
    case .unsigned, .signed: "an integer"
    case .float32, .float64: "a float"
    case .bool: "a bool"
    case .string: "a string"
    case .array: "an array"
    }
  }

  /// A non-negative integer of any width.
  package var count: Int? {
    switch self {
    case .unsigned(let value): Int(exactly: value)
    case .signed(let value): value >= 0 ? Int(exactly: value) : nil
    default: nil
    }
  }

  /// A float or an integer.
  package var number: Double? {
    switch self {
    case .float32(let value): Double(value)
    case .float64(let value): value
    case .unsigned(let value): Double(value)
    case .signed(let value): Double(value)
    default: nil
    }
  }
}

/// An array value, its elements in no more memory than a small multiple of the file's.
package enum GGUFArray: Hashable, Sendable {
  case uint8([UInt8])
  case int8([Int8])
  case uint16([UInt16])
  case int16([Int16])
  case uint32([UInt32])
  case int32([Int32])
  case uint64([UInt64])
  case int64([Int64])
  case float32([Float])
  case float64([Double])
  case bool([Bool])
  case string([String])
  case nested([GGUFArray])

  /// The number of elements.
  package var count: Int {
    switch self {
    case .uint8(let elements): elements.count
    case .int8(let elements): elements.count
    case .uint16(let elements): elements.count
    case .int16(let elements): elements.count
    case .uint32(let elements): elements.count
    case .int32(let elements): elements.count
    case .uint64(let elements): elements.count
    case .int64(let elements): elements.count
    case .float32(let elements): elements.count
    case .float64(let elements): elements.count
    case .bool(let elements): elements.count
    case .string(let elements): elements.count
    case .nested(let elements): elements.count
    }
  }

  /// The elements as integers; nil where they are of another kind or one does not fit.
  package var integers: [Int]? {
    func convert(_ elements: [some BinaryInteger]) -> [Int]? {
      var result: [Int] = []
      result.reserveCapacity(elements.count)
      for element in elements {
        guard let value = Int(exactly: element) else { return nil }
        result.append(value)
      }
      return result
    }
    return switch self {
    case .uint8(let elements): convert(elements)
    case .int8(let elements): convert(elements)
    case .uint16(let elements): convert(elements)
    case .int16(let elements): convert(elements)
    case .uint32(let elements): convert(elements)
    case .int32(let elements): convert(elements)
    case .uint64(let elements): convert(elements)
    case .int64(let elements): convert(elements)
    default: nil
    }
  }
}
