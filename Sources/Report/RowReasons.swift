import BenchCore

/// What speaks against single rows, each kind of reason with a letter that the rows refer to. Rows
/// of one kind share a letter; their figures are told as a range.
struct RowReasons {
  /// Reasons that differ in their first number only.
  struct Group {
    /// The words before and after the number.
    var before: String
    var after: String
    /// The numbers, as they were written and as values.
    private(set) var numbers: [(text: String, value: Double)] = []
    /// The rows that it speaks against.
    private(set) var count = 0

    init(_ words: NumberedWords) {
      before = words.before
      after = words.after
    }

    mutating func add(_ words: NumberedWords) {
      count += 1
      if let number = words.number { numbers.append(number) }
    }

    /// The words with the lowest and the highest of the numbers.
    var text: String {
      guard let low = numbers.min(by: { $0.value < $1.value }),
        let high = numbers.max(by: { $0.value < $1.value })
      else { return before + after }
      let range = low.value < 0 ? "\(low.text) to \(high.text)" : "\(low.text)–\(high.text)"
      return before + (low.value == high.value ? low.text : range) + after
    }
  }

  private(set) var groups: [Group] = []

  /// A space and the letters of the row's own reasons, sorted; empty where it has none.
  mutating func marks(of row: RunRow) -> String {
    var marks: [String] = []
    for (reason, words) in row.findings where !reason.isOfMachine {
      marks.append(Self.letter(add(words)))
    }
    return marks.isEmpty ? "" : " " + marks.sorted().joined()
  }

  /// The group's place.
  @discardableResult
  mutating func add(_ words: String) -> Int {
    let words = NumberedWords(words)
    let index =
      groups.firstIndex { $0.before == words.before && $0.after == words.after } ?? groups.count
    if index == groups.count { groups.append(Group(words)) }
    groups[index].add(words)
    return index
  }

  /// a, b, … z, aa, ab, …
  static func letter(_ index: Int) -> String {
    let last = String(UnicodeScalar(UInt8(ascii: "a") + UInt8(index % 26)))
    return index < 26 ? last : letter(index / 26 - 1) + last
  }
}

/// A sentence around its first number.
struct NumberedWords {
  var before: String
  var number: (text: String, value: Double)?
  var after: String

  init(_ words: String) {
    let scalars = words.unicodeScalars
    func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
    // A number that stands by itself: not one in a name such as pp512.
    var index = scalars.startIndex
    var previous: Unicode.Scalar = " "
    while index < scalars.endIndex {
      let isBegin = isDigit(scalars[index]) || scalars[index] == "-"
      if previous == " ", isBegin {
        let rest = scalars[index...]
        let text = String(rest.prefix { isDigit($0) || $0 == "." || $0 == "-" })
        let end = scalars.index(index, offsetBy: text.unicodeScalars.count)
        if let value = Double(text), end == scalars.endIndex || scalars[end] == " " {
          before = String(scalars[..<index])
          number = (text, value)
          after = String(scalars[end...])
          return
        }
      }
      previous = scalars[index]
      index = scalars.index(after: index)
    }
    before = words
    after = ""
  }
}

extension RunRow {
  /// The verdict's reasons with their words.
  var findings: [(reason: VerdictReason, words: String)] {
    zip(verdictReasons, verdictWords).map { ($0, $1) }
  }
}
