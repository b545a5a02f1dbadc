import PackedFormats
import TensorCore
import Tokenization

/// A float model to pack from: what an importer (GGUF, later safetensors) shows of a file.
///
/// Tensor names are GGUF's (`token_embd.weight`, `blk.0.attn_q.weight`, …); shapes are row-major,
/// outermost first.
package protocol ModelSource {
  /// Architecture and hyperparameters, checked.
  var header: ModelHeader { get }
  /// The tokenizer, where the file has one.
  var tokenizer: TokenizerDescription? { get }
  /// Tensors in file order.
  var tensors: [SourceTensor] { get }
  /// Where the model came from: file name, byte count, digest, general.* strings.
  var provenance: [String: String] { get }
  /// Writes the given rows of a tensor as float32, row-major, into `output`, whose count is
  /// rows.count × columnCount. May be called from several threads.
  func readRows(
    _ rows: Range<Int>, ofTensor index: Int, into output: inout MutableSpan<Float>
  ) throws(InputError)
}

/// A tensor of a source file.
package struct SourceTensor: Hashable, Sendable {
  package var name: String
  package var shape: TensorShape
  /// The source's own type name: `Q4_K`, `F32`.
  package var typeName: String
  /// Bytes in the source file.
  package var byteCount: Int
  package init(name: String, shape: TensorShape, typeName: String, byteCount: Int) {
    self.name = name
    self.shape = shape
    self.typeName = typeName
    self.byteCount = byteCount
  }
}
