import ModelFile
import TensorCore
import Testing

/// A file with one defect, and where the error must point.
struct MalformedGGUF: Sendable, CustomTestStringConvertible {
  var defect: String
  var place: String
  /// A mark of `GGUFWriter.build`; nil where no place in the file can be named.
  var mark: String?
  /// Bytes from the mark.
  var delta: Int = 0
  var change: @Sendable (inout GGUFWriter) -> Void

  var testDescription: String { defect }
}

private let huge = UInt64(1) << 63
private let queries = "blk.0.attn_q.weight"

private let containerDefects: [MalformedGGUF] = [
  .init(defect: "another magic", place: "header", mark: "start") { $0.magic = Array("GGML".utf8) },
  .init(defect: "version 1", place: "header", mark: "start", delta: 4) { $0.version = 1 },
  .init(defect: "version 4", place: "header", mark: "start", delta: 4) { $0.version = 4 },
  .init(defect: "big-endian", place: "header", mark: "start", delta: 4) {
    $0.version = UInt32(3).byteSwapped
  },
  .init(defect: "2^63 tensors", place: "header", mark: "start", delta: 8) {
    $0.tensorCount = huge
  },
  .init(defect: "2^63 − 1 tensors", place: "header", mark: "start", delta: 8) {
    $0.tensorCount = huge - 1
  },
  .init(defect: "2^64 − 1 pairs", place: "header", mark: "start", delta: 16) {
    $0.pairCount = .max
  },
  .init(defect: "key of 2^62 bytes", place: "key-value pair 0", mark: "start", delta: 24) {
    $0.patches.append(("pair general.architecture", 0, GGUFWriter.little(UInt64(1) << 62)))
  },
  .init(defect: "empty key", place: "key-value pair 0", mark: "pair ") {
    $0.pairs.insert(("", .u8(1)), at: 0)
  },
  .init(
    defect: "key not UTF-8", place: "key-value pair 0", mark: "pair general.architecture", delta: 8
  ) {
    $0.patches.append(("pair general.architecture", 8, [0xFF]))
  },
  .init(defect: "string not UTF-8", place: "key general.name", mark: "value general.name", delta: 8)
  {
    $0.patches.append(("value general.name", 8, [0xC0, 0x80]))
  },
  .init(defect: "string past the end", place: "key general.name", mark: "value general.name") {
    $0.patches.append(("value general.name", 0, GGUFWriter.little(huge - 1)))
  },
  .init(defect: "key twice", place: "key general.name", mark: "twice") {
    $0.pairs.append(("general.name", .string("again")))
  },
  .init(defect: "value type 13", place: "key odd", mark: "value odd", delta: -4) {
    $0.set("odd", .init(type: 13, bytes: [0]))
  },
  .init(defect: "bool of 2", place: "key odd", mark: "value odd") { $0.set("odd", .bool(2)) },
  .init(defect: "array of type 99", place: "key odd", mark: "value odd") {
    $0.set("odd", .array(99, []))
  },
  .init(defect: "array of 2^63 elements", place: "key odd", mark: "value odd", delta: 4) {
    $0.set("odd", .init(type: 9, bytes: GGUFWriter.little(UInt32(0)) + GGUFWriter.little(huge)))
  },
  .init(defect: "array of more strings than fit", place: "key odd", mark: "value odd", delta: 4) {
    $0.set(
      "odd",
      .init(type: 9, bytes: GGUFWriter.little(UInt32(8)) + GGUFWriter.little(UInt64(1 << 20))))
  },
  .init(defect: "arrays nested 9 deep", place: "key odd", mark: "value odd", delta: 96) {
    $0.set("odd", (0..<8).reduce(.array(0, [])) { value, _ in .array(9, [value]) })
  },
  .init(defect: "alignment 0", place: "key general.alignment", mark: "value general.alignment") {
    $0.set("general.alignment", .u32(0))
  },
  .init(defect: "alignment 24", place: "key general.alignment", mark: "value general.alignment") {
    $0.set("general.alignment", .u32(24))
  },
  .init(
    defect: "alignment 2^63", place: "key general.alignment", mark: "value general.alignment"
  ) { $0.set("general.alignment", .u64(huge)) },
  .init(
    defect: "alignment a string", place: "key general.alignment", mark: "value general.alignment"
  ) { $0.set("general.alignment", .string("32")) },
]

