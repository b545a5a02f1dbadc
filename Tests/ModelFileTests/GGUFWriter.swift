import Foundation
import ModelFile

/// Writes small GGUF files, well-formed or not, and remembers where their parts begin.
struct GGUFWriter {
  /// A value as it stands in the file: type number and bytes.
  struct Value {
    var type: UInt32
    var bytes: [UInt8]

    static func u8(_ value: UInt8) -> Value { .init(type: 0, bytes: [value]) }
    static func u32(_ value: UInt32) -> Value { .init(type: 4, bytes: little(value)) }
    static func i32(_ value: Int32) -> Value { .init(type: 5, bytes: little(value)) }
    static func u64(_ value: UInt64) -> Value { .init(type: 10, bytes: little(value)) }
    static func f32(_ value: Float) -> Value { .init(type: 6, bytes: little(value.bitPattern)) }
    static func f64(_ value: Double) -> Value { .init(type: 12, bytes: little(value.bitPattern)) }
    static func bool(_ value: UInt8) -> Value { .init(type: 7, bytes: [value]) }
    static func string(_ value: String) -> Value { .init(type: 8, bytes: text(value)) }
    static func array(_ type: UInt32, _ elements: [Value]) -> Value {
      .init(
        type: 9, bytes: little(type) + little(UInt64(elements.count)) + elements.flatMap(\.bytes))
    }
  }

  struct Tensor {
    var name: String
    /// In the file's order: the contiguous dimension first.
    var dimensions: [UInt64]
    var type: UInt32
    var data: [UInt8]
    /// Where the directory says the data are; nil for where they really are.
    var offset: UInt64?
  }

  var magic: [UInt8] = Array("GGUF".utf8)
  var version: UInt32 = 3
  var pairs: [(key: String, value: Value)] = []
  var tensors: [Tensor] = []
  var alignment = 32
  var tensorCount: UInt64?
  var pairCount: UInt64?
  /// Bytes written over a finished file: mark, distance, bytes.
  var patches: [(mark: String, delta: Int, bytes: [UInt8])] = []
  /// Bytes cut off a finished file's end.
  var truncation = 0

