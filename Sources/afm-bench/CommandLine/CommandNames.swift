import ArgumentParser

/// A command and those below it, by their names.
struct CommandNames {
  var name: String
  var aliases: [String]
  var subcommands: [CommandNames]

  init(_ command: any ParsableCommand.Type) {
    let configuration = command.configuration
    name = configuration.commandName ?? ""
    aliases = configuration.aliases
    subcommands = configuration.subcommands.map { CommandNames($0) }
  }

  /// What other programs call a command.
  static let synonyms = [
    "bench": "run", "benchmark": "run", "measure": "run",
    "compress": "pack", "convert": "pack", "import": "pack", "quantise": "pack",
    "quantize": "pack",
    "cli": "generate", "complete": "generate", "completion": "generate", "prompt": "generate",
    "eval": "score", "evaluate": "score", "perplexity": "score", "ppl": "score",
    "info": "inspect", "show": "inspect",
    "check": "verify", "validate": "verify",
    "decode": "tokenize", "detokenize": "tokenize", "encode": "tokenize", "tokens": "tokenize",
    "create": "make", "new": "make",
    "perfetto": "trace", "profile": "trace", "cpu": "roof", "machine": "roof",
    "roofline": "roof",
  ]

  /// The first word of a command line that should name a command and does not, and the commands
  /// above it, this one first. Nil where every command is known.
  func unknownWord(in arguments: [String]) -> (word: String, parents: [CommandNames])? {
    var parents = [self]
    for argument in arguments {
      guard let parent = parents.last, !parent.subcommands.isEmpty else { return nil }
      guard let next = parent.subcommands.first(where: { $0.answers(to: argument) })
      else { return argument == "help" ? nil : (argument, parents) }
      parents.append(next)
    }
    return nil
  }

  private func answers(to word: String) -> Bool { name == word || aliases.contains(word) }

  /// The subcommand that a word is likely to mean.
  func suggestion(for word: String) -> String? {
    // Whoever hands over a file's text means no command.
    guard word.utf8.count <= 64 else { return nil }
    let names = subcommands.map(\.name)
    let lowercase = word.lowercased()
    if let synonym = Self.synonyms[lowercase], names.contains(synonym) { return synonym }
    let prefixed = names.filter { lowercase.count > 1 && $0.hasPrefix(lowercase) }
    if prefixed.count == 1 { return prefixed[0] }
    return names.filter { EditDistance.isSlip(lowercase, $0) }
      .min { EditDistance.between(lowercase, $0) < EditDistance.between(lowercase, $1) }
  }
}
