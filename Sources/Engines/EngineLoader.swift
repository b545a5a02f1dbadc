import EngineInterface
import Files
import KernelContract
import ModelFile
import QuantKernels
import TensorCore
import Tokenization

/// How an engine is set up.
package struct EngineOptions: Sendable {
  /// Threads of its pool, also more than there are cores; nil is one per core.
  package var threads: Int?
  /// An instruction set's name; nil leaves it to `AFM_ISA` and the machine.
  package var instructionSet: String?
  /// How its threads wait for each other.
  package var waiting: ThreadPool.Waiting
  /// Whether weights stored as the kernels read them are used in the page cache, not copied.
  package var mapsWeights: Bool

  package init(
    threads: Int? = nil, instructionSet: String? = nil, waiting: ThreadPool.Waiting = .spinning,
    mapsWeights: Bool = false
  ) {
    self.threads = threads
    self.instructionSet = instructionSet
    self.waiting = waiting
    self.mapsWeights = mapsWeights
  }
}

/// Opens model files as engines.
package enum EngineLoader {
  /// Loads a model: a packed `.afmw` in its own formats, a GGUF file or safetensors in float32.
  ///
  /// Throws `InputError` for a file that is not a model or not one of a known architecture,
  /// `SelectionError` for an instruction set that does not exist or that the machine lacks,
  /// `ThreadRefusal` where the system does not give the threads that were asked for.
  package static func load(_ path: String, options: EngineOptions = EngineOptions()) throws
    -> any Engine
  {
    let library = try KernelLibrary.named(options.instructionSet)
    let pool = ThreadPool(
      threadCount: options.threads, allowOversubscription: true, waiting: options.waiting)
    // Fewer than one a core compute the same, and the program says so; a number that was asked for
    // stands in results.
    if options.threads != nil { try pool.requireAllThreads() }
    let compute = Compute(library: library, pool: pool)
    switch try ModelPath.open(path) {
    case .container(let file):
      // Before the weights are read.
      try checkGraph(file)
      let tensors = ContainerTensors(
        file, threads: pool.threadCount, mapsWeights: options.mapsWeights)
      return try engine(
        header: file.header, tokenizer: file.tokenizer, path: path, compute: compute,
        loader: WeightLoader(
          .container(tensors), fileByteCount: file.byteCount, compute: compute))
    case .gguf(let model, let byteCount):
      return try engine(
        header: model.header, tokenizer: model.tokenizer, path: path, compute: compute,
        loader: WeightLoader(
          .floats(model, file: path), fileByteCount: byteCount, compute: compute))
    case .safetensors(let model):
      return try engine(
        header: model.header, tokenizer: model.tokenizer, path: path, compute: compute,
        loader: WeightLoader(
          .floats(model, file: path), fileByteCount: model.byteCount, compute: compute))
    }
  }

  /// Checks of a packed model all that `load` would refuse, except the bytes of its tensors.
  package static func check(_ file: AFMWFile) throws {
    try checkGraph(file)
    _ = try ModelText(file.tokenizer, file: file.path)
  }

  private static func checkGraph(_ file: AFMWFile) throws(InputError) {
    try checkArchitecture(file.header, path: file.path)
    try file.checkTensors()
  }

  /// The graphs that there are.
  private static let architectures = ["llama", "qwen2", OnDeviceTensors.architecture]

  private static func checkArchitecture(
    _ header: ModelHeader, path: String
  ) throws(InputError) {
    guard !architectures.contains(header.architecture) else { return }
    throw InputError(
      file: path, place: "architecture",
      reason: "\"\(header.architecture)\" is not one that runs here "
        + "(\(architectures.joined(separator: ", ")))")
  }

  private static func engine(
    header: ModelHeader, tokenizer: TokenizerDescription?, path: String, compute: Compute,
    loader: WeightLoader
  ) throws -> any Engine {
    try checkArchitecture(header, path: path)
    return try DecoderEngine(
      header: header, loader: loader, text: ModelText(tokenizer, file: path), compute: compute)
  }
}

/// A model file by its first bytes, not by its name; or the folder of a model.
package enum ModelPath {
  case container(AFMWFile)
  case gguf(GGUFModel, byteCount: Int)
  case safetensors(SafetensorsModel)

  /// Opens the header of any kind; tensor bytes stay untouched. Throws an error that says what the
  /// file is where it is none of them.
  package static func open(_ path: String) throws(InputError) -> ModelPath {
    switch FileKind(of: path) {
    case .gguf: return .gguf(try GGUFModel(path: path), byteCount: try byteCount(of: path))
    case .safetensors, .modelFolder: return .safetensors(try SafetensorsModel(path: path))
    // An index of several files.
    case .json where path.hasSuffix(".json"):
      return .safetensors(try SafetensorsModel(path: path))
    case .folder(let containers):
      let hint =
        containers == 0
        ? "" : "; it has \(containers) .afmw file\(containers == 1 ? ": name it" : "s: name them")"
      throw InputError(
        file: path,
        reason: "a folder has to be a Hugging Face model\(hint) (model.safetensors: cannot open: "
          + "No such file or directory)")
    // What cannot be opened, and what is damaged, is said by the reader of packed models.
    case nil, .container: return .container(try AFMWFile(opening: path))
    case .empty where path.hasSuffix(".afmw"), .unknown where path.hasSuffix(".afmw"):
      return .container(try AFMWFile(opening: path))
    case let kind?:
      throw InputError(
        file: path, offset: 0,
        reason: "neither GGUF, safetensors nor .afmw: this is \(kind.description)")
    }
  }

  /// The model to pack from; nil for a file that is packed.
  package var source: (any ModelSource)? {
    switch self {
    case .container: nil
    case .gguf(let model, _): model
    case .safetensors(let model): model
    }
  }

  /// Bytes of the model's files.
  package var byteCount: Int {
    switch self {
    case .container(let file): file.byteCount
    case .gguf(_, let byteCount): byteCount
    case .safetensors(let model): model.byteCount
    }
  }

  /// The files beside `path` that opening it opens too, such as `config.json` and the tensors that
  /// an index lists; whether they are there or not. Reads no more than an index.
  package static func companions(of path: String) -> [String] {
    switch FileKind(of: path) {
    case .modelFolder, .folder: SafetensorsModel.companions(of: path, isFolder: true)
    case .safetensors, .json: SafetensorsModel.companions(of: path, isFolder: false)
    default: []
    }
  }

  private static func byteCount(of path: String) throws(InputError) -> Int {
    do throws(FileError) { return try InputFile(opening: path).byteCount } catch {
      throw InputError(error, file: path)
    }
  }

  package var tokenizer: TokenizerDescription? {
    switch self {
    case .container(let file): file.tokenizer
    case .gguf(let model, _): model.tokenizer
    case .safetensors(let model): model.tokenizer
    }
  }
}

extension ModelText {
  /// The tokenizer and template of a model file, without its weights.
  package static func open(_ path: String) throws -> ModelText {
    try ModelText(try ModelPath.open(path).tokenizer, file: path)
  }
}
