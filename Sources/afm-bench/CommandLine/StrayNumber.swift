import BenchCore
import Foundation

/// A number where a model was expected: the rest of a list that was written with blanks.
enum StrayNumber {
  /// What is wrong with the first of `models` that is a number and no file; nil where there is none.
  static func reason(in models: [String], arguments: [String]) -> String? {
    guard
      let stray = models.first(where: {
        isNumber($0) && !FileManager.default.fileExists(atPath: $0)
      }), let place = arguments.firstIndex(of: stray)
    else { return nil }
    let before = arguments[..<place].reversed().prefix(while: isNumber).reversed()
    let after = arguments[place...].prefix(while: isNumber)
    let option = arguments[..<(place - before.count)].last ?? ""
    guard option.hasPrefix("-") else {
      return "'\(stray)' is neither a model nor an option's value"
    }
    guard !before.isEmpty else {
      return "\(option) takes no value: '\(stray)' is neither a model nor an option's value"
    }
    let written = (before + after).joined(separator: " ")
    let list = (before + after).flatMap(CommaList.items).filter { !$0.isEmpty }
    return "\(option) \(written): lists are written \(list.joined(separator: ","))"
  }

  /// Whether a text is a number, a range, or a list of them that a comma may end.
  private static func isNumber(_ text: String) -> Bool {
    let items = CommaList.items(text).filter { !$0.isEmpty }
    return !items.isEmpty
      && (try? NumberList.parse(items.joined(separator: ","), option: "")) != nil
  }
}
