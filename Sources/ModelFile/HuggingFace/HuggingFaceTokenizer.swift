import TensorCore
import Tokenization

/// Reads a Hugging Face `tokenizer.json`: byte-level BPE. The rules are those of
/// <doc:HuggingFace>.
package struct HuggingFaceTokenizer {
  static let byteCountLimit = 1 << 27

  private let vocabularySize: Int
  /// The texts of the ids that have one.
  private var tokens: [String?]
  private var kinds: [TokenizerDescription.TokenKind]
  /// Pairs of texts, or one text with a space.
  private var merges: [TokenizerDescription.Merge] = []
  /// Everything but vocabulary, merges and added tokens.
  private var root: JSONNode

  /// Parses a file for a model whose vocabulary has that many entries.
  ///
  /// Memory: a small multiple of the file, and 16 bytes an entry of the vocabulary.
  package init(parsing bytes: [UInt8], vocabularySize: Int) throws(InputError) {
    self.vocabularySize = vocabularySize
    tokens = Array(repeating: nil, count: vocabularySize)
    kinds = Array(repeating: .normal, count: vocabularySize)
    root = try JSONNode(parsing: Array("{}".utf8))
    try readSmallParts(bytes)
    // The vocabulary may stand behind the merges and the tokens that are added to it.
    try readVocabulary(bytes)
    try readAddedTokens(bytes)
    try readMerges(bytes)
  }

  /// The description; `special` finds special tokens by their role: `bos`, `eos`, `unk`, `pad`.
  package func description(
    special: (String) throws(InputError) -> Int?, addsBeginToken: Bool?, chatTemplate: String?
  ) throws(InputError) -> TokenizerDescription {
    let begin = try special("bos")
    let texts = tokens.enumerated().map { $1 ?? "[PAD\($0)]" }
    return TokenizerDescription(
      model: "gpt2", preTokenizer: try HuggingFacePreTokenizer.name(in: root), tokens: texts,
      kinds: kinds, merges: merges, beginToken: begin, endToken: try special("eos"),
      unknownToken: try special("unk"), paddingToken: try special("pad"),
      addsBeginToken: try beginsTexts(begin) || (addsBeginToken ?? false && begin != nil),
      chatTemplate: chatTemplate)
  }

  /// The id of a token, by its text.
  func token(_ text: String) -> Int? {
    tokens.firstIndex { $0.map { Array($0.utf8) == Array(text.utf8) } ?? false }
  }
}

// MARK: - Reading

extension HuggingFaceTokenizer {
  /// Visits the members of the file's object, and those of its model.
  private static func members(
    of bytes: [UInt8], model: (inout JSONReader, String) throws(InputError) -> Void,
    other: (inout JSONReader, String) throws(InputError) -> Void
  ) throws(InputError) {
    var reader = JSONReader(bytes)
    try reader.object { reader, name throws(InputError) in
      guard name == "model" else { return try other(&reader, name) }
      try reader.object { reader, name throws(InputError) in
        reader.place = "model.\(name)"
        try model(&reader, name)
        reader.place = ""
      }
    }
    try reader.end()
  }

  /// Pre-tokenizer, normalizer, post-processor, decoder, and the model's switches.
  private mutating func readSmallParts(_ bytes: [UInt8]) throws(InputError) {
    var parts: [String: JSONNode] = [:]
    var model: [String: JSONNode] = [:]
    var budget = JSONNode.valueLimit
    var merges = 0
    try Self.members(
      of: bytes,
      model: { reader, name throws(InputError) in
        switch name {
        case "vocab": try reader.skip()
        case "merges":
          try reader.array { reader throws(InputError) in
            merges += 1
            try reader.skip()
          }
        default:
          model[name] = try JSONNode(reading: &reader, place: "model.\(name)", budget: &budget)
        }
      },
      other: { reader, name throws(InputError) in
        switch name {
        case "pre_tokenizer", "normalizer", "post_processor", "decoder":
          parts[name] = try JSONNode(reading: &reader, place: name, budget: &budget)
        default: try reader.skip()
        }
      })
    parts["model"] = JSONNode(members: model, place: "model")
    root = JSONNode(members: parts, place: "")
    self.merges.reserveCapacity(merges)
    try checkModel(JSONNode(members: model, place: "model"))
    if let type = try root["decoder"]?.string("type"), type != "ByteLevel" {
      throw root.error("decoder", "\(type) is not supported, only ByteLevel")
    }
  }

  private func checkModel(_ model: JSONNode) throws(InputError) {
    let type = try model.string("type") ?? "BPE"
    guard type == "BPE" else { throw model.error("type", "\(type) is not supported, only BPE") }
    if try model.bool("byte_fallback") == true {
      throw model.error("byte_fallback", "it is not supported: only byte-level BPE is")
    }
    if let dropout = try model.number("dropout"), dropout != 0 {
      throw model.error("dropout", "\(dropout) is not supported")
    }
    for name in ["continuing_subword_prefix", "end_of_word_suffix"] {
      if let text = try model.string(name), !text.isEmpty {
        throw model.error(name, "\"\(text)\" is not supported")
      }
    }
  }

