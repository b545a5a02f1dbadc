import TensorCore

/// Recognises the pre-tokenizers of `tokenizer.json` that are built in here, by their definition.
enum HuggingFacePreTokenizer {
  /// The expressions of Qwen2 and Llama 3, as their files have them.
  private static let expressions = [
    #"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"#
      + #"\s*[\r\n]+|\s+(?!\S)|\s+"#: "qwen2",
    #"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"#
      + #"\s*[\r\n]+|\s+(?!\S)|\s+"#: "llama-bpe",
  ]

  /// Our name of a tokenizer's way to cut text.
  ///
  /// - Parameters:
  ///   - root: the whole `tokenizer.json` but vocabulary and merges.
  static func name(in root: JSONNode) throws(InputError) -> String {
    guard let node = root["pre_tokenizer"] else {
      throw root.error("pre_tokenizer", "the name is missing")
    }
    let name = try name(of: node)
    try checkNormalizer(root, preTokenizer: name)
    let keepsTokens = try root["model"]?.bool("ignore_merges") ?? false
    guard keepsTokens == (name == "llama-bpe") else {
      throw (root["model"] ?? root).error(
        "ignore_merges", "\(keepsTokens) is not supported with the pre-tokenizer \(name)")
    }
    return name
  }

  private static func name(of node: JSONNode) throws(InputError) -> String {
    guard let type = try node.string("type") else { throw node.error("type", "it is missing") }
    if type == "ByteLevel" {
      try checkByteLevel(node, cuts: true)
      return "gpt-2"
    }
    guard type == "Sequence", let parts = node["pretokenizers"]?.elements, parts.count == 2 else {
      throw node.error("the pre-tokenizer \(type) is not supported")
    }
    let first = try parts[0].string("type") ?? "without a type"
    switch first {
    case "Digits":
      guard try parts[0].bool("individual_digits") == true else {
        throw parts[0].error("digits that stay together are not supported")
      }
      try checkByteLevel(parts[1], cuts: true)
      return "smollm"
    case "Split":
      guard let expression = try parts[0]["pattern"]?.string("Regex"),
        let name = expressions[expression]
      else { throw parts[0].error("the expression is none of those that are known") }
      guard try parts[0].string("behavior") == "Isolated", try parts[0].bool("invert") != true
      else { throw parts[0].error("a split that is not isolated is not supported") }
      try checkByteLevel(parts[1], cuts: false)
      return name
    default: throw parts[0].error("the pre-tokenizer \(first) is not supported")
    }
  }

  private static func checkByteLevel(_ node: JSONNode, cuts: Bool) throws(InputError) {
    guard try node.string("type") == "ByteLevel" else {
      throw node.error("a pre-tokenizer other than ByteLevel is not supported here")
    }
    if try node.bool("add_prefix_space") ?? true {
      throw node.error("add_prefix_space", "a space in front of every text is not supported")
    }
    guard try node.bool("use_regex") ?? true == cuts else {
      throw node.error("use_regex", "\(!cuts) is not supported here")
    }
  }

  /// Normalisation form C belongs to `qwen2`, no normalisation to the others.
  private static func checkNormalizer(
    _ root: JSONNode, preTokenizer: String
  ) throws(InputError) {
    let normalizer = try root["normalizer"]?.string("type") ?? "none"
    guard normalizer == (preTokenizer == "qwen2" ? "NFC" : "none") else {
      throw root.error(
        "normalizer", "\(normalizer) is not supported with the pre-tokenizer \(preTokenizer)")
    }
  }
}
