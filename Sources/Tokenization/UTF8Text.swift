/// Bytes as UTF-8: finding out whether they are, and repairing them where they are not.
///
/// A fault is replaced as Python's `decode("utf-8", "replace")` and the WHATWG do it: one U+FFFD
/// for every maximal part of a sequence that could have become a scalar, and for every other byte.
package enum UTF8Text {
  /// What stands at an offset of some bytes.
  enum Element: Equatable {
    /// A scalar, so many bytes long.
    case scalar(byteCount: Int)
    /// A fault, so many bytes long, that becomes one U+FFFD.
    case fault(byteCount: Int)
    /// The bytes end within a sequence that is right so far.
    case truncated(byteCount: Int)
  }

  /// Reads one element; the offset is inside the bytes.
  static func element(in bytes: [UInt8], at offset: Int) -> Element {
    let lead = bytes[offset]
    // The second byte's range excludes overlong forms, surrogates and values above U+10FFFF.
    let (byteCount, second): (Int, ClosedRange<UInt8>)
    switch lead {
    case 0x00...0x7F: return .scalar(byteCount: 1)
    case 0xC2...0xDF: (byteCount, second) = (2, 0x80...0xBF)
    case 0xE0: (byteCount, second) = (3, 0xA0...0xBF)
    case 0xED: (byteCount, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (byteCount, second) = (3, 0x80...0xBF)
    case 0xF0: (byteCount, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (byteCount, second) = (4, 0x80...0xBF)
    case 0xF4: (byteCount, second) = (4, 0x80...0x8F)
    default: return .fault(byteCount: 1)
    }
    for index in 1..<byteCount {
      guard offset + index < bytes.count else { return .truncated(byteCount: index) }
      let range = index == 1 ? second : 0x80...0xBF
      guard range.contains(bytes[offset + index]) else { return .fault(byteCount: index) }
    }
    return .scalar(byteCount: byteCount)
  }

  /// The bytes with U+FFFD in place of every fault; valid bytes are returned as they are.
  package static func repaired(_ bytes: [UInt8]) -> [UInt8] {
    var offset = 0
    while offset < bytes.count {
      if bytes[offset] < 0x80 {
        offset += 1
      } else if case .scalar(let byteCount) = element(in: bytes, at: offset) {
        offset += byteCount
      } else {
        break
      }
    }
    guard offset < bytes.count else { return bytes }
    var result = Array(bytes[..<offset])
    while offset < bytes.count {
      switch element(in: bytes, at: offset) {
      case .scalar(let byteCount):
        result += bytes[offset..<offset + byteCount]
        offset += byteCount
      case .fault(let byteCount), .truncated(let byteCount):
        result += [0xEF, 0xBF, 0xBD]
        offset += byteCount
      }
    }
    return result
  }

  /// How many bytes at the end begin a scalar that more bytes could complete (0 to 3).
  static func incompleteByteCount(atEndOf bytes: [UInt8]) -> Int {
    for count in 1...3 where count <= bytes.count {
      let offset = bytes.count - count
      if bytes[offset] & 0xC0 == 0x80 { continue }
      if element(in: bytes, at: offset) == .truncated(byteCount: count) { return count }
      return 0
    }
    return 0
  }
}
