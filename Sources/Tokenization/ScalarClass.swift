/// What a pre-tokenizer sees of a Unicode scalar.
///
/// The classes are those of Unicode 16 on every machine, whatever the Swift runtime knows: ids of a
/// text must not depend on the toolchain. Scalars assigned later are `other`.
enum ScalarClass: UInt8 {
  /// Neither of the others: punctuation, marks, symbols, controls, unassigned.
  case other = 0
  /// `\p{L}`
  case letter = 1
  /// `\p{N}`: decimal digits, letter numbers and other numbers.
  case number = 2
  /// `\s` except carriage return and line feed.
  case space = 3
  /// Carriage return and line feed.
  case newline = 4

  @inline(__always) var isWhitespace: Bool { rawValue >= 3 }
}

/// The class of every scalar: pages of 256, equal pages stored once (about 50 KB).
struct ScalarClassTable: Sendable {
  static let shared = ScalarClassTable()

  private var pageOffsets: [UInt32] = []
  private var classes: [UInt8] = []

  private init() {
    var all = [UInt8](repeating: ScalarClass.other.rawValue, count: 0x110000)
    Self.mark(ScalarRanges.letters, as: .letter, in: &all)
    Self.mark(ScalarRanges.numbers, as: .number, in: &all)
    Self.mark(Self.spaces, as: .space, in: &all)
    Self.mark([0x0A, 0x0A, 0x0D, 0x0D], as: .newline, in: &all)
    var known: [[UInt8]: UInt32] = [:]
    for start in stride(from: 0, to: all.count, by: 256) {
      let page = Array(all[start..<start + 256])
      if let offset = known[page] {
        pageOffsets.append(offset)
      } else {
        let offset = UInt32(classes.count)
        known[page] = offset
        pageOffsets.append(offset)
        classes += page
      }
    }
  }

  /// White_Space of Unicode; U+180E and U+200B are not in it.
  private static let spaces: [UInt32] = [
    0x09, 0x0D, 0x20, 0x20, 0x85, 0x85, 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A,
    0x2028, 0x2029, 0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000,
  ]

  private static func mark(_ ranges: [UInt32], as kind: ScalarClass, in all: inout [UInt8]) {
    for index in stride(from: 0, to: ranges.count, by: 2) {
      for value in ranges[index]...ranges[index + 1] { all[Int(value)] = kind.rawValue }
    }
  }

  /// The class of a scalar value below 0x110000.
  @inline(__always)
  func kind(of value: UInt32) -> ScalarClass {
    let offset = pageOffsets[Int(value >> 8)]
    return ScalarClass(rawValue: classes[Int(offset) + Int(value & 255)]) ?? .other
  }
}
