/// The columns of a run's table, and how wide each is in that many columns of a terminal.
struct RunTableLayout {
  enum Column: CaseIterable {
    case tier, test, reasoning, prefill, decode, interval, ttft, ttfo, cacheMemory, bandwidth,
      verdict
  }

  /// The columns that a narrow terminal does without, the first one first. TTFO says what TTFT does
  /// where nothing is thought, and more where something is.
  private static let dispensable: [Column] = [
    .bandwidth, .cacheMemory, .interval, .ttft, .tier, .ttfo, .prefill, .reasoning,
  ]

  /// The least room for a test's label before a column is left out for it, and the most it takes.
  private static let labelWidths = 12...32

  private(set) var columns: [Column]
  private(set) var missing: [Column] = []
  private var widths: [Column: Int] = [:]
  /// Whether there is room for a blank at both sides of a cell.
  private let isRoomy: Bool

  init(width: Int, tierWidth: Int, testWidth: Int) {
    columns = Column.allCases
    for column in Column.allCases { widths[column] = column.leastWidth }
    widths[.tier] = max(Column.tier.leastWidth, tierWidth)
    let wanted = min(max(Column.test.leastWidth, testWidth), Self.labelWidths.upperBound)
    let least = min(wanted, Self.labelWidths.lowerBound)
    var dispensable = Self.dispensable[...]
    // The room that is left for a test's label, beside the other columns and a bar before each.
    func room(_ columns: [Column], _ widths: [Column: Int], around: Int) -> Int {
      width - 1
        - columns.reduce(0) { $0 + 1 + around + ($1 == .test ? 0 : widths[$1] ?? 0) }
    }
    while room(columns, widths, around: 0) < least, let column = dispensable.popFirst() {
      columns.removeAll { $0 == column }
      missing.append(column)
    }
    isRoomy = room(columns, widths, around: 2) >= wanted
    let left = room(columns, widths, around: isRoomy ? 2 : 0)
    widths[.test] = max(Column.test.leastWidth, min(wanted, left))
  }

  func width(of column: Column) -> Int { widths[column] ?? 0 }

  /// The titles and the rule below them, each with a line end.
  var heading: String {
    line(\.title)
      + "|"
      + columns.map { column in
        let rule = String(repeating: "-", count: width(of: column) + (isRoomy ? 1 : -1))
        return (column.isText ? rule + "-" : rule + ":") + "|"
      }.joined() + "\n"
  }

  /// A line of the table; what is too wide for its column is cut.
  func line(_ cell: (Column) -> String) -> String {
    let space = isRoomy ? " " : ""
    return "|"
      + columns.map { column in
        // A bar would end the cell, and its escape could be cut in two.
        let value = String(cell(column).map { $0 == "|" ? "¦" : $0 })
        let text = FittedText.cut(value, to: width(of: column))
        let fill = String(repeating: " ", count: width(of: column) - DisplayWidth.of(text))
        return space + (column.isText ? text + fill : fill + text) + space + "|"
      }.joined() + "\n"
  }
}

extension RunTableLayout.Column {
  var title: String {
    switch self {
    case .tier: "tier"
    case .test: "test"
    case .reasoning: "reasoning"
    case .prefill: "prefill t/s"
    case .decode: "decode t/s"
    case .interval: "95 %"
    case .ttft: "TTFT ms"
    case .ttfo: "TTFO ms"
    case .cacheMemory: "KV MiB"
    case .bandwidth: "MBU"
    case .verdict: "verdict"
    }
  }

  var isText: Bool {
    switch self {
    case .tier, .test, .reasoning, .verdict: true
    default: false
    }
  }

  /// The title's width, or that of the widest value where that is known.
  fileprivate var leastWidth: Int {
    switch self {
    case .interval: 11
    case .bandwidth: 5
    // "invalid a", "noisy abc".
    case .verdict: 9
    default: title.count
    }
  }
}
