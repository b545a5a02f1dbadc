import BenchCore

/// Numbers in as many columns as a narrow table has.
extension Figure {
  /// About three significant digits, in whole numbers from 100 on; thousands and millions are short
  /// (`k`, `M`) where the number would not fit otherwise.
  static func short(_ value: Double?, width: Int, decimals: Int? = nil) -> String {
    guard let value, value.isFinite else { return missing }
    let size = value.magnitude
    let digits = decimals ?? (size < 9.995 ? 2 : size < 99.95 ? 1 : 0)
    let text = DecimalText.fixed(value, digits)
    if text.count <= width { return text }
    for (unit, name) in [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")] {
      for digits in [2, 1, 0] {
        let text = DecimalText.fixed(value / unit, digits) + name
        // A unit that leaves nothing of the number is none of it.
        if text.count <= width, size / unit >= 1 || unit == 1 { return text }
      }
    }
    return String(text.prefix(width))
  }

  /// A rate: one decimal where there is room.
  static func rate(_ value: Double?, width: Int) -> String {
    guard let value else { return missing }
    return short(value, width: width, decimals: value.magnitude < 9.995 ? 2 : 1)
  }

  static func interval(_ interval: Interval?, width: Int) -> String {
    guard let interval else { return missing }
    let each = (width - 1) / 2
    return short(interval.low, width: each) + "–" + short(interval.high, width: each)
  }

  static func milliseconds(_ nanoseconds: Double?, width: Int) -> String {
    short(nanoseconds.map { $0 / 1e6 }, width: width)
  }

  static func wholePercent(_ share: Double?) -> String {
    share.map { DecimalText.fixed($0 * 100, 0) + " %" } ?? missing
  }
}

/// Texts in as many columns as there are.
package enum FittedText {
  /// The text with `…` for its middle where it is wider than that.
  package static func cut(_ text: String, to width: Int) -> String {
    let text = TextTable.oneLine(text)
    guard DisplayWidth.of(text) > width else { return text }
    guard width > 1 else { return String(repeating: "…", count: max(width, 0)) }
    // A little more of the end, where names of the same kind differ.
    let head = prefix(text, (width - 1) / 2)
    let tail = String(
      prefix(String(text.reversed()), width - 1 - DisplayWidth.of(head)).reversed())
    return head + "…" + tail
  }

  private static func prefix(_ text: String, _ width: Int) -> String {
    var result = ""
    var used = 0
    for character in text {
      used += DisplayWidth.of(String(character))
      if used > width { break }
      result.append(character)
    }
    return result
  }

  /// The text in lines of at most that width, broken at spaces; a word that is wider is cut. Lines
  /// after the first begin with `indent`.
  package static func wrapped(_ text: String, to width: Int, indent: String = "") -> String {
    var lines: [String] = []
    var line = ""
    var isEmpty = true
    for word in TextTable.oneLine(text).split(separator: " ") {
      let word = cut(String(word), to: max(1, width - indent.count))
      if !isEmpty, DisplayWidth.of(line) + 1 + DisplayWidth.of(word) > width {
        lines.append(line)
        line = indent
        isEmpty = true
      }
      line += (isEmpty ? "" : " ") + word
      isEmpty = false
    }
    lines.append(line)
    return lines.map { $0 + "\n" }.joined()
  }
}
