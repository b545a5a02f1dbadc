/// Lists on the command line: `a,b,c`, with or without blanks around the commas.
enum CommaList {
  /// The items without the blanks around them. Empty items stay, so that parsers can refuse them.
  static func items(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { item in
      String(item.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
  }

  /// The list without blanks.
  static func normalized(_ text: String) -> String { items(text).joined(separator: ",") }

  /// The lists of a repeated option as one list; nil where the option was not given.
  static func joined(_ lists: [String]) -> String? {
    lists.isEmpty ? nil : lists.map(normalized).joined(separator: ",")
  }
}
