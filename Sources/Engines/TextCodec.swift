import EngineInterface
import Tokenization

/// A model's tokenizer and chat template, or the reason why it has none.
struct TextCodec: Sendable {
  let tokenizer: BPETokenizer?
  let template: ChatTemplate?
  let description: TokenizerDescription?

  /// A model without a tokenizer can still run on token ids; asking for text is then an error.
  init(_ description: TokenizerDescription?) throws {
    self.description = description
    tokenizer = try description.map { try BPETokenizer($0) }
    template = try description?.chatTemplate.map { try ChatTemplate(source: $0) }
  }
}
