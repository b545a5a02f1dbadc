import Foundation
import TestSupport

/// A whole model of 200 kB with seeded weights: two layers, hidden 64, one token a byte, ChatML.
/// It answers nonsense, through every part of the path that a real one takes.
struct TinyModel {
  var architecture = "llama"
  var hasTokenizer = true
  var contextLength = 256
  /// Tokens after those of the alphabet, to make the model larger.
  var extraTokens = 0
  var chatTemplate = Self.chatML
  var tokenizerModel = "gpt2"
  var preTokenizer = "smollm"
  var merges = ["t h"]
  /// Whether no token stands for text.
  var hasControlTokensAlone = false
  /// A tensor whose row 1 holds a NaN.
  var brokenTensor: String?

  static let hidden = 64
  static let feedForward = 128
  static let layers = 2

  /// A token a byte in GPT-2's alphabet, one merge, and the two marks of ChatML.
  static let tokens: [String] = {
    var alphabet: [String] = []
    var shifted: UInt32 = 256
    for byte in UInt32(0)...255 {
      let isPrintable = (33...126).contains(byte) || (161...172).contains(byte) || byte >= 174
      let scalar = isPrintable ? byte : shifted
      if !isPrintable { shifted += 1 }
      alphabet.append(Unicode.Scalar(scalar).map { String($0) } ?? "")
    }
    return alphabet + ["th", "<|im_start|>", "<|im_end|>"]
  }()

  static let chatML = """
    {% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] \
    + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}\
    {{ '<|im_start|>assistant\n' }}{% endif %}
    """