private let directoryDefects: [MalformedGGUF] = [
  .init(defect: "name twice", place: "tensor token_embd.weight", mark: "twice tensor") {
    $0.tensors[1].name = "token_embd.weight"
  },
  .init(defect: "empty name", place: "tensor 1", mark: "tensor ") { $0.tensors[1].name = "" },
  .init(defect: "no dimensions", place: "tensor \(queries)", mark: "rank \(queries)") {
    $0.change(queries) { $0.dimensions = [] }
  },
  .init(defect: "5 dimensions", place: "tensor \(queries)", mark: "rank \(queries)") {
    $0.change(queries) { $0.dimensions = [1, 1, 1, 1, 1] }
  },
  .init(defect: "dimension 0", place: "tensor \(queries)", mark: "dimensions \(queries)", delta: 8)
  {
    $0.change(queries) { $0.dimensions = [32, 0] }
  },
  .init(defect: "dimension 2^63", place: "tensor \(queries)", mark: "dimensions \(queries)") {
    $0.change(queries) { $0.dimensions = [huge, 1] }
  },
  .init(defect: "product overflows", place: "tensor \(queries)", mark: "rank \(queries)") {
    $0.change(queries) { $0.dimensions = [1 << 32, 1 << 32] }
  },
  .init(defect: "byte count overflows", place: "tensor \(queries)", mark: "rank \(queries)") {
    $0.change(queries) { $0.dimensions = [1 << 31, 1 << 31] }
  },
  .init(defect: "type 36", place: "tensor \(queries)", mark: "type \(queries)") {
    $0.change(queries) { $0.type = 36 }
  },
  .init(defect: "type 2^32 − 1", place: "tensor \(queries)", mark: "type \(queries)") {
    $0.change(queries) { $0.type = .max }
  },
  .init(defect: "Q4_K of 32 columns", place: "tensor \(queries)", mark: "rank \(queries)") {
    $0.change(queries) { $0.type = 12 }
  },
  .init(defect: "offset unaligned", place: "tensor \(queries)", mark: "offset \(queries)") {
    $0.change(queries) { $0.offset = 16 }
  },
  .init(defect: "offset 2^64 − 32", place: "tensor \(queries)", mark: "offset \(queries)") {
    $0.change(queries) { $0.offset = 0 &- 32 }
  },
  .init(defect: "offset 2^63 − 32", place: "tensor \(queries)", mark: "tensor \(queries)") {
    $0.change(queries) { $0.offset = huge - 32 }
  },
  .init(defect: "offset past the end", place: "tensor \(queries)", mark: "tensor \(queries)") {
    $0.change(queries) { $0.offset = 1 << 20 }
  },
  .init(
    defect: "overlapping data", place: "tensor output_norm.weight",
    mark: "tensor output_norm.weight"
  ) { $0.tensors[1].offset = 32 },
  .init(
    defect: "data cut off", place: "tensor blk.0.ffn_down.weight",
    mark: "tensor blk.0.ffn_down.weight"
  ) { $0.truncation = 1 },
]

