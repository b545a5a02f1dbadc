import Foundation
import TestSupport
import Testing

/// The help of every command, as a terminal of 80 columns shows it.
@Suite struct HelpTests {
  /// A command as the parser describes it.
  struct Command: CustomTestStringConvertible, Sendable {
    /// The words that name it, without the program's.
    var words: [String]
    var discussion: String
    var arguments: [Argument]
    var testDescription: String { (["afm-bench"] + words).joined(separator: " ") }

    /// Its examples, each a command line.
    var examples: [String] {
      discussion.split(separator: "\n").filter { $0.hasPrefix("Example: ") }
        .map { String($0.dropFirst("Example: ".count)) }
    }
  }

  struct Argument: Sendable {
    var isOption: Bool
    var names: [String]
    var valueName: String
    var abstract: String
    var discussion: String
    var values: [String]
    var defaultValue: String?
  }

  struct Failure: Error, CustomStringConvertible { var description: String }

  /// The whole tree, read once.
  static let commands: [Command] = {
    guard let dump = try? Program.run(["--experimental-dump-help"]).json() as? [String: Any],
      let root = dump["command"] as? [String: Any]
    else { return [] }
    return tree(root, words: [])
  }()

  private static func tree(_ fields: [String: Any], words: [String]) -> [Command] {
    let arguments = (fields["arguments"] as? [[String: Any]] ?? []).map { argument in
      let names = argument["names"] as? [[String: Any]] ?? []
      return Argument(
        isOption: argument["kind"] as? String == "option",
        names: names.compactMap { $0["name"] as? String },
        valueName: argument["valueName"] as? String ?? "",
        abstract: argument["abstract"] as? String ?? "",
        discussion: argument["discussion"] as? String ?? "",
        values: argument["allValues"] as? [String] ?? [],
        defaultValue: argument["defaultValue"] as? String)
    }
    let command = Command(
      words: words, discussion: fields["discussion"] as? String ?? "", arguments: arguments)
    let subcommands = fields["subcommands"] as? [[String: Any]] ?? []
    return [command]
      + subcommands.filter { $0["commandName"] as? String != "help" }.flatMap {
        tree($0, words: words + [$0["commandName"] as? String ?? ""])
      }
  }

  @Test func theTreeIsThere() {
    #expect(Self.commands.count > 20)
    for name in ["run", "pack", "generate", "trace", "inspect"] {
      #expect(Self.commands.contains { $0.words == [name] })
    }
  }

  @Test(arguments: commands)
  func linesFitATerminal(command: Command) throws {
    for columns in [80, 112] {
      let result = try Program.run(
        command.words + ["--help"], environment: ["COLUMNS": "\(columns)"])
      #expect(result.status == 0)
      for line in result.outputText.split(separator: "\n") {
        #expect(line.count <= columns, "\(columns) columns: \(line)")
      }
    }
  }

