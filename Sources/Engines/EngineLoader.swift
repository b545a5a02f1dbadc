import EngineInterface
import Files
import KernelContract
import ModelFile
import QuantKernels
import TensorCore
import Tokenization

/// How an engine is set up.
package struct EngineOptions: Sendable {
  /// Threads of its pool; nil is one a core.
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
  /// `SelectionError` for an instruction set that does not exist or that the machine lacks.
  package static func load(_ path: String, options: EngineOptions = EngineOptions()) throws
    -> any Engine
  {
    let library = try KernelLibrary.named(options.instructionSet)
    let pool = ThreadPool(threadCount: options.threads, waiting: options.waiting)
    let compute = Compute(library: library, pool: pool)
    switch try ModelPath.open(path) {
    case .container(let file):
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

  private static func engine(
    header: ModelHeader, tokenizer: TokenizerDescription?, path: String, compute: Compute,
    loader: WeightLoader
  ) throws -> any Engine {
    let text = try ModelText(tokenizer, file: path)
    switch header.architecture {
    case "llama", "qwen2", OnDeviceTensors.architecture:
      return try DecoderEngine(header: header, loader: loader, text: text, compute: compute)
    default:
      throw InputError(
        file: path, place: "architecture",
        reason: "\"\(header.architecture)\" is not one that runs here (llama, qwen2, afm-ondevice)")
    }
  }
}

/// A model file by its first bytes, not by its name; or the folder of a model.
package enum ModelPath {
  case container(AFMWFile)
  case gguf(GGUFModel, byteCount: Int)
  case safetensors(SafetensorsModel)

  /// Opens the header of any kind; tensor bytes stay untouched.
  package static func open(_ path: String) throws(InputError) -> ModelPath {
    let beginning: (bytes: [UInt8], byteCount: Int)
    do throws(FileError) { beginning = try firstBytes(of: path) } catch {
      if error.reason == .isDirectory { return .safetensors(try SafetensorsModel(path: path)) }
      throw InputError(file: path, reason: error.summary)
    }
    if beginning.bytes.starts(with: "GGUF".utf8) {
      return .gguf(try GGUFModel(path: path), byteCount: beginning.byteCount)
    }
    // A safetensors file is eight bytes of length, then JSON; an index of several is JSON.
    let brace = UInt8(ascii: "{")
    if beginning.bytes.first == brace || beginning.bytes.count == 9 && beginning.bytes[8] == brace {
      return .safetensors(try SafetensorsModel(path: path))
    }
    return .container(try AFMWFile(opening: path))
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

  /// A file's first nine bytes, or fewer where it has fewer, and its byte count.
  private static func firstBytes(
    of path: String
  ) throws(FileError) -> (bytes: [UInt8], byteCount: Int) {
    let file = try InputFile(opening: path)
    var bytes = [UInt8](repeating: 0, count: min(9, file.byteCount))
    var span = bytes.mutableSpan
    // Any bytes are valid elements.
    var raw = unsafe span.mutableBytes
    try file.read(at: 0, into: &raw)
    return (bytes, file.byteCount)
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
