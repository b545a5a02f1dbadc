/// A piece of a template's source.
enum TemplateToken: Equatable {
  case text(String)
  case statementBegin
  case statementEnd
  case outputBegin
  case outputEnd
  case name(String)
  case string(String)
  case integer(Int)
  case real(Double)
  /// An operator or a bracket.
  case symbol(String)
  case end
}

/// Cuts a template into tokens, with Jinja's whitespace control.
///
/// As chat templates expect: the first line break after a statement or comment is dropped, and so
/// is the indentation before one; a `-` inside a tag strips all white space on its side, and a `+`
/// turns the two rules off.
struct TemplateLexer {
  /// Far above any real template; what parsing costs is proportional to the tokens.
  static let maximumTokenCount = 1 << 16
  static let maximumNameBytes = 128

  private let source: [UInt8]
  private var offset = 0
  private var line = 1
  /// Whether the text begins at the beginning of a line.
  private var startsLine = true
  private var tokens: [(token: TemplateToken, line: Int)] = []

  private init(_ text: String) {
    // Line breaks become \n, and one at the very end is not part of the template.
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte == 0x0A, bytes.last == 0x0D { bytes.removeLast() }
      bytes.append(byte)
    }
    source = (bytes.last == 0x0A ? bytes.dropLast() : bytes[...]).map { $0 == 0x0D ? 0x0A : $0 }
  }

  static func tokens(
    of text: String
  ) throws(ChatTemplateError) -> [(token: TemplateToken, line: Int)] {
    var lexer = TemplateLexer(text)
    try lexer.scan()
    return lexer.tokens
  }

  private mutating func scan() throws(ChatTemplateError) {
    while offset < source.count {
      guard let tag = nextTag() else {
        emitText(source[offset...])
        break
      }
      let text = source[offset..<tag]
      let kind = source[tag + 1]
      let sign = tag + 2 < source.count ? source[tag + 2] : 0
      let tagLine = line + text.count { $0 == 0x0A }
      emitText(stripped(text, before: kind, sign: sign))
      line = tagLine
      offset = tag + 2
      if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { offset += 1 }
      switch kind {
      case UInt8(ascii: "#"): try skipComment()
      case UInt8(ascii: "%"):
        if try !scanRaw() { try scanTag(begin: .statementBegin, end: .statementEnd, mark: kind) }
      default:
        try scanTag(begin: .outputBegin, end: .outputEnd, mark: UInt8(ascii: "}"))
      }
    }
    tokens.append((.end, line))
  }

  /// The offset of the next `{{`, `{%` or `{#`.
  private func nextTag() -> Int? {
    var index = offset
    while index + 1 < source.count {
      if source[index] == UInt8(ascii: "{") {
        switch source[index + 1] {
        case UInt8(ascii: "{"), UInt8(ascii: "%"), UInt8(ascii: "#"): return index
        default: break
        }
      }
      index += 1
    }
    return nil
  }

  private mutating func emitText(_ text: ArraySlice<UInt8>) {
    if !text.isEmpty { tokens.append((.text(String(decoding: text, as: UTF8.self)), line)) }
  }

  private func stripped(
    _ text: ArraySlice<UInt8>, before kind: UInt8, sign: UInt8
  ) -> ArraySlice<UInt8> {
    var end = text.endIndex
    while end > text.startIndex, Self.isSpace(source[end - 1]) {
      let isLineBreak = source[end - 1] == 0x0A
      if isLineBreak, sign != UInt8(ascii: "-") { break }
      end -= 1
    }
    if sign == UInt8(ascii: "-") { return text[..<end] }
    if sign == UInt8(ascii: "+") || kind == UInt8(ascii: "{") { return text }
    let beginsLine = end > text.startIndex || startsLine
    let onlyIndentation = end == text.startIndex || source[end - 1] == 0x0A
    return beginsLine && onlyIndentation ? text[..<end] : text
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  private mutating func skipSpace() {
    while offset < source.count, Self.isSpace(source[offset]) {
      if source[offset] == 0x0A { line += 1 }
      offset += 1
    }
  }

  /// Reads `%}`, `-%}` or `+%}` (or the like) if it stands here, with the white space it strips.
  private mutating func closeTag(mark: UInt8) -> Bool {
    guard offset < source.count else { return false }
    let sign = source[offset]
    let isSigned =
      sign == UInt8(ascii: "-") || (sign == UInt8(ascii: "+") && mark != UInt8(ascii: "}"))
    let start = isSigned ? offset + 1 : offset
    guard start + 1 < source.count, source[start] == mark, source[start + 1] == UInt8(ascii: "}")
    else { return false }
    offset = start + 2
    startsLine = false
    if isSigned, sign == UInt8(ascii: "-") {
      skipSpace()
      startsLine = source[offset - 1] == 0x0A
    } else if !isSigned, mark != UInt8(ascii: "}"), offset < source.count, source[offset] == 0x0A {
      offset += 1
      line += 1
      startsLine = true
    }
    return true
  }

  private mutating func skipComment() throws(ChatTemplateError) {
    let start = line
    while offset < source.count {
      if closeTag(mark: UInt8(ascii: "#")) { return }
      if source[offset] == 0x0A { line += 1 }
      offset += 1
    }
    throw ChatTemplateError(.syntax, line: start, "the comment is not closed")
  }

  /// Reads `raw %} … {% endraw %}` after a `{%`; false where something else stands there.
  private mutating func scanRaw() throws(ChatTemplateError) -> Bool {
    let start = (offset, line)
    skipSpace()
    guard readWord("raw") else {
      (offset, line) = start
      return false
    }
    skipSpace()
    guard closeTag(mark: UInt8(ascii: "%")) else {
      (offset, line) = start
      return false
    }
    let textStart = offset
    let textLine = line
    while let tag = nextTag() {
      let sign = tag + 2 < source.count ? source[tag + 2] : 0
      offset = tag + 2
      if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { offset += 1 }
      skipSpace()
      if source[tag + 1] == UInt8(ascii: "%"), readWord("endraw") {
        skipSpace()
        if closeTag(mark: UInt8(ascii: "%")) {
          line = textLine
          emitText(stripped(source[textStart..<tag], before: UInt8(ascii: "%"), sign: sign))
          line += source[textStart..<offset].count { $0 == 0x0A }
          return true
        }
      }
      offset = tag + 1
    }
    throw ChatTemplateError(.syntax, line: start.1, "the raw block is not closed")
  }

  private mutating func readWord(_ word: String) -> Bool {
    let bytes = Array(word.utf8)
    guard source[offset...].starts(with: bytes) else { return false }
    let end = offset + bytes.count
    if end < source.count, Self.isNamePart(source[end]) { return false }
    offset = end
    return true
  }
}

