import PackedFormats
import TensorCore
import Tokenization

/// A model to pack from: what an importer (GGUF, safetensors) shows of a file.
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
  /// Brings the planes of rows of a tensor that the source holds packed (``SourceTensor/stored``),
  /// bit for bit; the planes have the byte counts of that many rows. May be called from several
  /// threads.
  func readPlanes(
    _ rows: Range<Int>, ofTensor index: Int, into planes: inout MutablePackedPlanes
  ) throws(InputError)
}

extension ModelSource {
  /// Sources of floats alone hold nothing packed.
  package func readPlanes(
    _ rows: Range<Int>, ofTensor index: Int, into planes: inout MutablePackedPlanes
  ) throws(InputError) {
    preconditionFailure("the source holds no packed tensor")
  }
}

/// A tensor of a source file.
package struct SourceTensor: Hashable, Sendable {
  package var name: String
  package var shape: TensorShape
  /// The source's own type name: `Q4_K`, `F32`.
  package var typeName: String
  /// Bytes in the source file.
  package var byteCount: Int
  /// The format in which the source holds it already, to be kept bit for bit; nil for floats that
  /// are to be packed.
  package var stored: WeightFormat?
  package init(
    name: String, shape: TensorShape, typeName: String, byteCount: Int,
    stored: WeightFormat? = nil
  ) {
    self.stored = stored
    self.name = name
    self.shape = shape
    self.typeName = typeName
    self.byteCount = byteCount
  }
}
