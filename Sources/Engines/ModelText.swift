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
      throw Self.fault(error, in: file)
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
    try naming {
      try present().encode(bytes, recognizingSpecialTokens: recognizingSpecialTokens)
    }
  }

  /// The exact bytes of token ids, control tokens included.
  package func decodeBytes(_ tokens: [Int32]) throws -> [UInt8] {
    try naming { try present().decode(tokens, includingControlTokens: true) }
  }

  /// The text of token ids without control tokens.
  package func decode(_ tokens: [Int32]) throws -> String {
    try naming { try present().decodeText(tokens, includingControlTokens: false) }
  }

  /// A decoder for the tokens of one text.
  func makeTextStream() throws -> any TextStream { BPETextStream(try present()) }

  /// The conversation in the model's template.
  ///
  /// With `addsGenerationPrompt` the text is a prompt, so that a template that renders none is an
  /// error; without it, it may be a part of one that the template leaves out.
  func render(_ messages: [Message], addsGenerationPrompt: Bool) throws -> String {
    guard let template else {
      throw InputError(file: file, place: "chat template", reason: "the model has none")
    }
    let tokenizer = try present()
    func text(_ token: Int32?) -> String {
      token.map { String(decoding: tokenizer.bytes(of: $0), as: UTF8.self) } ?? ""
    }
    let rendered: String
    do throws(ChatTemplateError) {
      rendered = try template.render(
        messages: messages.map { ChatMessage(role: $0.role.rawValue, content: $0.content) },
        addsGenerationPrompt: addsGenerationPrompt,
        beginText: text(tokenizer.beginToken), endText: text(tokenizer.endToken))
    } catch {
      throw Self.fault(error, in: file)
    }
    guard !rendered.isEmpty || !addsGenerationPrompt else {
      throw InputError(
        file: file, place: "chat template", reason: "it renders no text for the conversation")
    }
    return rendered
  }

  /// What is wrong with a template, at its line.
  private static func fault(_ error: ChatTemplateError, in file: String) -> InputError {
    InputError(file: file, place: "chat template: line \(error.line)", reason: error.reason)
  }

  /// Names the file where the tokenizer refuses something.
  private func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as TokenizerError {
      throw InputError(file: file, place: "tokenizer", reason: String(describing: error))
    }
  }

  private func present() throws -> BPETokenizer {
    guard let tokenizer else {
      throw InputError(file: file, place: "tokenizer", reason: "the model has none")
    }
    return tokenizer
  }
}

/// The tokenizer's stream as engines offer it; control tokens are left out.
private struct BPETextStream: TextStream {
  private var decoder: TokenStreamDecoder

  init(_ tokenizer: BPETokenizer) { decoder = TokenStreamDecoder(tokenizer) }

  mutating func append(_ token: Int32) throws -> String { try decoder.append(token) }

  mutating func finish() -> String { decoder.finish() }
}
