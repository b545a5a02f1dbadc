import ArgumentParser
import EngineInterface
import Engines
import KVCache

/// The options of every command that runs a model.
struct ModelOptions: ParsableArguments {
  @Option(help: "The model: .afmw, or .gguf or safetensors (then run in float32).")
  var model: String

  @Option(help: "A low-rank adapter's file: the model runs with it.")
  var adapter: String?

  @Option(name: [.customShort("t"), .long], help: "Threads; by default one a core.")
  var threads: Int?

  @OptionGroup var setup: EngineSetup

  @Option(
    name: [.customLong("ctk", withSingleDash: true), .customLong("cache-type-k")],
    help: "How the cache stores keys: f32, f16, s8, s8static or u4g32.")
  var keyElement = "f32"

  @Option(
    name: [.customLong("ctv", withSingleDash: true), .customLong("cache-type-v")],
    help: "How the cache stores values: f32, f16, s8, s8static or u4g32.")
  var valueElement = "f32"

  /// What a cache can hold.
  static let elements = CacheElement.allCases.map(\.rawValue)

  func validate() throws {
    if let threads { try Limits.check(threads, upTo: Limits.threads, option: "-t") }
    for (option, name) in [("-ctk", keyElement), ("-ctv", valueElement)]
    where CacheElement(commandLineName: name) == nil {
      throw ValidationError("\(option) '\(name)': known: \(Self.elements.joined(separator: ", ")).")
    }
  }

  var engineOptions: EngineOptions { setup.options(threads: threads) }

  func openEngine() throws -> any Engine {
    try EngineLoader.load(model, options: engineOptions)
  }

  /// A session that holds `positions`, or as many as the model was trained for.
  func session(
    of engine: any Engine, positions: Int? = nil, sharesPrefixes: Bool = false
  ) throws -> any Session {
    let trained = engine.facts.trainedContextLength
    let session = try engine.makeSession(
      SessionOptions(
        contextLimit: min(positions ?? trained, trained), keyElement: keyElement,
        valueElement: valueElement, sharesPrefixes: sharesPrefixes))
    if let adapter { try session.use(try engine.loadAdapter(adapter)) }
    return session
  }
}

/// How an engine is set up, its threads apart, of which `run` takes a list.
struct EngineSetup: ParsableArguments {
  @Flag(help: "Threads sleep rather than spin: for a machine that others use too.")
  var polite = false

  @Flag(
    help: ArgumentHelp(
      "Weights stored with --layout kernel are used in the page cache.",
      discussion: "Loads sooner and shares them with other processes, but runs only as fast as the "
        + "pieces are large that the page cache holds the file in. Else they are copied to huge "
        + "pages."))
  var mmap = false

  @Option(help: "Forces portable, avx2, avx2vnni or avx512vnni. AFM_ISA does the same.")
  var isa: String?

  func options(threads: Int?) -> EngineOptions {
    EngineOptions(
      threads: threads, instructionSet: isa, waiting: polite ? .polite : .spinning,
      mapsWeights: mmap)
  }
}
