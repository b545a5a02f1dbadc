import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing
import Tokenization

/// A folder that goes away with its owner.
final class ScratchFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "afmw-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }
  var entries: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? []
  }
}

extension ModelHeader {
  static let sample = ModelHeader(
    architecture: "llama", name: "sample \"é\"", layerCount: 1, hiddenSize: 8, feedForwardSize: 16,
    vocabularySize: 4, queryHeadCount: 2, keyValueHeadCount: 1, headDimension: 4,
    contextLength: 32, ropeBase: 10_000, ropePairing: .adjacent, ropeDimension: 4,
    normEpsilon: 1e-5, tiedOutput: true, attentionBias: false)
}

extension TokenizerDescription {
  static let sample = TokenizerDescription(
    model: "gpt2", preTokenizer: "smollm", tokens: ["a", "b", "ab", "é€😀"],
    kinds: [.normal, .normal, .normal, .control], merges: [.init(left: 0, right: 1)],
    beginToken: 3, endToken: 3, addsBeginToken: true, chatTemplate: "{{ x }}")
}

/// A tensor's plane bytes, made up or read back.
struct SampleTensor: Equatable {
  var name: String
  var dimensions: [Int]
  var format: WeightFormat
  var storage = PlaneStorage.compressed
  var planes: [Plane: [UInt8]]

  /// Legal random planes: made by quantizing random weights.
  init(
    _ name: String, _ dimensions: [Int], _ format: WeightFormat,
    storage: PlaneStorage = .compressed, seed: UInt64
  ) throws {
    self.name = name
    self.dimensions = dimensions
    self.format = format
    self.storage = storage
    var generator = SeededGenerator(seed: seed)
    let shape = try #require(TensorShape(dimensions))
    let values = (0..<shape.elementCount).map { _ in Float.random(in: -1...1, using: &generator) }
    func room(_ plane: Plane) -> [UInt8] {
      [UInt8](
        repeating: 0,
        count: format.byteCount(of: plane, rows: shape.rowCount, columns: shape.columnCount) ?? 0)
    }
    var (codes, scales, minimums) = (room(.codes), room(.scales), room(.minimums))
    var codeSpan = codes.mutableSpan
    var scaleSpan = scales.mutableSpan
    var minimumSpan = minimums.mutableSpan
    // Bytes have no padding, and every value is a valid one.
    var mutable = unsafe MutablePackedPlanes(
      codes: codeSpan.mutableBytes, scales: scaleSpan.mutableBytes,
      minimums: minimumSpan.mutableBytes)
    try format.quantize(
      values.span, rowCount: shape.rowCount, columnCount: shape.columnCount, into: &mutable)
    planes = [.codes: codes, .scales: scales, .minimums: minimums].filter {
      format.planes.contains($0.key)
    }
  }

  init(_ loaded: LoadedTensor) {
    name = loaded.name
    dimensions = loaded.shape.dimensions
    format = loaded.format
    storage = loaded.description.planes[0].storage
    planes = [:]
    for plane in format.planes { planes[plane] = bytes(loaded.planes.bytes(of: plane)) }
  }
}

func bytes(_ span: RawSpan) -> [UInt8] {
  // The buffer lives for the call.
  unsafe span.withUnsafeBytes { unsafe Array($0) }
}

/// Writes a file of those tensors, each in pieces of `pieceByteCount` bytes.
func write(
  _ tensors: [SampleTensor], to path: String, compression: FrameCompression = .zstd(level: 3),
  threads: Int = 1, pieceByteCount: Int = .max, tokenizer: TokenizerDescription? = .sample,
  provenance: [String: String] = ["source": "sample.gguf"]
) throws {
  var writer = try ContainerWriter(creating: path, compression: compression, threads: threads)
  for tensor in tensors {
    let shape = try #require(TensorShape(tensor.dimensions))
    try writer.beginTensor(
      name: tensor.name, shape: shape, format: tensor.format, storage: tensor.storage)
    var position = 0
    let longest = tensor.planes.values.map(\.count).max() ?? 0
    // The planes grow side by side, as they do when rows are packed.
    while position < longest {
      for plane in tensor.format.planes {
        let bytes = tensor.planes[plane] ?? []
        let end = min(bytes.count, pieceByteCount == .max ? .max : position + pieceByteCount)
        guard position < end else { continue }
        // Bytes have no padding.
        try unsafe writer.append(bytes.span.bytes.extracting(position..<end), to: plane)
      }
      position = pieceByteCount == .max ? longest : position + pieceByteCount
    }
    try writer.endTensor()
  }
  try writer.finish(header: .sample, tokenizer: tokenizer, provenance: provenance)
}

/// A small file with several formats in it: about 2 KB.
func smallTensors() throws -> [SampleTensor] {
  [
    try SampleTensor("token_embd.weight", [4, 8], .u4g32, seed: 1),
    try SampleTensor("blk.0.attn_q.weight", [8, 8], .u2c, seed: 2),
    try SampleTensor("odd", [3, 5], .f16, seed: 3),
    try SampleTensor("output_norm.weight", [8], .f32, seed: 4),
  ]
}
