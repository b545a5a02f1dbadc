/// How far two words are apart.
enum EditDistance {
  /// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
  static func between(_ first: String, _ second: String) -> Int {
    let (a, b) = (Array(first), Array(second))
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          best = min(best, beforeLast[j - 1] + 1)
        }
        row.append(best)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }

  /// Whether one word is likely to be a slip for the other: one edit for every three characters.
  static func isSlip(_ first: String, _ second: String) -> Bool {
    between(first, second) <= max(1, max(first.count, second.count) / 3)
  }
}
