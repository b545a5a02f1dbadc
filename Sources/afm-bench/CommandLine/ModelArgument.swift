import ArgumentParser

/// The model of a command that takes one: the first argument, or `-m`, in every command alike.
struct ModelArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("The model.", valueName: "file"))
  var positional: String?

  @Option(name: Self.optionNames, help: Self.optionHelp)
  var option: String?

  static let optionNames: NameSpecification = [.customShort("m"), .customLong("model")]
  static let optionHelp = ArgumentHelp("The model, in place of the argument.", valueName: "path")

  private var places: ArgumentPlaces {
    ArgumentPlaces(["file"], model: option, positional: [positional])
  }

  func validate() throws { try places.check() }

  var path: String { places[0] }
}

/// The arguments of a command that takes a model and other files, the model's first: what `-m` names,
/// where it was given, then the positional arguments in their order.
struct ArgumentPlaces {
  /// What the arguments are called in the help.
  private let names: [String]
  private let given: [String]

  init(_ names: [String], model: String?, positional: [String?]) {
    self.names = names
    given = [model].compactMap(\.self) + positional.compactMap(\.self)
  }

  /// Throws where an argument is missing, or one is left over.
  func check() throws {
    guard given.count >= names.count else {
      throw ValidationError("Missing expected argument '<\(names[given.count])>'")
    }
    guard given.count == names.count else {
      throw ValidationError(
        "The model is named twice: '\(given[0])' by -m, and '\(given[1])' as an argument")
    }
  }

  /// An argument, once they are checked.
  subscript(index: Int) -> String { index < given.count ? given[index] : "" }
}

/// The threads of a command that takes one number of them.
struct ThreadOption: ParsableArguments {
  @Option(
    name: [.customShort("t"), .customLong("threads")],
    help: ArgumentHelp("Threads; by default one per core.", valueName: "threads"))
  var count: Int?

  func validate() throws {
    if let count { try Limits.check(count, upTo: Limits.threads, option: "-t") }
  }
}
