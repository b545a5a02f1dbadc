import ArgumentParser
import Engines
import Foundation

struct TokenizeCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "tokenize",
    abstract: "Token ids of the text on standard input, or the way back.",
    usage: "afm-bench tokenize [<options>] <file>",
    discussion: """
      Prints {"ids":[…]}. No token is added; special tokens written in the text are recognised. \
      Bytes that are not UTF-8 count as U+FFFD. The model's weights are not read.

      Example: printf 'Hello there' | afm-bench tokenize model.afmw
      Example: echo '[19556, 665]' | afm-bench tokenize model.afmw --decode
      """)

  @OptionGroup var model: ModelArgument

  @Flag(name: .customLong("no-special"), help: "Takes special tokens in the text as plain text.")
  var ignoresSpecialTokens = false

  @Flag(help: "Reads a JSON array of ids (or {\"ids\":[…]}) and prints the text.")
  var decode = false

  @Flag(help: "Prints JSON: {\"ids\":[…]}, or {\"text\":…} with --decode.")
  var json = false

  struct Ids: Codable { var ids: [Int32] }
  struct Text: Codable { var text: String }

  var files: CommandFiles { [.model(model.path, "the model"), .standardInput] }

  func run() throws {
    let codec = try ModelText.open(model.path)
    let input = try StandardInput.read(.text)
    guard decode else {
      let ids = try codec.encode(input, recognizingSpecialTokens: !ignoresSpecialTokens)
      try Console.report(Console.json(Ids(ids: ids)))
      return
    }
    let ids = try TokenIds.parse(input, source: "standard input")
    let bytes = try codec.decodeBytes(ids)
    if json {
      try Console.report(Console.json(Text(text: String(decoding: bytes, as: UTF8.self))))
    } else {
      try StandardOutput.write(bytes)
    }
  }
}
