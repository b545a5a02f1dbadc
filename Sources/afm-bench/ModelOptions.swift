import ArgumentParser
import EngineInterface
import Engines
import KVCache
import KernelContract

/// A model and how it is run.
struct ModelOptions: ParsableArguments {
  @OptionGroup var argument: ModelArgument
  @OptionGroup var run: ModelRunOptions

  var model: String { argument.path }

  /// What a command opens for them.
  var files: CommandFiles { [.model(model, "the model")] + run.files }

  func openEngine() throws -> any Engine { try run.openEngine(model) }
}

/// How a model is run.
struct ModelRunOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A low-rank adapter's file: the model runs with it.", valueName: "file"))
  var adapter: String?

  @OptionGroup var threads: ThreadOption
  @OptionGroup var setup: EngineSetup

  @Option(
    name: [.customLong("ctk", withSingleDash: true), .customLong("cache-type-k")],
    help: ArgumentHelp(
      "How the cache stores keys: \(Self.elements.joined(separator: ", ")).",
      discussion: LlamaCppFormat.cacheNote, valueName: "format"))
  var keyElement = "f32"

  @Option(
    name: [.customLong("ctv", withSingleDash: true), .customLong("cache-type-v")],
    help: ArgumentHelp("How the cache stores values, as for keys.", valueName: "format"))
  var valueElement = "f32"

  /// What a cache can hold.
  static let elements = CacheElement.allCases.map(\.rawValue)

  func validate() throws {
    for (option, name) in [("-ctk", keyElement), ("-ctv", valueElement)]
    where CacheElement(commandLineName: name) == nil {
      throw ValidationError("\(Self.unknownElement(name, option: option)).")
    }
  }

  /// What a command opens for them.
  var files: CommandFiles { [.file(adapter, "--adapter")] }

  /// What is said of a name that no cache can have.
  static func unknownElement(_ name: String, option: String) -> String {
    "\(option) '\(name)': known: \(elements.joined(separator: ", "))"
      + (LlamaCppFormat.hint(for: name).map { "; \($0)" } ?? "")
  }

  var engineOptions: EngineOptions { setup.options(threads: threads.count) }

  func openEngine(_ model: String) throws -> any Engine {
    try EngineLoader.load(model, options: engineOptions)
  }

  /// A session that holds `positions`, or as many as the model was trained for.
  func session(
    of engine: any Engine, named model: String, positions: Int? = nil, sharesPrefixes: Bool = false
  ) throws -> any Session {
    let trained = engine.facts.trainedContextLength
    let session = try CommandFailure.naming(model) {
      try engine.makeSession(
        SessionOptions(
          contextLimit: min(positions ?? trained, trained), keyElement: keyElement,
          valueElement: valueElement, sharesPrefixes: sharesPrefixes))
    }
    if let adapter {
      try CommandFailure.naming(adapter) { try session.use(try engine.loadAdapter(adapter)) }
    }
    return session
  }
}

/// How an engine is set up, except for its threads, of which `run` takes a list.
struct EngineSetup: ParsableArguments {
  @Flag(help: "Threads sleep rather than spin: for a machine that others use too.")
  var polite = false

  @Flag(
    help: ArgumentHelp(
      "Weights stored with --layout kernel are used in the page cache.",
      discussion: "Loads sooner and shares them with other processes, but runs only as fast as the "
        + "pieces are large that the page cache holds the file in. Without it they are copied to "
        + "huge pages."))
  var mmap = false

  @Option(help: InstructionSetName.help) var isa: String?

  func options(threads: Int?) -> EngineOptions {
    EngineOptions(
      threads: threads, instructionSet: isa, waiting: polite ? .polite : .spinning,
      mapsWeights: mmap)
  }
}

/// The levels of kernels on the command line.
enum InstructionSetName {
  static let help = ArgumentHelp(
    "Forces a level: \(InstructionSet.allCases.map(\.rawValue).joined(separator: ", ")).",
    discussion: "The variable AFM_ISA does the same; the option comes before it.",
    valueName: "level")
}
