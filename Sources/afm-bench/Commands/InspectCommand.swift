import ArgumentParser
import Engines
import Foundation
import ModelFile
import PackedFormats
import Report
import TensorCore
import Tokenization

struct InspectCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows a model file's header, tensors and totals without reading the tensors.",
    discussion: """
      The file may be .afmw, .gguf or safetensors, or a model's folder. Tensors are summed up by \
      format. They are listed one by one with --tensors, with --json, and where the output is no \
      terminal.

      Example: afm-bench inspect model.afmw
      """)

  @OptionGroup var model: ModelArgument

  @Flag(help: "Lists the tensors on a terminal too.")
  var tensors = false

  @Flag(help: "Prints one JSON object.")
  var json = false

  var file: String { model.path }

  var files: CommandFiles { [.model(file, "the model")] }

  func run() throws {
    let inspection: Inspection
    do throws(InputError) {
      inspection = Inspection(try ModelPath.open(file), file: file)
    } catch {
      // A GGUF file that is no model of ours still has tensors to list.
      guard let gguf = try? GGUFFile(path: file) else { throw error }
      inspection = Inspection(gguf, refusal: error)
    }
    let listsTensors = tensors || !StandardOutput.isTerminal
    try Console.report(
      json ? Console.json(inspection) : inspection.text(listsTensors: listsTensors))
  }
}

/// What a model file says of itself.
struct Inspection: Encodable {
  var file: String
  var kind: String
  var bytes: Int
  /// Nil where the file is not of an architecture that runs.
  var header: ModelHeader?
  /// Why it does not run, where it does not.
  var refusal: String?
  var tokenizer: Tokenizer?
  var provenance: [String: String]
  var tensors: [Tensor]
  /// Matrices with a low-rank adapter.
  var adapters = 0
  /// Elements of all tensors but the factors of adapters.
  var parameters: Int
  var tensor_bytes: Int
  var total_bpw: Double

  struct Tokenizer: Encodable {
    var model: String
    var pre_tokenizer: String
    var tokens: Int
    var merges: Int
    var has_chat_template: Bool
  }

  struct Tensor: Encodable {
    var name: String
    var shape: [Int]
    var format: String
    /// Bytes of its planes, unpacked from the file's compression.
    var bytes: Int
    /// Bytes in the file.
    var stored_bytes: Int
    var payload_bpw: Double
    var total_bpw: Double
  }

  init(_ model: ModelPath, file: String) {
    self.file = file
    switch model {
    case .container(let container):
      kind = "afmw"
      bytes = container.byteCount
      header = container.header
      provenance = container.provenance
      tensors = container.tensors.map {
        Tensor(
          name: $0.name, shape: $0.shape.dimensions, format: $0.format.name,
          bytes: $0.byteCount, stored_bytes: $0.storedByteCount,
          payload_bpw: $0.payloadBitsPerWeight, total_bpw: $0.totalBitsPerWeight)
      }
    case .gguf, .safetensors:
      guard let source = model.source else { preconditionFailure("a model is packed or a source") }
      kind = if case .gguf = model { "gguf" } else { "safetensors" }
      bytes = model.byteCount
      header = source.header
      provenance = source.provenance
      tensors = source.tensors.map {
        let bits = Double($0.byteCount) * 8 / Double(max($0.shape.elementCount, 1))
        return Tensor(
          name: $0.name, shape: $0.shape.dimensions, format: $0.typeName, bytes: $0.byteCount,
          stored_bytes: $0.byteCount, payload_bpw: bits, total_bpw: bits)
      }
    }
    tokenizer = model.tokenizer.map {
      Tokenizer(
        model: $0.model, pre_tokenizer: $0.preTokenizer, tokens: $0.tokens.count,
        merges: $0.merges.count, has_chat_template: $0.chatTemplate != nil)
    }
    // An adapter's factors are bytes of the model, not parameters of their own.
    var factors: Set<Int> = []
    if case .container(let container) = model {
      factors = Set(container.adapters.flatMap { [$0.a, $0.b] })
    }
    adapters = factors.count / 2
    let tensors = tensors
    let count = tensors.indices.filter { !factors.contains($0) }
      .reduce(0) { $0 + tensors[$1].shape.reduce(1, *) }
    parameters = count
    tensor_bytes = tensors.reduce(0) { $0 + $1.bytes }
    total_bpw = Double(tensor_bytes) * 8 / Double(max(count, 1))
  }

