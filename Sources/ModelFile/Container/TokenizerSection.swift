import TensorCore
import Tokenization

/// A tokenizer in its stored form: section `TOKN`.
///
/// | offset | bytes | field |
/// | --- | --- | --- |
/// | 0 | 4 | token count |
/// | 4 | 4 | merge count |
/// | 8 | 16 | begin, end, unknown and padding token, 0xFFFFFFFF for none |
/// | 24 | 4 | flags: bit 0 adds the begin token, bit 1 has a chat template |
/// | 28 | 4 | byte count of the model name |
/// | 32 | 4 | byte count of the pre-tokenizer name |
/// | 36 | 4 | byte count of the chat template |
/// | 40 | 4 · tokens | end of each token in the token bytes |
/// | | 8 · merges | left and right id |
/// | | tokens | kind of each token |
/// | | | model name, pre-tokenizer name, chat template, token bytes, all UTF-8 |
enum TokenizerSection {
  private static let noToken = UInt32.max

  /// Why a tokenizer cannot be stored, or nil where it can.
  static func fault(_ tokenizer: TokenizerDescription) -> String? {
    let count = tokenizer.tokens.count
    guard tokenizer.kinds.count == count else {
      return "\(count) tokens have \(tokenizer.kinds.count) kinds"
    }
    let special = [
      tokenizer.beginToken, tokenizer.endToken, tokenizer.unknownToken, tokenizer.paddingToken,
    ]
    for case let token? in special where token < 0 || token >= count {
      return "special token \(token) of \(count)"
    }
    if let merge = tokenizer.merges.first(where: { $0.left >= count || $0.right >= count }) {
      return "a merge of tokens \(merge.left) and \(merge.right) of \(count)"
    }
    let texts = [tokenizer.model, tokenizer.preTokenizer, tokenizer.chatTemplate ?? ""]
    let bytes = (tokenizer.tokens + texts).reduce(0) { $0 + $1.utf8.count }
    let total = bytes + count * 5 + tokenizer.merges.count * 8
    return total > ContainerLayout.tokenizerByteLimit ? "\(total) bytes are too many" : nil
  }

  /// The section's bytes of a tokenizer without fault.
  static func encode(_ tokenizer: TokenizerDescription) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendLittleEndian(UInt32(tokenizer.tokens.count))
    bytes.appendLittleEndian(UInt32(tokenizer.merges.count))
    for token in [
      tokenizer.beginToken, tokenizer.endToken, tokenizer.unknownToken, tokenizer.paddingToken,
    ] {
      bytes.appendLittleEndian(token.map { UInt32($0) } ?? noToken)
    }
    let flags = (tokenizer.addsBeginToken ? 1 : 0) | (tokenizer.chatTemplate == nil ? 0 : 2)
    bytes.appendLittleEndian(UInt32(flags))
    let texts = [tokenizer.model, tokenizer.preTokenizer, tokenizer.chatTemplate ?? ""]
    for text in texts { bytes.appendLittleEndian(UInt32(text.utf8.count)) }
    var end: UInt32 = 0
    for token in tokenizer.tokens {
      end += UInt32(token.utf8.count)
      bytes.appendLittleEndian(end)
    }
    for merge in tokenizer.merges {
      bytes.appendLittleEndian(merge.left)
      bytes.appendLittleEndian(merge.right)
    }
    for kind in tokenizer.kinds { bytes.append(kind.rawValue) }
    for text in texts { bytes += Array(text.utf8) }
    for token in tokenizer.tokens { bytes += Array(token.utf8) }
    return bytes
  }

  static func parse(_ section: IndexReader) throws(InputError) -> TokenizerDescription {
    var reader = section
    let tokenCount = Int(try reader.integer(UInt32.self, for: "the token count"))
    let mergeCount = Int(try reader.integer(UInt32.self, for: "the merge count"))
    var special: [Int?] = []
    for name in ["begin", "end", "unknown", "padding"] {
      let offset = reader.offset
      let id = try reader.integer(UInt32.self, for: "the \(name) token")
      guard id == noToken || id < tokenCount else {
        throw reader.error("the \(name) token is \(id) of \(tokenCount)", at: offset)
      }
      special.append(id == noToken ? nil : Int(id))
    }
    let flags = try reader.integer(UInt32.self, for: "the flags")
    guard flags & ~3 == 0 else { throw reader.error("flags \(flags) are unknown", at: reader.base) }
    let modelBytes = Int(try reader.integer(UInt32.self, for: "the model name's byte count"))
    let preBytes = Int(try reader.integer(UInt32.self, for: "the pre-tokenizer's byte count"))
    let templateBytes = Int(try reader.integer(UInt32.self, for: "the template's byte count"))
    // All counts are below 2^32: the products fit, and `take` holds them against the section.
    var ends = reader
    _ = try reader.take(tokenCount * 4, for: "the token ends")
    let merges = try self.merges(&reader, count: mergeCount, tokenCount: tokenCount)
    let kinds = try self.kinds(&reader, count: tokenCount)
    let model = try reader.string(byteCount: modelBytes, for: "the model name")
    let pre = try reader.string(byteCount: preBytes, for: "the pre-tokenizer name")
    let template = try reader.string(byteCount: templateBytes, for: "the chat template")
    guard flags & 2 != 0 || template.isEmpty else {
      throw reader.error("a chat template that the flags deny")
    }
    var tokens: [String] = []
    tokens.reserveCapacity(tokenCount)
    var position = 0
    for index in 0..<tokenCount {
      let end = Int(try ends.integer(UInt32.self, for: "a token end"))
      guard end >= position else {
        throw ends.error("token \(index) ends before it begins", at: ends.offset - 4)
      }
      tokens.append(try reader.string(byteCount: end - position, for: "token \(index)"))
      position = end
    }
    guard reader.remaining == 0 else {
      throw reader.error("\(reader.remaining) bytes follow the last token")
    }
    return TokenizerDescription(
      model: model, preTokenizer: pre, tokens: tokens, kinds: kinds, merges: merges,
      beginToken: special[0], endToken: special[1], unknownToken: special[2],
      paddingToken: special[3], addsBeginToken: flags & 1 != 0,
      chatTemplate: flags & 2 != 0 ? template : nil)
  }

  private static func merges(
    _ reader: inout IndexReader, count: Int, tokenCount: Int
  ) throws(InputError) -> [TokenizerDescription.Merge] {
    let start = reader.offset
    var ids = reader
    _ = try reader.take(count * 8, for: "the merges")
    var merges: [TokenizerDescription.Merge] = []
    merges.reserveCapacity(count)
    for index in 0..<count {
      let left = try ids.integer(UInt32.self, for: "a merge")
      let right = try ids.integer(UInt32.self, for: "a merge")
      guard left < tokenCount, right < tokenCount else {
        throw reader.error(
          "merge \(index) of tokens \(left) and \(right) of \(tokenCount)", at: start + index * 8)
      }
      merges.append(.init(left: left, right: right))
    }
    return merges
  }

  private static func kinds(
    _ reader: inout IndexReader, count: Int
  ) throws(InputError) -> [TokenizerDescription.TokenKind] {
    let start = reader.offset
    let range = try reader.take(count, for: "the token kinds")
    var kinds: [TokenizerDescription.TokenKind] = []
    kinds.reserveCapacity(count)
    for index in range {
      guard let kind = TokenizerDescription.TokenKind(rawValue: reader.bytes[index]) else {
        throw reader.error(
          "token \(kinds.count) has the unknown kind \(reader.bytes[index])",
          at: start + kinds.count)
      }
      kinds.append(kind)
    }
    return kinds
  }
}
