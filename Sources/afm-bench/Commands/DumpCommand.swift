import ArgumentParser
import Engines
import Files
import ModelFile
import TensorCore

struct DumpCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump",
    abstract: "Writes a tensor's values: row-major little-endian float32.",
    usage: "afm-bench dump <file> <tensor> <output>",
    discussion: """
      A matrix with a low-rank adapter is written as it is stored, without the adapter's product.

      Example: afm-bench dump model.afmw blk.0.attn_q.weight q.f32
      """)

  @Argument(
    help: ArgumentHelp("The model (.afmw, .gguf or safetensors).", valueName: "file"))
  var first: String?

  @Argument(help: ArgumentHelp("The tensor's name, as inspect lists it.", valueName: "tensor"))
  var second: String?

  @Argument(help: ArgumentHelp("The file to write.", valueName: "output"))
  var third: String?

  @Option(name: ModelArgument.optionNames, help: ModelArgument.optionHelp) var model: String?

  private var places: ArgumentPlaces {
    ArgumentPlaces(["file", "tensor", "output"], model: model, positional: [first, second, third])
  }

  var file: String { places[0] }
  var tensor: String { places[1] }
  var output: String { places[2] }

  func validate() throws { try places.check() }

  var files: CommandFiles {
    [.model(file, "the model"), .output(output, "the file to write", .floats)]
  }

  func run() throws {
    let reader = try TensorReader(file, tensor: tensor)
    var out = try OutputFile(creating: output)
    // Some rows at a time: about a mebibyte of floats.
    let columns = reader.shape.columnCount
    let step = max(1, (1 << 18) / max(columns, 1))
    var row = 0
    while row < reader.shape.rowCount && columns > 0 {
      let rows = row..<min(row + step, reader.shape.rowCount)
      var values = [Float](repeating: 0, count: rows.count * columns)
      var span = values.mutableSpan
      try reader.read(rows, into: &span)
      // Floats have no padding to read.
      try out.append(unsafe values.span.bytes)
      row = rows.upperBound
    }
    try out.commit()
  }
}

/// One tensor of either kind of model file, as floats.
struct TensorReader {
  private enum Source {
    case loaded(LoadedTensor)
    case floats(any ModelSource, Int)
  }

  let shape: TensorShape
  private let path: String
  private let source: Source

  init(_ path: String, tensor: String) throws {
    self.path = path
    let opened = try ModelPath.open(path)
    if case .container(let file) = opened {
      let loaded = try file.loadTensor(named: tensor)
      source = .loaded(loaded)
      shape = loaded.shape
    } else if let model = opened.source {
      guard let index = model.tensors.firstIndex(where: { $0.name == tensor }) else {
        throw InputError(
          file: path, place: "tensor \(tensor)", reason: "the file has no such tensor")
      }
      source = .floats(model, index)
      shape = model.tensors[index].shape
    } else {
      preconditionFailure("a model is packed or a source")
    }
  }

  func read(_ rows: Range<Int>, into output: inout MutableSpan<Float>) throws {
    switch source {
    case .loaded(let tensor):
      let planes = tensor.planes.rows(
        rows, columnCount: shape.columnCount, format: tensor.format)
      tensor.format.dequantize(
        planes, rowCount: rows.count, columnCount: shape.columnCount, into: &output)
    case .floats(let model, let index):
      do { try model.readRows(rows, ofTensor: index, into: &output) } catch {
        throw error.inFile(path)
      }
    }
  }
}