  /// A line that ends where the source's did, and not where the terminal's does, leaves ragged edges.
  @Test(arguments: commands)
  func paragraphsAreNotWrappedByHand(command: Command) {
    for paragraph in command.discussion.components(separatedBy: "\n\n") {
      let lines = paragraph.split(separator: "\n")
      #expect(
        lines.count == 1 || lines.allSatisfy { $0.hasPrefix("Example: ") },
        "\(command.testDescription): \(paragraph)")
    }
    for argument in command.arguments {
      #expect(!argument.abstract.contains("\n"), "\(argument.names)")
      #expect(!argument.discussion.contains("\n"), "\(argument.names)")
    }
  }

  @Test(arguments: commands)
  func everyCommandHasAnExample(command: Command) throws {
    #expect(!command.examples.isEmpty)
    let help = try Program.run(command.words + ["--help"]).outputText
    for example in command.examples {
      // An example that is wrapped cannot be copied.
      #expect(help.contains("Example: \(example)\n"), "\(example)")
      #expect(example.contains("afm-bench \(command.words.joined(separator: " "))"), "\(example)")
    }
  }

  /// The parser understands each example up to an option that there is not.
  @Test(arguments: commands)
  func examplesAreUnderstood(command: Command) throws {
    for example in command.examples {
      let line = example.replacingOccurrences(of: "afm-bench", with: "\"$AFM\"")
      let result = try Program.shell("\(line) --no-such-option")
      #expect(result.status == 2, "\(result)")
      #expect(result.error.contains("Unknown option '--no-such-option'"), "\(result)")
    }
  }

  @Test(arguments: commands)
  func defaultsAndValuesHaveNames(command: Command) {
    for argument in command.arguments {
      if let value = argument.defaultValue, !argument.values.isEmpty {
        #expect(argument.values.contains(value), "\(argument.names): \(value)")
      }
      if argument.isOption {
        // `-p <p>` says nothing.
        let letters = argument.names.filter { $0.count <= 3 }
        #expect(!letters.contains(argument.valueName), "\(argument.names)")
      }
    }
  }

  @Test func levelsAreAllOfThem() throws {
    let known = try Program.run(["kernels", "--isa", "bogus"])
    let levels = ["portable", "avx2", "avx2vnni", "avx512vnni"]
    for level in levels { #expect(known.error.contains(level), "\(known)") }
    let withLevel = Self.commands.filter { $0.arguments.contains { $0.names.contains("isa") } }
    #expect(withLevel.count >= 5)
    for command in withLevel {
      let option = try #require(command.arguments.first { $0.names.contains("isa") })
      for level in levels { #expect(option.abstract.contains(level), "\(command.testDescription)") }
    }
  }

  @Test func reasoningBudgetsAreThoseOfTheLevels() throws {
    let run = try #require(Self.commands.first { $0.words == ["run"] })
    let option = try #require(run.arguments.first { $0.names.contains("reasoning-budget") })
    let samples = try Samples.shared.get()
    let line = "run @tiny.afmw -n 1 -r 1 --tier private-cloud --reasoning light,moderate --json"
    let result = try Program.run(samples.arguments(line))
    let rows = try #require(try result.json() as? [[String: Any]])
    #expect(rows.count == 2)
    for row in rows {
      let level = try #require(row["reasoning"] as? String)
      let budget = try #require(row["reasoning_budget"] as? Int)
      #expect(option.abstract.contains("\(level)=\(budget)"), "\(option.abstract)")
    }
  }

  @Test func commandsAreGrouped() throws {
    let help = try Program.run(["--help"]).outputText
    for title in ["MEASURE", "MODELS", "TEXT", "READ"] {
      #expect(help.contains("\n\(title) SUBCOMMANDS:\n"), "\(help)")
    }
  }

  @Test(arguments: [
    ("rum model.afmw", "run"), ("benchmark", "run"), ("bench a b", "run"), ("Run x", "run"),
    ("quantize a b", "pack"), ("perplexity", "score"), ("insepct x", "inspect"),
    ("gen", "generate"), ("kernel", "kernels"), ("trace exprot", "export"),
    ("cache replya", "replay"), ("astc encod", "encode"),
  ])
  func aMistypedCommandIsRecognised(line: String, name: String) throws {
    let result = try Program.run(line.split(separator: " ").map(String.init))
    #expect(result.status == 2)
    #expect(result.errorLines.first?.hasSuffix("Did you mean '\(name)'?") == true, "\(result)")
  }

  @Test func aWordFarFromAnyCommandIsMetWithTheList() throws {
    for word in ["nonsense", "xy", "q"] {
      let result = try Program.run([word])
      #expect(result.status == 2)
      #expect(result.errorLines.first?.contains("The commands are: run, ") == true, "\(result)")
    }
    let samples = try Samples.shared.get()
    let file = try Program.run([samples.packed])
    #expect(file.error.contains("afm-bench run \(samples.packed)"), "\(file)")
    let option = try Program.run(["-m", samples.packed])
    #expect(option.error.contains("A command comes before '-m'"), "\(option)")
  }

  @Test func aSuggestionIsNear() throws {
    let samples = try Samples.shared.get()
    let near = try Program.run(["pack", samples.gguf, "o", "--weight", "s8c"])
    #expect(near.error.contains("Did you mean '--weights'?"), "\(near)")
    for option in ["-fx", "-zz", "--abc"] {
      let far = try Program.run(["run", samples.packed, option, "1"])
      #expect(far.status == 2)
      #expect(!far.error.contains("Did you mean"), "\(far)")
    }
  }
}