// MARK: - Inside tags

extension TemplateLexer {
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    isDigit(byte) || byte == UInt8(ascii: "_") || (0x41...0x5A).contains(byte)
      || (0x61...0x7A).contains(byte) || byte >= 0x80
  }

  private mutating func scanTag(
    begin: TemplateToken, end: TemplateToken, mark: UInt8
  ) throws(ChatTemplateError) {
    let start = line
    tokens.append((begin, line))
    var brackets: [UInt8] = []
    while true {
      guard tokens.count < Self.maximumTokenCount else {
        throw ChatTemplateError(
          .limit, line: line, "the template has more than \(Self.maximumTokenCount) tokens")
      }
      // White space in front of a closing tag is inside it, so it is skipped first.
      skipSpace()
      let closingLine = line
      if brackets.isEmpty, closeTag(mark: mark) {
        tokens.append((end, closingLine))
        return
      }
      guard offset < source.count else {
        throw ChatTemplateError(.syntax, line: start, "the tag is not closed")
      }
      let byte = source[offset]
      if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
        try scanString(quote: byte)
      } else if Self.isDigit(byte) {
        try scanNumber()
      } else if Self.isNamePart(byte) {
        let first = offset
        while offset < source.count, Self.isNamePart(source[offset]) { offset += 1 }
        guard offset - first <= Self.maximumNameBytes else {
          throw ChatTemplateError(
            .limit, line: line, "a name has more than \(Self.maximumNameBytes) bytes")
        }
        tokens.append((.name(String(decoding: source[first..<offset], as: UTF8.self)), line))
      } else {
        try scanSymbol(&brackets)
      }
    }
  }

  private mutating func scanSymbol(_ brackets: inout [UInt8]) throws(ChatTemplateError) {
    let byte = source[offset]
    let pair = String(decoding: source[offset..<min(offset + 2, source.count)], as: UTF8.self)
    if ["==", "!=", "<=", ">=", "//", "**"].contains(pair) {
      tokens.append((.symbol(pair), line))
      offset += 2
      return
    }
    switch byte {
    case UInt8(ascii: "("): brackets.append(UInt8(ascii: ")"))
    case UInt8(ascii: "["): brackets.append(UInt8(ascii: "]"))
    case UInt8(ascii: "{"): brackets.append(UInt8(ascii: "}"))
    case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
      guard brackets.popLast() == byte else {
        throw ChatTemplateError(.syntax, line: line, "a bracket closes what is not open")
      }
    case _ where "+-*/%~<>=.,:|".utf8.contains(byte): break
    default:
      let scalar = String(decoding: [byte], as: UTF8.self).debugDescription
      throw ChatTemplateError(.syntax, line: line, "unexpected character \(scalar)")
    }
    tokens.append((.symbol(String(decoding: [byte], as: UTF8.self)), line))
    offset += 1
  }

  private mutating func scanNumber() throws(ChatTemplateError) {
    let first = offset
    func digits() {
      while offset < source.count, Self.isDigit(source[offset]) || source[offset] == 0x5F {
        offset += 1
      }
    }
    digits()
    var isReal = false
    if offset + 1 < source.count, source[offset] == UInt8(ascii: "."),
      Self.isDigit(source[offset + 1])
    {
      isReal = true
      offset += 1
      digits()
    }
    if offset < source.count, source[offset] | 0x20 == UInt8(ascii: "e") {
      var next = offset + 1
      if next < source.count, source[next] == 0x2B || source[next] == 0x2D { next += 1 }
      if next < source.count, Self.isDigit(source[next]) {
        isReal = true
        offset = next
        digits()
      }
    }
    let text = String(decoding: source[first..<offset].filter { $0 != 0x5F }, as: UTF8.self)
    if isReal, let value = Double(text) {
      tokens.append((.real(value), line))
    } else if let value = Int(text) {
      tokens.append((.integer(value), line))
    } else {
      throw ChatTemplateError(.syntax, line: line, "the number \(text) is too large")
    }
  }

  private mutating func scanString(quote: UInt8) throws(ChatTemplateError) {
    let start = line
    var bytes: [UInt8] = []
    offset += 1
    while offset < source.count {
      let byte = source[offset]
      offset += 1
      if byte == quote {
        tokens.append((.string(String(decoding: bytes, as: UTF8.self)), start))
        return
      }
      if byte == UInt8(ascii: "\\"), offset < source.count {
        try scanEscape(into: &bytes)
      } else {
        if byte == 0x0A { line += 1 }
        bytes.append(byte)
      }
    }
    throw ChatTemplateError(.syntax, line: start, "the string is not closed")
  }

  /// Reads what follows a backslash; an escape that is none keeps its backslash, as in Python.
  private mutating func scanEscape(into bytes: inout [UInt8]) throws(ChatTemplateError) {
    let byte = source[offset]
    offset += 1
    switch byte {
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "v"): bytes.append(0x0B)
    case UInt8(ascii: "a"): bytes.append(0x07)
    case UInt8(ascii: "0"): bytes.append(0x00)
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): bytes.append(byte)
    case 0x0A: line += 1
    case UInt8(ascii: "x"): try scanScalar(digits: 2, into: &bytes)
    case UInt8(ascii: "u"): try scanScalar(digits: 4, into: &bytes)
    case UInt8(ascii: "U"): try scanScalar(digits: 8, into: &bytes)
    default: bytes += [UInt8(ascii: "\\"), byte]
    }
  }

  private mutating func scanScalar(
    digits: Int, into bytes: inout [UInt8]
  ) throws(ChatTemplateError) {
    let text = String(decoding: source[offset...].prefix(digits), as: UTF8.self)
    guard text.utf8.count == digits, let value = UInt32(text, radix: 16),
      let scalar = Unicode.Scalar(value)
    else { throw ChatTemplateError(.syntax, line: line, "an escape names no Unicode scalar") }
    offset += digits
    bytes += Array(String(scalar).utf8)
  }
}
