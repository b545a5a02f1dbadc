import PackedFormats
import TensorCore
import Tokenization

/// A GGUF file as a model to pack: header and tokenizer checked, every tensor of the architecture
/// there, in its shape, and no other.
///
/// Architectures: `llama` and `qwen2`, dense. Anything that would change the computation and that
/// the header cannot say (RoPE scaling, experts, another activation scale) is refused by key.
package final class GGUFModel: ModelSource, Sendable {
  package let header: ModelHeader
  package let tokenizer: TokenizerDescription?
  package let tensors: [SourceTensor]
  package let provenance: [String: String]
  /// The file underneath.
  package let file: GGUFFile

  /// Opens and checks a file.
  package convenience init(path: String) throws(InputError) {
    try self.init(GGUFFile(path: path))
  }

  /// Checks an open file.
  package init(_ file: GGUFFile) throws(InputError) {
    self.file = file
    do throws(InputError) {
      header = try GGUFHeaderReader(file).header()
      let entries = file.tensors.map {
        ModelTensorCheck.Entry(
          name: $0.name, shape: $0.shape, shownName: $0.name, offset: $0.entryOffset)
      }
      try ModelTensorCheck(entries, header: header).check()
      tokenizer = try TokenizerDescription(metadata: file.metadata)
      if let tokenizer, tokenizer.tokens.count != header.vocabularySize {
        throw file.metadata.error(
          "tokenizer.ggml.tokens",
          "\(tokenizer.tokens.count) tokens, but token_embd.weight has "
            + "\(header.vocabularySize) rows")
      }
    } catch {
      throw error.inFile(file.path)
    }
    tensors = file.tensors.map {
      SourceTensor(
        name: $0.name, shape: $0.shape, typeName: $0.type.name, byteCount: $0.byteCount)
    }
    provenance = Self.provenance(file)
  }

  package func readRows(
    _ rows: Range<Int>, ofTensor index: Int, into output: inout MutableSpan<Float>
  ) throws(InputError) {
    try file.readRows(rows, of: file.tensors[index], into: &output)
  }

  /// `format`, `file_name`, `byte_count` and the file's own general.* strings.
  private static func provenance(_ file: GGUFFile) -> [String: String] {
    var provenance = [
      "format": "GGUF version \(file.version)",
      "file_name": String(file.path.split(separator: "/").last ?? ""),
      "byte_count": String(file.byteCount),
    ]
    for entry in file.metadata.entries where entry.key.hasPrefix("general.") {
      switch entry.value {
      case .string(let text): provenance[entry.key] = text
      case .unsigned(let number): provenance[entry.key] = String(number)
      case .signed(let number): provenance[entry.key] = String(number)
      default: break
      }
    }
    return provenance
  }
}
