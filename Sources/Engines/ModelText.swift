import EngineInterface
import Files
import ModelFile
import TensorCore
import Tokenization

/// A model's tokenizer and chat template, opened without its weights.
///
/// A model without a tokenizer still runs on token ids; asking it for text is an error that says
/// so.
package final class ModelText: Sendable {
  private let file: String
  private let tokenizer: BPETokenizer?
  private let template: ChatTemplate?

  /// Builds the tokenizer and parses the template of a description, if there is one.
  package init(_ description: TokenizerDescription?, file: String) throws {
    self.file = file
    do {
      tokenizer = try description.map { description throws(TokenizerError) in
        try BPETokenizer(description)
      }
    } catch {
      throw InputError(file: file, place: "tokenizer", reason: String(describing: error))
    }
    do {
      template = try description?.chatTemplate.map { source throws(ChatTemplateError) in
        try ChatTemplate(source: source)
      }
    } catch {
      throw InputError(file: file, place: "chat template", reason: String(describing: error))
    }
  }

  /// Tokens that end a response.
  var stopTokens: Set<Int32> { Set(tokenizer?.stopTokens ?? []) }

  /// The tokens that stand for text, in ascending order: neither control tokens nor unused ones.
  func textTokens() throws -> [Int32] {
    let tokenizer = try present()
    return (0..<Int32(tokenizer.tokenCount)).filter { tokenizer.kind(of: $0) == .normal }
  }

  /// Token ids of a text; bytes that are not UTF-8 count as U+FFFD.
  package func encode(_ bytes: [UInt8], recognizingSpecialTokens: Bool) throws -> [Int32] {
    try present().encode(bytes, recognizingSpecialTokens: recognizingSpecialTokens)
  }

  /// The exact bytes of token ids, control tokens included.
  package func decodeBytes(_ tokens: [Int32]) throws -> [UInt8] {
    do { return try present().decode(tokens, includingControlTokens: true) } catch let error
      as TokenizerError
    {
      throw InputError(file: file, place: "tokenizer", reason: String(describing: error))
    }
  }

  /// The text of token ids without control tokens.
  package func decode(_ tokens: [Int32]) throws -> String {
    try present().decodeText(tokens, includingControlTokens: false)
  }

  func render(_ messages: [Message], addsGenerationPrompt: Bool) throws -> String {
    guard let template else {
      throw InputError(file: file, place: "chat template", reason: "the model has none")
    }
    let tokenizer = try present()
    func text(_ token: Int32?) -> String {
      token.map { String(decoding: tokenizer.bytes(of: $0), as: UTF8.self) } ?? ""
    }
    return try template.render(
      messages: messages.map { ChatMessage(role: $0.role.rawValue, content: $0.content) },
      addsGenerationPrompt: addsGenerationPrompt,
      beginText: text(tokenizer.beginToken), endText: text(tokenizer.endToken))
  }

  private func present() throws -> BPETokenizer {
    guard let tokenizer else {
      throw InputError(file: file, place: "tokenizer", reason: "the model has none")
    }
    return tokenizer
  }
}