  static func little<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
    (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  static func text(_ value: String) -> [UInt8] {
    little(UInt64(value.utf8.count)) + Array(value.utf8)
  }

  /// Replaces a pair's value, or adds the pair.
  mutating func set(_ key: String, _ value: Value) {
    if let index = pairs.firstIndex(where: { $0.key == key }) {
      pairs[index].value = value
    } else {
      pairs.append((key, value))
    }
  }

  mutating func remove(_ key: String) { pairs.removeAll { $0.key == key } }

  mutating func change(_ tensor: String, _ body: (inout Tensor) -> Void) {
    if let index = tensors.firstIndex(where: { $0.name == tensor }) { body(&tensors[index]) }
  }

  /// Adds a tensor of F32 values 0, 1, 2, …; dimensions outermost first.
  mutating func addFloats(_ name: String, _ dimensions: [Int]) {
    let count = dimensions.reduce(1, *)
    let data = (0..<count).flatMap { Self.little((Float($0) / 64).bitPattern) }
    tensors.append(
      Tensor(name: name, dimensions: dimensions.reversed().map(UInt64.init), type: 0, data: data))
  }

  /// The file, and the offsets of its parts: `pair KEY`, `value KEY`, `tensor NAME` (the entry),
  /// `rank NAME`, `dimensions NAME`, `type NAME`, `offset NAME`, `data`.
  func build() -> (bytes: [UInt8], marks: [String: Int]) {
    var bytes = magic + Self.little(version)
    var marks: [String: Int] = [:]
    bytes += Self.little(tensorCount ?? UInt64(tensors.count))
    bytes += Self.little(pairCount ?? UInt64(pairs.count))
    for (key, value) in pairs {
      marks["pair \(key)"] = bytes.count
      bytes += Self.text(key) + Self.little(value.type)
      marks["value \(key)"] = bytes.count
      bytes += value.bytes
    }
    var dataOffset = 0
    for tensor in tensors {
      marks["tensor \(tensor.name)"] = bytes.count
      bytes += Self.text(tensor.name)
      marks["rank \(tensor.name)"] = bytes.count
      bytes += Self.little(UInt32(tensor.dimensions.count))
      marks["dimensions \(tensor.name)"] = bytes.count
      for dimension in tensor.dimensions { bytes += Self.little(dimension) }
      marks["type \(tensor.name)"] = bytes.count
      bytes += Self.little(tensor.type)
      marks["offset \(tensor.name)"] = bytes.count
      bytes += Self.little(tensor.offset ?? UInt64(dataOffset))
      dataOffset += aligned(tensor.data.count)
    }
    bytes += [UInt8](repeating: 0, count: aligned(bytes.count) - bytes.count)
    marks["data"] = bytes.count
    for tensor in tensors {
      bytes += tensor.data
      bytes += [UInt8](repeating: 0, count: aligned(tensor.data.count) - tensor.data.count)
    }
    return (bytes, marks)
  }

  /// The file with its defects, and the marks, of which `start` is 0, `twice` the last pair and
  /// `twice tensor` the second tensor.
  func malformed() -> (bytes: [UInt8], marks: [String: Int]) {
    var (bytes, marks) = build()
    for patch in patches {
      let start = (marks[patch.mark] ?? 0) + patch.delta
      bytes.replaceSubrange(start..<start + patch.bytes.count, with: patch.bytes)
    }
    marks["start"] = 0
    if let last = pairs.last { marks["twice"] = marks["pair \(last.key)"] }
    if tensors.count > 1 { marks["twice tensor"] = marks["tensor \(tensors[1].name)"] }
    return (Array(bytes.dropLast(truncation)), marks)
  }

  private func aligned(_ count: Int) -> Int { (count + alignment - 1) / alignment * alignment }

  /// A complete model: hidden 32, feed-forward 64, 4 query heads of 8, 2 key-value heads, 8 tokens.
  static func model(_ architecture: String = "llama", layers: Int = 1) -> GGUFWriter {
    var writer = GGUFWriter()
    writer.set("general.architecture", .string(architecture))
    writer.set("general.name", .string("tiny"))
    for (key, value) in [
      ("block_count", layers), ("context_length", 64), ("embedding_length", 32),
      ("feed_forward_length", 64), ("attention.head_count", 4), ("attention.head_count_kv", 2),
    ] {
      writer.set("\(architecture).\(key)", .u32(UInt32(value)))
    }
    writer.set("\(architecture).attention.layer_norm_rms_epsilon", .f32(0x1p-17))
    writer.set("tokenizer.ggml.model", .string("gpt2"))
    writer.set("tokenizer.ggml.pre", .string("smollm"))
    let tokens = ["<|end|>", "a", "b", "ab", "Ġ", "Ġa", "é", "e\u{301}"]
    writer.set("tokenizer.ggml.tokens", .array(8, tokens.map { .string($0) }))
    writer.set("tokenizer.ggml.token_type", .array(5, [3, 1, 1, 1, 1, 1, 1, 1].map { .i32($0) }))
    writer.set("tokenizer.ggml.merges", .array(8, [.string("a b"), .string("Ġ a")]))
    writer.set("tokenizer.ggml.eos_token_id", .u32(0))
    writer.addFloats("token_embd.weight", [8, 32])
    writer.addFloats("output_norm.weight", [32])
    for layer in 0..<layers {
      for (name, dimensions) in [
        ("attn_norm", [32]), ("attn_q", [32, 32]), ("attn_k", [16, 32]), ("attn_v", [16, 32]),
        ("attn_output", [32, 32]), ("ffn_norm", [32]), ("ffn_gate", [64, 32]),
        ("ffn_up", [64, 32]), ("ffn_down", [32, 64]),
      ] {
        writer.addFloats("blk.\(layer).\(name).weight", dimensions)
      }
    }
    return writer
  }
}

/// Writes bytes to a temporary file for the duration of a call.
func withTemporaryFile<Result>(
  _ bytes: [UInt8], _ body: (String) throws -> Result
) throws -> Result {
  let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("gguf-\(UUID().uuidString).gguf")
  try Data(bytes).write(to: url)
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url.path)
}

extension GGUFFile {
  /// A whole tensor, read so many rows at a time.
  func values(of tensor: GGUFTensor, step: Int = .max) throws -> [Float] {
    var values: [Float] = []
    let rowCount = tensor.shape.rowCount
    var row = 0
    while row < rowCount {
      let end = row + min(step, rowCount - row)
      var part = [Float](repeating: .nan, count: (end - row) * tensor.shape.columnCount)
      var output = part.mutableSpan
      try readRows(row..<end, of: tensor, into: &output)
      values += part
      row = end
    }
    return values
  }
}