  /// A GGUF file that is not a model of ours: what its head says, unjudged.
  init(_ gguf: GGUFFile, refusal: InputError) {
    file = gguf.path
    kind = "gguf"
    bytes = gguf.byteCount
    self.refusal = refusal.description
    provenance = ["format": "GGUF version \(gguf.version)"]
    for entry in gguf.metadata.entries {
      switch entry.value {
      case .string(let text): provenance[entry.key] = text
      case .unsigned(let number): provenance[entry.key] = String(number)
      case .signed(let number): provenance[entry.key] = String(number)
      default: break
      }
    }
    tensors = gguf.tensors.map {
      let bits = Double($0.byteCount) * 8 / Double(max($0.shape.elementCount, 1))
      return Tensor(
        name: $0.name, shape: $0.shape.dimensions, format: $0.type.name, bytes: $0.byteCount,
        stored_bytes: $0.byteCount, payload_bpw: bits, total_bpw: bits)
    }
    parameters = tensors.reduce(0) { $0 + $1.shape.reduce(1, *) }
    tensor_bytes = tensors.reduce(0) { $0 + $1.bytes }
    total_bpw = Double(tensor_bytes) * 8 / Double(max(parameters, 1))
  }

  private var headerLines: [String] {
    guard let header else { return refusal.map { ["does not run here: \($0)"] } ?? [] }
    return [
      "name: \(header.name)",
      "graph: \(header.architecture), \(header.layerCount) layers, hidden \(header.hiddenSize), "
        + "FFN \(header.feedForwardSize), heads \(header.queryHeadCount)/"
        + "\(header.keyValueHeadCount) × \(header.headDimension), "
        + "vocabulary \(header.vocabularySize)\(header.tiedOutput ? " (tied)" : "")",
      "context: \(header.contextLength), RoPE base \(header.ropeBase) "
        + "(\(header.ropePairing.rawValue)), norm epsilon \(header.normEpsilon)",
    ]
  }

  /// The tensors of each format, with their sums.
  private var formatTable: String {
    var table = TextTable([
      .init("format", .left), .init("tensors"), .init("elements"), .init("bytes"),
      .init("in the file"), .init("bits per weight"),
    ])
    let formats = Dictionary(grouping: tensors, by: \.format)
    for (format, own) in formats.sorted(by: { $0.key < $1.key }) {
      let elements = own.reduce(0) { $0 + $1.shape.reduce(1, *) }
      let bytes = own.reduce(0) { $0 + $1.bytes }
      table.append([
        format, "\(own.count)", elements.grouped, bytes.grouped,
        own.reduce(0) { $0 + $1.stored_bytes }.grouped,
        String(format: "%.3f", Double(bytes) * 8 / Double(max(elements, 1))),
      ])
    }
    return table.text
  }

  private var tensorLines: [String] {
    let names = tensors.map(\.name.count).max() ?? 0
    return tensors.map { tensor in
      let shape = tensor.shape.map(String.init).joined(separator: "x")
      return tensor.name.padding(toLength: names, withPad: " ", startingAt: 0)
        + "  \(shape)  \(tensor.format)  \(tensor.bytes) bytes (\(tensor.stored_bytes) stored)  "
        + String(format: "%.3f bpw payload, %.3f total", tensor.payload_bpw, tensor.total_bpw)
    }
  }

  /// The same as lines.
  func text(listsTensors: Bool) -> String {
    var lines = ["\(file): \(kind), \(bytes) bytes"] + headerLines
    if let tokenizer {
      lines.append(
        "tokenizer: \(tokenizer.model)/\(tokenizer.pre_tokenizer), \(tokenizer.tokens) tokens, "
          + "\(tokenizer.merges) merges"
          + (tokenizer.has_chat_template ? ", chat template" : ""))
    }
    for (key, value) in provenance.sorted(by: { $0.key < $1.key }) {
      lines.append("\(key): \(value)")
    }
    lines.append(
      "\(tensors.count) tensors, \(parameters.grouped) parameters, \(tensor_bytes.grouped) bytes, "
        + String(format: "%.3f bits per weight", total_bpw))
    lines += ["", formatTable]
    if listsTensors {
      lines += [""] + tensorLines
    } else {
      lines.append("--tensors lists the tensors.")
    }
    return lines.joined(separator: "\n")
  }
}
