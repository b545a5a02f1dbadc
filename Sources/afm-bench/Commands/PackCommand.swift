import ArgumentParser
import Engines
import Files
import Foundation
import ModelFile
import PackedFormats
import TensorCore

struct PackCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack",
    abstract: "Imports a GGUF or safetensors model and packs it into an .afmw file.",
    usage: "afm-bench pack [<options>] <input> <output>",
    discussion: """
      The linear layers get --weights, the embedding (and an untied output) --embedding; norms and \
      biases stay f32. Tensors that the input holds packed keep every bit. The file appears whole \
      or not at all.

      --calibrate weights errors with what the model's activations show: --calibrate self runs the \
      float model over text that it samples itself, --calibrate FILE over that text, or takes the \
      statistics that --save-calibration has written.

      Example: afm-bench pack model.gguf model.afmw --weights s8c
      Example: afm-bench pack model.gguf a.afmw --weights u4g32 --calibrate self
      """)

  @Argument(
    help: ArgumentHelp(
      "The model to import: .gguf, .safetensors, an index of several, or a folder.",
      valueName: "input"))
  var first: String?

  @Argument(help: ArgumentHelp("The file to write.", valueName: "output"))
  var second: String?

  @Option(name: ModelArgument.optionNames, help: ModelArgument.optionHelp)
  var modelOption: String?

  @Option(
    help: ArgumentHelp(
      "The linear layers' format.", discussion: LlamaCppFormat.weightsNote, valueName: "format"))
  var weights = FormatArgument(.s8c)

  @Option(
    help: ArgumentHelp(
      "The embedding's format; by default that of the weights.",
      discussion: "By default u4g32 beside 2-bit weights, and s8c beside ASTC.",
      valueName: "format"))
  var embedding: FormatArgument?

  @OptionGroup(title: "Calibration") var calibration: CalibrationOptions
  @OptionGroup(title: "Quantization") var quantization: QuantizationArguments

  @Option(help: ArgumentHelp("The zstd level.", valueName: "level"))
  var level = 3

  @Option(
    help: ArgumentHelp(
      "How planes lie in the file.",
      discussion: "canonical: compressed and portable; kernel: as kernels read them, uncompressed "
        + "and mapped at load.", valueName: "layout"))
  var layout: FileLayout = .canonical

  @OptionGroup var threadOption: ThreadOption

  @Flag(help: "Prints one JSON object.")
  var json = false

  func validate() throws {
    guard FrameCompression.levels.contains(level) else {
      throw ValidationError("--level must be in \(FrameCompression.levels).")
    }
    try places.check()
  }

  private var places: ArgumentPlaces {
    ArgumentPlaces(["input", "output"], model: modelOption, positional: [first, second])
  }

  var input: String { places[0] }
  var output: String { places[1] }
  var threads: Int? { threadOption.count }

  var files: CommandFiles {
    [.model(input, "the model"), .output(output, "the file to write", .packedModel)]
      + calibration.files
  }

  func run() throws {
    let opened = try ModelPath.open(input)
    guard let model = opened.source else {
      throw InputError(
        file: input, reason: "it is packed already; pack imports GGUF and safetensors")
    }
    guard let tokenizer = model.tokenizer else {
      throw InputError(
        file: input, place: "tokenizer", reason: "the model has none, so no text could be run")
    }
    // What no command could use is refused before the work, not after it.
    _ = try ModelText(tokenizer, file: input)
    var packer = ModelPacker(
      weights: weights.format,
      embedding: embedding?.format ?? weights.format.defaultEmbedding,
      compression: .zstd(level: level),
      threads: threads ?? ProcessInfo.processInfo.activeProcessorCount)
    try quantization.apply(to: &packer)
    packer.usesKernelLayouts = layout == .kernel
    let started = ContinuousClock.now
    packer.statistics = try calibration.statistics(of: input, threads: threads)
    let calibrated = ContinuousClock.now
    let report: PackReport
    do throws(PackError) {
      report = try packer.pack(model, to: output) { progress in
        WorkProgress.show(
          progress.tensor, done: progress.doneElementCount, total: progress.totalElementCount,
          since: calibrated)
      }
    } catch {
      switch error {
      case .input(let fault): throw fault.inFile(input)
      case .output(let fault): throw fault
      }
    }
    Console.progress("")
    let summary = PackSummary(
      report, file: output, sourceByteCount: opened.byteCount, packer: packer,
      calibrationSeconds: (calibrated - started).seconds,
      packSeconds: (ContinuousClock.now - calibrated).seconds)
    try Console.report(json ? Console.json(summary) : summary.text)
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

extension WeightFormat {
  /// 2-bit weights keep a 4-bit embedding, as the on-device model does, and ASTC an 8-bit one.
  var defaultEmbedding: WeightFormat {
    switch self {
    case .u2c, .u2g64, .u2t: .u4g32
    case .astc6x6LDR, .astc6x6HDR: .s8c
    default: self
    }
  }
}
