import TensorCore
import Tokenization

// Single files of a Hugging Face folder, out of memory.

extension ModelHeader {
  /// The header that a `config.json` describes.
  package init(huggingFaceConfiguration bytes: [UInt8], name: String) throws(InputError) {
    self = try HuggingFaceConfiguration(parsing: bytes).header(name: name)
  }
}

extension TokenizerDescription {
  /// The tokenizer that a `tokenizer.json` describes, for a model whose vocabulary has that many
  /// entries; without special tokens, which other files name.
  package init(huggingFaceTokenizer bytes: [UInt8], vocabularySize: Int) throws(InputError) {
    self = try HuggingFaceTokenizer(parsing: bytes, vocabularySize: vocabularySize).description(
      special: { _ in nil }, addsBeginToken: nil, chatTemplate: nil)
  }
}