  /// The GGUF file's bytes.
  var bytes: Data {
    var generator = SeededGenerator(seed: 7)
    var tensors: [(name: String, dimensions: [Int], values: [Float])] = []
    func add(_ name: String, _ dimensions: [Int]) {
      let count = dimensions.reduce(1, *)
      var values = (0..<count).map { _ in
        dimensions.count == 1 ? Float(1) : Float.random(in: -0.25...0.25, using: &generator)
      }
      if name == brokenTensor { values[dimensions[1] + 3] = .nan }
      tensors.append((name, dimensions, values))
    }
    add("token_embd.weight", [Self.tokens.count + extraTokens, Self.hidden])
    add("output_norm.weight", [Self.hidden])
    for layer in 0..<Self.layers {
      for (name, dimensions) in [
        ("attn_norm", [64]), ("attn_q", [64, 64]), ("attn_k", [32, 64]), ("attn_v", [32, 64]),
        ("attn_output", [64, 64]), ("ffn_norm", [64]), ("ffn_gate", [128, 64]),
        ("ffn_up", [128, 64]), ("ffn_down", [64, 128]),
      ] {
        add("blk.\(layer).\(name).weight", dimensions)
      }
    }
    var file = Data("GGUF".utf8) + little(UInt32(3)) + little(UInt64(tensors.count))
    let pairs = metadata
    file += little(UInt64(pairs.count))
    for pair in pairs { file += pair }
    var offset = 0
    for tensor in tensors {
      file += text(tensor.name) + little(UInt32(tensor.dimensions.count))
      for dimension in tensor.dimensions.reversed() { file += little(UInt64(dimension)) }
      file += little(UInt32(0)) + little(UInt64(offset))
      offset += tensor.values.count * 4
    }
    file += Data(count: (32 - file.count % 32) % 32)
    // Every tensor is a multiple of 32 bytes long.
    for tensor in tensors {
      file.append(
        contentsOf: tensor.values.flatMap { value in
          let bits = value.bitPattern
          return [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: bits >> $0) }
        })
    }
    return file
  }

  private var metadata: [Data] {
    var pairs = [
      string("general.architecture", architecture), string("general.name", "tiny"),
      number("block_count", Self.layers), number("context_length", contextLength),
      number("embedding_length", Self.hidden), number("feed_forward_length", Self.feedForward),
      number("attention.head_count", 4), number("attention.head_count_kv", 2),
      text("\(architecture).attention.layer_norm_rms_epsilon") + little(UInt32(6))
        + little(Float(0x1p-17).bitPattern),
    ]
    guard hasTokenizer else { return pairs }
    pairs += [
      string("tokenizer.ggml.model", tokenizerModel),
      string("tokenizer.ggml.pre", preTokenizer),
      array(
        "tokenizer.ggml.tokens", 8,
        Self.tokens.map(text) + (0..<extraTokens).map { text("extra\($0)") }),
      array(
        "tokenizer.ggml.token_type", 5,
        (Self.tokens.map { $0.hasPrefix("<|im") || hasControlTokensAlone ? 3 : 1 }
          + repeatElement(1, count: extraTokens))
          .map { little(Int32($0)) }),
      array("tokenizer.ggml.merges", 8, merges.map(text)),
      text("tokenizer.ggml.eos_token_id") + little(UInt32(4))
        + little(UInt32(Self.tokens.count - 1)),
      string("tokenizer.chat_template", chatTemplate),
    ]
    return pairs
  }

  private func little<Number: FixedWidthInteger>(_ value: Number) -> Data {
    Data((0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
  }

  private func text(_ value: String) -> Data { little(UInt64(value.utf8.count)) + Data(value.utf8) }

  private func string(_ key: String, _ value: String) -> Data {
    text(key) + little(UInt32(8)) + text(value)
  }

  private func number(_ key: String, _ value: Int) -> Data {
    text("\(architecture).\(key)") + little(UInt32(4)) + little(UInt32(value))
  }

  private func array(_ key: String, _ type: UInt32, _ elements: [Data]) -> Data {
    text(key) + little(UInt32(9)) + little(type) + little(UInt64(elements.count))
      + Data(elements.joined())
  }
}

/// The models and inputs that the tests share, made once.
struct Samples {
  let folder: TemporaryFolder
  var gguf: String { folder.file("tiny.gguf") }
  var packed: String { folder.file("tiny.afmw") }

  static let shared = Result { try Samples() }

  private init() throws {
    folder = try TemporaryFolder()
    try TinyModel().bytes.write(to: folder.url("tiny.gguf"))
    try TinyModel(hasTokenizer: false).bytes.write(to: folder.url("mute.gguf"))
    try TinyModel(architecture: "starlight").bytes.write(to: folder.url("starlight.gguf"))
    try TinyModel(brokenTensor: "blk.1.attn_k.weight").bytes.write(to: folder.url("nan.gguf"))
    let texts = [
      ("text", String(repeating: "The path of the thread. ", count: 20)), ("prompt", "the path"),
      ("empty", ""), ("ids", "[116, 104, 256, 258]"), ("outside", "[1, 2, 259]"), ("none", "[]"),
      ("broken", "[1"),
      ("noise", String(repeating: "neither a model nor a recording. ", count: 20)),
      ("long", String(repeating: "x", count: 300)),
      ("many", "[" + repeatElement("1", count: 300).joined(separator: ",") + "]"),
    ]
    for (name, text) in texts { try Data(text.utf8).write(to: folder.url(name)) }
    let result = try Program.run(["pack", gguf, packed, "--weights", "s8c"])
    guard result.status == 0 else { throw Failure(description: "pack: \(result)") }
    let whole = try Data(contentsOf: folder.url("tiny.afmw"))
    try whole.dropLast(whole.count / 2).write(to: folder.url("short.afmw"))
    var flipped = whole
    flipped[whole.count / 2] ^= 0x10
    try flipped.write(to: folder.url("flipped.afmw"))
  }

  struct Failure: Error, CustomStringConvertible { var description: String }

  /// Replaces `@name` by the path of a sample.
  func arguments(_ line: String) -> [String] {
    line.split(separator: " ").map {
      $0.hasPrefix("@") ? folder.file(String($0.dropFirst())) : String($0)
    }
  }
}