private let modelDefects: [MalformedGGUF] = [
  .init(defect: "no architecture", place: "key general.architecture") {
    $0.remove("general.architecture")
  },
  .init(
    defect: "architecture gemma3", place: "key general.architecture",
    mark: "value general.architecture"
  ) { $0.set("general.architecture", .string("gemma3")) },
  metadata("block_count", nil, "no layer count"),
  metadata("block_count", .u64(huge), "2^63 layers"),
  metadata("block_count", .u32(0), "no layers"),
  metadata("block_count", .f32(1), "layer count a float"),
  .init(defect: "2^31 − 1 layers", place: "tensor blk.1.attn_norm.weight") {
    $0.set("llama.block_count", .u32(UInt32(Int32.max)))
  },
  metadata("attention.head_count", .u32(0), "no heads"),
  metadata("attention.head_count", .u32(5), "heads no multiple of key-value heads", "_kv"),
  metadata("attention.head_count", .u32(6), "hidden size no multiple of heads"),
  metadata("attention.head_count_kv", .array(4, [.u32(2)]), "a count a layer"),
  metadata("attention.head_count_kv", .u32(0), "no key-value heads"),
  metadata("attention.value_length", .u32(16), "value length unlike key length"),
  metadata("attention.layer_norm_rms_epsilon", nil, "no epsilon"),
  metadata("attention.layer_norm_rms_epsilon", .f32(.nan), "epsilon NaN"),
  metadata("attention.layer_norm_rms_epsilon", .f32(0), "epsilon 0"),
  metadata("context_length", nil, "no context length"),
  metadata("feed_forward_length", .i32(-1), "feed-forward size −1"),
  metadata("rope.freq_base", .f32(-1), "RoPE base negative"),
  metadata("rope.freq_base", .f32(.infinity), "RoPE base infinite"),
  metadata("rope.dimension_count", .u32(10), "more rotated than head elements"),
  metadata("rope.dimension_count", .u32(7), "odd number of rotated elements"),
  metadata("rope.scaling.type", .string("yarn"), "YaRN"),
  metadata("rope.scaling.factor", .f32(2), "linear RoPE scaling"),
  metadata("expert_count", .u32(8), "experts"),
  metadata("logit_scale", .f32(16), "logits scaled"),
  metadata("vocab_size", .u32(9), "vocabulary unlike the embedding"),
  .init(defect: "shape unlike metadata", place: "tensor \(queries)", mark: "tensor \(queries)") {
    $0.change(queries) { $0.dimensions = [64, 16] }
  },
  .init(defect: "tensor missing", place: "tensor \(queries)") {
    $0.tensors.removeAll { $0.name == queries }
  },
  .init(defect: "embedding missing", place: "tensor token_embd.weight") {
    $0.tensors.remove(at: 0)
  },
  .init(
    defect: "tensor too many", place: "tensor blk.1.attn_norm.weight",
    mark: "tensor blk.1.attn_norm.weight"
  ) {
    $0.addFloats("blk.1.attn_norm.weight", [32])
  },
  .init(defect: "RoPE factors", place: "tensor rope_freqs.weight", mark: "tensor rope_freqs.weight")
  {
    $0.addFloats("rope_freqs.weight", [4])
  },
  .init(defect: "one bias of three", place: "tensor blk.0.attn_k.bias") {
    $0.addFloats("blk.0.attn_q.bias", [32])
  },
  tokenizer("tokens", nil, "no tokens"),
  tokenizer("tokens", .array(8, []), "empty vocabulary"),
  tokenizer("tokens", .array(4, [.u32(1)]), "tokens not strings"),
  tokenizer("token_type", .array(5, [.i32(1)]), "too few token types"),
  tokenizer("token_type", .array(5, [3, 1, 1, 1, 1, 1, 1, 7].map { .i32($0) }), "token type 7"),
  tokenizer("merges", .array(8, [.string("ab")]), "merge without space"),
  tokenizer("merges", .array(8, [.string("a b"), .string("a z")]), "merge of an unknown token"),
  tokenizer("eos_token_id", .u32(8), "end token outside the vocabulary"),
  tokenizer("add_bos_token", .u8(1), "flag not a bool"),
]

private func metadata(
  _ suffix: String, _ value: GGUFWriter.Value?, _ defect: String, _ more: String = ""
) -> MalformedGGUF {
  pair("llama.\(suffix)", value, defect, place: "llama.\(suffix)\(more)")
}

private func tokenizer(
  _ suffix: String, _ value: GGUFWriter.Value?, _ defect: String
) -> MalformedGGUF {
  let key = "tokenizer.ggml.\(suffix)"
  return pair(key, value, defect, place: key)
}

private func pair(
  _ key: String, _ value: GGUFWriter.Value?, _ defect: String, place: String
) -> MalformedGGUF {
  MalformedGGUF(
    defect: defect, place: "key \(place)", mark: value == nil ? nil : "value \(place)"
  ) { writer in
    if let value { writer.set(key, value) } else { writer.remove(key) }
  }
}

@Suite struct GGUFMalformedTests {
  @Test(arguments: containerDefects + directoryDefects + modelDefects)
  func namesFilePlaceAndOffset(_ malformed: MalformedGGUF) throws {
    var writer = GGUFWriter.model()
    malformed.change(&writer)
    let (bytes, marks) = writer.malformed()
    try withTemporaryFile(bytes) { path in
      let error = try #require(
        #expect(throws: InputError.self) { try GGUFModel(path: path) })
      #expect(error.file == path)
      #expect(error.place == malformed.place, "\(error)")
      let offset = try malformed.mark.map { try #require(marks[$0]) + malformed.delta }
      #expect(error.offset == offset, "\(error)")
    }
  }

  @Test func refusesEveryTruncation() throws {
    let bytes = GGUFWriter.model().build().bytes
    for count in Array(0..<1500) + stride(from: 1500, to: bytes.count, by: 997) {
      try withTemporaryFile(Array(bytes[..<count])) { path in
        let error = #expect(throws: InputError.self) { try GGUFModel(path: path) }
        #expect(error?.file == path)
        #expect((error?.offset ?? 0) <= count)
      }
    }
  }
}
