/// A Markdown table whose columns also line up as plain text.
///
///     | test  |    t/s |
///     | ----- | -----: |
///     | pp512 | 702.10 |
package struct TextTable {
  /// A column's heading and side.
  package struct Column {
    var title: String
    var alignment: Alignment

    package init(_ title: String, _ alignment: Alignment = .right) {
      self.title = title
      self.alignment = alignment
    }
  }

  package enum Alignment: Sendable {
    case left, right
  }

  let columns: [Column]
  private(set) var rows: [[String]] = []

  package init(_ columns: [Column]) { self.columns = columns }

  package mutating func append(_ cells: [String]) {
    precondition(cells.count == columns.count, "a cell for every column")
    rows.append(cells.map(Self.escaped))
  }

  /// The table's lines, each with a line end.
  package var text: String { text(around: " ") }

  /// The same without blanks beside the bars where it would be wider than that otherwise.
  package func text(within width: Int) -> String {
    let total = widths.reduce(1) { $0 + $1 + 3 }
    return text(around: total <= width ? " " : "")
  }

  private func text(around space: String) -> String {
    let widths = widths
    let rule = columns.indices.map { column in
      switch columns[column].alignment {
      case .left: String(repeating: "-", count: widths[column])
      case .right: String(repeating: "-", count: widths[column] - 1) + ":"
      }
    }
    let lines = [titles, rule] + rows
    return lines.map { line(of: $0, widths: widths, around: space) }.joined()
  }

  private var titles: [String] { columns.map { Self.escaped($0.title) } }

  private var widths: [Int] {
    columns.indices.map { column in
      max(3, ([titles] + rows).map { DisplayWidth.of($0[column]) }.max() ?? 0)
    }
  }

  private func line(of cells: [String], widths: [Int], around space: String) -> String {
    let padded = cells.indices.map { column in
      let fill = String(repeating: " ", count: widths[column] - DisplayWidth.of(cells[column]))
      return columns[column].alignment == .left ? cells[column] + fill : fill + cells[column]
    }
    return "|" + padded.map { space + $0 + space }.joined(separator: "|") + "|\n"
  }

  /// A bar would end the cell and a line end the row.
  private static func escaped(_ text: String) -> String {
    // Scalars: a mark that combines with a bar would hide it among characters.
    var result = ""
    for scalar in oneLine(text).unicodeScalars {
      if scalar == "|" { result += "\\" }
      result.unicodeScalars.append(scalar)
    }
    return result
  }

  /// The text with spaces for control characters. Scalar by scalar, since CRLF is one character.
  static func oneLine(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\0"..."\u{1F}", "\u{7F}", "\u{85}", "\u{2028}", "\u{2029}": result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// How many columns of a terminal a text takes.
enum DisplayWidth {
  static func of(_ text: String) -> Int { text.reduce(0) { $0 + of($1) } }

  /// A character is as wide as its widest scalar: marks that combine take no place of their own.
  private static func of(_ character: Character) -> Int {
    character.unicodeScalars.map(of).max() ?? 0
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    switch scalar.value {
    // The blocks of Unicode's East_Asian_Width W and F (UAX #11): Hangul, CJK, kana, full forms.
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}