  private mutating func readVocabulary(_ bytes: [UInt8]) throws(InputError) {
    var tokens = self.tokens
    var isThere = false
    try Self.members(
      of: bytes,
      model: { reader, name throws(InputError) in
        guard name == "vocab" else { return try reader.skip() }
        isThere = true
        try reader.object { reader, text throws(InputError) in
          let start = reader.offset
          let id = try reader.count()
          guard id < tokens.count else {
            throw reader.error(
              "the id \(id) lies outside the model's vocabulary of \(tokens.count)", at: start)
          }
          guard tokens[id] == nil else {
            throw reader.error("two tokens have the id \(id)", at: start)
          }
          tokens[id] = text
        }
      }, other: { reader, _ throws(InputError) in try reader.skip() })
    guard isThere else { throw InputError(place: "model.vocab", reason: "the name is missing") }
    self.tokens = tokens
  }

  /// Added tokens: special ones are control tokens, the others user-defined. Ids that still have
  /// no text fill the vocabulary up, and no text means them.
  private mutating func readAddedTokens(_ bytes: [UInt8]) throws(InputError) {
    var tokens = self.tokens
    var kinds = self.kinds
    try Self.members(
      of: bytes, model: { reader, _ throws(InputError) in try reader.skip() },
      other: { reader, name throws(InputError) in
        guard name == "added_tokens" else { return try reader.skip() }
        var count = 0
        try reader.array { reader throws(InputError) in
          var budget = 64
          let node = try JSONNode(
            reading: &reader, place: "added_tokens.\(count)", budget: &budget)
          count += 1
          try Self.add(node, to: &tokens, kinds: &kinds)
        }
      })
    for id in tokens.indices where tokens[id] == nil { kinds[id] = .unused }
    self.tokens = tokens
    self.kinds = kinds
  }

  private static func add(
    _ node: JSONNode, to tokens: inout [String?], kinds: inout [TokenizerDescription.TokenKind]
  ) throws(InputError) {
    guard let content = try node.string("content"), !content.isEmpty,
      let number = try node.number("id"), let id = Int(exactly: number)
    else { throw node.error("an id and a content are expected") }
    guard id >= 0, id < tokens.count else {
      throw node.error(
        "the id \(id) lies outside the model's vocabulary of \(tokens.count)")
    }
    if let other = tokens[id], Array(other.utf8) != Array(content.utf8) {
      throw node.error("the vocabulary has another token \(id)")
    }
    for name in ["single_word", "lstrip", "rstrip"] where try node.bool(name) == true {
      throw node.error(name, "true is not supported")
    }
    tokens[id] = content
    kinds[id] = try node.bool("special") == true ? .control : .userDefined
  }

  /// A merge is a text with a space, or, in newer files, a pair of texts.
  private mutating func readMerges(_ bytes: [UInt8]) throws(InputError) {
    // A token that is added to the vocabulary takes part in no merge, but its id is taken.
    let index = TokenIndex(tokens.map { $0 ?? "" })
    var merges: [TokenizerDescription.Merge] = []
    merges.reserveCapacity(self.merges.capacity)
    try Self.members(
      of: bytes,
      model: { reader, name throws(InputError) in
        guard name == "merges" else { return try reader.skip() }
        try reader.array { reader throws(InputError) in
          let start = reader.offset
          switch try Self.merge(&reader, index) {
          case .success(let merge): merges.append(merge)
          case .failure(let fault):
            throw reader.error(fault.reason(merges.count), at: start)
          }
        }
      }, other: { reader, _ throws(InputError) in try reader.skip() })
    self.merges = merges
  }

  private static func merge(
    _ reader: inout JSONReader, _ index: TokenIndex
  ) throws(InputError) -> Result<TokenizerDescription.Merge, TokenIndex.Fault> {
    guard try reader.kind() == .array else { return index.merge(line: try reader.string()) }
    var pair: [String] = []
    try reader.array { reader throws(InputError) in
      guard pair.count < 2 else { throw reader.error("a merge of more than two tokens") }
      pair.append(try reader.string())
    }
    guard pair.count == 2 else { return .failure(.notTwoTokens) }
    return index.merge(left: pair[0].utf8, right: pair[1].utf8)
  }
}

// MARK: - Post-processor

extension HuggingFaceTokenizer {
  /// Whether the post-processor puts the begin token in front of a text. Refuses whatever else it
  /// may add.
  private func beginsTexts(_ begin: Int?) throws(InputError) -> Bool {
    guard let node = root["post_processor"] else { return false }
    return try begins(node, begin)
  }

  private func begins(_ node: JSONNode, _ begin: Int?) throws(InputError) -> Bool {
    let type = try node.string("type") ?? "without a type"
    switch type {
    case "ByteLevel": return false
    case "Sequence":
      var result = false
      for part in node["processors"]?.elements ?? [] {
        if try begins(part, begin) { result = true }
      }
      return result
    case "TemplateProcessing":
      let pieces = node["single"]?.elements ?? []
      var added: [String] = []
      for piece in pieces {
        if let name = try piece["SpecialToken"]?.string("id") { added.append(name) }
      }
      if added.isEmpty { return false }
      guard added.count == 1, pieces.first?["SpecialToken"] != nil, let begin,
        token(added[0]) == begin
      else {
        throw node.error("it adds tokens other than the begin token: \(added)")
      }
      return true
    default: throw node.error("the post-processor \(type) is not supported")
    }
  }
}
