/// Text that may hold what comes from outside (a name in a file, a path, an option's value), made
/// fit to be part of a message of one line.
package enum MessageText {
  /// Scalars that a part of a message shows at most.
  package static let limit = 300

  /// The text with control characters escaped (`\u{1B}`, `\n`), and its middle left out where it
  /// has more than `limit` scalars: `aaaa…zzzz`. Ends are kept, since the reason stands there.
  package static func line(_ text: String, limit: Int = MessageText.limit) -> String {
    precondition(limit >= 3, "no room for both ends")
    let scalars = text.unicodeScalars
    // Counting stops early: the text may be a whole file.
    guard scalars.index(scalars.startIndex, offsetBy: limit + 1, limitedBy: scalars.endIndex) != nil
    else { return escaped(scalars[...]) }
    let tail = limit / 3
    return escaped(scalars.prefix(limit - tail)) + "…" + escaped(scalars.suffix(tail))
  }

  /// The text with control characters escaped except those that lay out lines of our own.
  package static func lines(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      isUnsafe(scalar) && scalar != "\n" && scalar != "\t"
        ? scalar.escaped(asASCII: true) : String(scalar)
    }.joined()
  }

  /// A report with the control characters escaped that a terminal acts on, as ESC; its line ends and
  /// tabs stay. JSON has none of them, and everything else in it means what it says.
  package static func report(_ text: String) -> String {
    func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x0A && byte != 0x09 }
    guard text.utf8.contains(where: isControl) else { return text }
    return text.unicodeScalars.map { scalar in
      scalar.value < 0x20 && isControl(UInt8(scalar.value))
        ? scalar.escaped(asASCII: true) : String(scalar)
    }.joined()
  }

  private static func escaped(_ scalars: Substring.UnicodeScalarView) -> String {
    guard scalars.contains(where: isUnsafe) else { return String(Substring(scalars)) }
    return scalars.map { isUnsafe($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
  }

  /// Whether a terminal might act on a scalar instead of showing it: control characters, line and
  /// paragraph separators, and marks that turn the direction of writing.
  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
      true
    default: false
    }
  }
}
