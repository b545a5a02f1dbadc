import Foundation
import TensorCore

/// The parser's message about a command line that it does not understand, made more helpful.
struct UsageMessage {
  var arguments: [String]
  var commands: CommandNames

  /// The message with the reason that fits the command line.
  func improved(_ message: String) -> String {
    if let (word, parents) = commands.unknownWord(in: arguments) {
      return unknownCommand(word, below: parents)
    }
    var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for index in lines.indices { lines[index] = withoutFarFetchedSuggestion(lines[index]) }
    if let hint = lines.first.flatMap({ LlamaCppFormat.hint(forParserMessage: $0) }) {
      lines[0] = lines[0].replacing("'. Please provide", with: "'; \(hint). Please provide")
    }
    return lines.joined(separator: "\n")
  }

  private func unknownCommand(_ typed: String, below parents: [CommandNames]) -> String {
    let word = MessageText.line(typed)
    let path = parents.map(\.name).joined(separator: " ")
    let parent = parents.last ?? commands
    let reason: String
    if word.hasPrefix("-") {
      let example = parents.count == 1 ? "run" : parent.subcommands.first?.name ?? ""
      reason = "A command comes before '\(word)', such as '\(path) \(example)'."
    } else if let name = parent.suggestion(for: typed) {
      reason = "Unknown command '\(word)'. Did you mean '\(name)'?"
    } else if parents.count == 1, FileManager.default.fileExists(atPath: typed) {
      reason = "'\(word)' is a file, not a command. To measure it: '\(path) run \(word)'."
    } else {
      let names = parent.subcommands.map(\.name).joined(separator: ", ")
      reason = "Unknown command '\(word)'. The commands are: \(names)."
    }
    return """
      Error: \(reason)
      Usage: \(path) <subcommand>
        See '\(path) --help' for more information.
      """
  }

  /// The line as it is where the suggested option is near, else without the suggestion.
  private func withoutFarFetchedSuggestion(_ line: String) -> String {
    let pattern = /Unknown option '-+([^']*)'(\. Did you mean '-+([^']*)'\?)/
    guard let match = line.firstMatch(of: pattern),
      !EditDistance.isSlip(String(match.1), String(match.3))
    else { return line }
    return line.replacingCharacters(in: match.2.startIndex..<match.2.endIndex, with: ".")
  }
}
