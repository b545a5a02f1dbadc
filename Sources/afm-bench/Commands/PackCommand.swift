import ArgumentParser
import Engines
import Files
import Foundation
import ModelFile
import PackedFormats
import Synchronization
import TensorCore

struct PackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack",
    abstract: "Imports a GGUF or safetensors model and packs it into an .afmw file.",
    discussion: """
      The linear layers get --weights, the embedding (and an untied output) --embedding; norms and
      biases stay f32. Tensors that the input holds packed keep every bit. The file appears whole
      or not at all.

      Example: afm-bench pack model.gguf model.afmw --weights s8c
      """)

  @Argument(help: "The model to import: .gguf, .safetensors, an index of several, or a folder.")
  var input: String

  @Argument(help: "The file to write.")
  var output: String

  @Option(help: "The linear layers' format: f32, f16, s8c, u4g32, u2c or u2g64.")
  var weights: WeightFormat = .s8c

  @Option(
    help: "The embedding's format; by default that of the weights, and u4g32 beside 2-bit weights.")
  var embedding: WeightFormat?

  @Option(help: "The zstd level.")
  var level = 3

  @Option(
    help: """
      How planes lie in the file: canonical, compressed and portable, or kernel, as kernels read \
      them, uncompressed and mapped at load.
      """)
  var layout: FileLayout = .canonical

  @Option(name: [.customShort("t"), .long], help: "Threads; by default one a core.")
  var threads: Int?

  @Flag(help: "Prints one JSON object.")
  var json = false

  func validate() throws {
    guard FrameCompression.levels.contains(level) else {
      throw ValidationError("--level must be in \(FrameCompression.levels).")
    }
    if let threads { try Limits.check(threads, upTo: Limits.threads, option: "-t") }
  }

  func run() throws {
    try OutputPath.check(output, isNot: input)
    let opened = try ModelPath.open(input)
    guard let model = opened.source else {
      throw InputError(
        file: input, reason: "it is packed already; pack imports GGUF and safetensors")
    }
    guard model.tokenizer != nil else {
      throw InputError(
        file: input, place: "tokenizer", reason: "the model has none, so no text could be run")
    }
    var packer = ModelPacker(
      weights: weights, embedding: embedding ?? weights.defaultEmbedding,
      compression: .zstd(level: level),
      threads: threads ?? ProcessInfo.processInfo.activeProcessorCount)
    packer.usesKernelLayouts = layout == .kernel
    let started = ContinuousClock.now
    let report: PackReport
    do throws(PackError) {
      report = try packer.pack(model, to: output) { progress in
        let percent = 100 * progress.doneElementCount / max(progress.totalElementCount, 1)
        Console.progress("\(percent) %  \(progress.tensor)")
      }
    } catch {
      switch error {
      case .input(let fault): throw fault.inFile(input)
      case .output(let fault): throw fault
      }
    }
    Console.progress("")
    try show(report, sourceByteCount: opened.byteCount, elapsed: ContinuousClock.now - started)
  }

  private func show(_ report: PackReport, sourceByteCount: Int, elapsed: Duration) throws {
    if json {
      try Console.report(Console.json(PackSummary(report, file: output)))
      return
    }
    let seconds =
      Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
    let size = String(format: "%.1f MB", Double(report.fileByteCount) / 1e6)
    let source = String(format: "%.1f MB", Double(sourceByteCount) / 1e6)
    let bits = String(
      format: "%.2f bits per weight payload, %.2f in all, %.2f in the file",
      report.payloadBitsPerWeight, report.totalBitsPerWeight, report.fileBitsPerWeight)
    var lines = [
      "\(output): \(size) from \(source) in \(String(format: "%.1f", seconds)) s", bits,
    ]
    for format in WeightFormat.allCases {
      let tensors = report.tensors.filter { $0.stored.format == format }
      guard !tensors.isEmpty else { continue }
      let worst = tensors.map(\.relativeError).max() ?? 0
      lines.append(
        "\(format.name): \(tensors.count) tensors, largest relative RMS error "
          + String(format: "%.4f", worst))
    }
    if weights == .u2c || weights == .u2g64 {
      lines.append(
        "2-bit weights made without training: a model this is done to answers badly, if at all")
    }
    try Console.report(lines.joined(separator: "\n"))
  }
}

extension WeightFormat: ExpressibleByArgument {
  /// A format by its name on the command line.
  public init?(argument: String) { self.init(name: argument) }

  /// The names that usage errors list.
  public static var allValueStrings: [String] { allCases.map(\.name) }

  /// 2-bit weights keep a 4-bit embedding, as the on-device model does.
  fileprivate var defaultEmbedding: WeightFormat {
    self == .u2c || self == .u2g64 ? .u4g32 : self
  }
}

/// What `pack --json` prints.
struct PackSummary: Encodable {
  var file: String
  var bytes: Int
  var payload_bpw: Double
  var total_bpw: Double
  var file_bpw: Double
  var tensors: [Tensor]

  struct Tensor: Encodable {
    var name: String
    var source_type: String
    var format: String
    var relative_rms_error: Double
  }

  init(_ report: PackReport, file: String) {
    self.file = file
    bytes = report.fileByteCount
    payload_bpw = report.payloadBitsPerWeight
    total_bpw = report.totalBitsPerWeight
    file_bpw = report.fileBitsPerWeight
    tensors = report.tensors.map {
      Tensor(
        name: $0.stored.name, source_type: $0.sourceTypeName, format: $0.stored.format.name,
        relative_rms_error: $0.relativeError)
    }
  }
}
