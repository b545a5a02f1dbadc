import EngineInterface
import Engines
import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Tokenization

/// The committed tiny models, and what the NumPy twin says about them.
///
/// Regenerate with `$AFM_PYTHON tools/oracles/llama_twin.py fixtures Tests/Fixtures/golden`.
enum TinyModel: String, CaseIterable {
  case llama, qwen2

  /// The twin's answers: logits after some positions of a run of ids.
  struct Golden: Decodable {
    var ids: [Int32]
    var positions: [Int]
    var logits: [[Float]]
  }

  static func fixture(_ name: String) -> URL {
    Repository.fixture("golden/\(name)")
  }

  var path: String { Self.fixture("tiny-\(rawValue).gguf").path }

  func golden() throws -> Golden {
    let data = try Data(contentsOf: Self.fixture("tiny-logits.json"))
    guard let golden = try JSONDecoder().decode([String: Golden].self, from: data)[rawValue] else {
      throw Oracle.Failure(description: "tiny-logits.json knows no \(rawValue)")
    }
    return golden
  }

  /// Packs the model in a format and hands over the file.
  func packed<Result>(
    _ format: WeightFormat, embedding: WeightFormat? = nil, _ body: (String) throws -> Result
  ) throws -> Result {
    try packing(GGUFModel(path: path), format, embedding: embedding, body)
  }
}

/// Packs a source into a temporary file and hands it over.
/// ASTC is encoded with little effort: what an engine computes is compared with the packed values,
/// however near those are to the model's.
func packing<Result>(
  _ source: any ModelSource, _ format: WeightFormat, embedding: WeightFormat? = nil,
  _ body: (String) throws -> Result
) throws -> Result {
  let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("engines-\(UUID().uuidString).afmw").path
  defer { try? FileManager.default.removeItem(atPath: path) }
  var packer = ModelPacker(weights: format, embedding: embedding ?? format, threads: 2)
  packer.options.effort = .fast
  _ = try packer.pack(source, to: path)
  return try body(path)
}

/// A packed file's real values, as a float model to pack or to load again.
struct DequantizedSource: ModelSource {
  let file: AFMWFile

  var header: ModelHeader { file.header }
  var tokenizer: TokenizerDescription? { file.tokenizer }
  var provenance: [String: String] { [:] }
  var tensors: [SourceTensor] {
    file.tensors.map {
      SourceTensor(name: $0.name, shape: $0.shape, typeName: "", byteCount: 0)
    }
  }

  func readRows(
    _ rows: Range<Int>, ofTensor index: Int, into output: inout MutableSpan<Float>
  ) throws(InputError) {
    let stored = file.tensors[index]
    let tensor = try file.loadTensor(named: stored.name)
    let columns = stored.shape.columnCount
    tensor.format.dequantize(
      tensor.planes.rows(rows, columnCount: columns, format: tensor.format),
      rowCount: rows.count, columnCount: columns, into: &output)
  }
}

/// Seeded ids below a vocabulary's size.
func randomIDs(_ count: Int, vocabulary: Int, seed: UInt64) -> [Int32] {
  var generator = SeededGenerator(seed: seed)
  return (0..<count).map { _ in Int32.random(in: 0..<Int32(vocabulary), using: &generator) }
}

extension Engine {
  /// A session with a cache of these elements.
  func session(cache: String = "f32", batch: Int = 512, context: Int = 256) throws -> any Session {
    try makeSession(
      SessionOptions(
        contextLimit: context, keyElement: cache, valueElement: cache, batchTokens: batch))
  }

  /// The logits after every id, from an empty cache.
  func logits(_ ids: [Int32], cache: String = "f32", batch: Int = 512) throws -> [[Float]] {
    let session = try session(cache: cache, batch: batch)
    return try session.logits(ids)
  }
}

extension Session {
  /// The logits after every id that is appended.
  func logits(_ ids: [Int32]) throws -> [[Float]] {
    var rows: [[Float]] = []
    try prefill(ids[...]) { _, logits in rows.append(logits.indices.map { logits[$0] }) }
    return rows
  }

  /// Likewise, a token at a time through decode steps.
  func decodedLogits(_ ids: [Int32]) throws -> [[Float]] {
    try ids.flatMap { try logits([$0]) }
  }
}

/// The largest difference of two runs over the root mean square of the second one's logits.
func relativeError(_ found: [[Float]], _ expected: [[Float]]) -> Double {
  guard found.count == expected.count, !expected.isEmpty else { return .infinity }
  var worst = 0.0
  var squares = 0.0
  var count = 0
  for (row, reference) in zip(found, expected) {
    guard row.count == reference.count else { return .infinity }
    for (a, b) in zip(row, reference) {
      // A NaN counts as infinitely wrong.
      let difference = abs(Double(a) - Double(b))
      worst = difference.isFinite ? max(worst, difference) : .infinity
      squares += Double(b) * Double(b)
      count += 1
    }
  }
  return worst / (squares / Double(count)).squareRoot()
}
