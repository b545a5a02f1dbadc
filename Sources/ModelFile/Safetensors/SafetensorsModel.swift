import Files
import PackedFormats
import TensorCore
import Tokenization

/// A model in safetensors as a source to pack: a Hugging Face folder, one of its files, or a file
/// that `afm-bench export` wrote.
///
/// A file whose metadata have a header of ours needs nothing beside it and names tensors as we do;
/// any other is read with the `config.json` of its folder. Header and tokenizer are checked, every
/// tensor of the architecture is there, in its shape, and no other.
package final class SafetensorsModel: ModelSource, Sendable {
  package let header: ModelHeader
  package let tokenizer: TokenizerDescription?
  package let tensors: [SourceTensor]
  package let provenance: [String: String]
  /// Bytes of all safetensors files.
  package let byteCount: Int
  private let contents: [Content]

  /// Where the elements of a tensor stand.
  enum Content: Sendable {
    case values(SafetensorsShards.Entry)
    case packed(QuantizedTensor)
  }

  /// Opens a folder, a `.safetensors` file, or an index of several (`.safetensors.index.json`).
  package convenience init(path: String) throws(InputError) {
    let place = try SafetensorsPlace(path)
    do throws(InputError) {
      try self.init(place)
    } catch {
      throw error.inFile(path)
    }
  }

  private init(_ place: SafetensorsPlace) throws(InputError) {
    let shards = place.shards
    byteCount = shards.byteCount
    var facts = [
      "format": "safetensors", "file_name": place.name, "byte_count": String(shards.byteCount),
    ]
    let parts: ModelParts
    if let text = shards.metadata[QuantizedNames.header] {
      parts = try ModelParts(exported: shards, header: text)
      facts.merge(try ModelParts.provenance(shards)) { _, old in old }
    } else {
      parts = try ModelParts(huggingFace: shards, folder: place.folder, name: place.modelName)
    }
    header = parts.header
    tokenizer = parts.tokenizer
    contents = parts.tensors.map(\.content)
    provenance = facts
    tensors = parts.tensors.map { name, content in
      switch content {
      case .values(let entry):
        SourceTensor(
          name: name, shape: entry.tensor.shape, typeName: entry.tensor.element.rawValue,
          byteCount: entry.tensor.byteCount, stored: parts.kept[name])
      case .packed(let tensor):
        SourceTensor(
          name: name, shape: tensor.shape, typeName: tensor.format.name,
          byteCount: tensor.byteCount, stored: tensor.format)
      }
    }
  }

  package func readRows(
    _ rows: Range<Int>, ofTensor index: Int, into output: inout MutableSpan<Float>
  ) throws(InputError) {
    let columns = tensors[index].shape.columnCount
    switch contents[index] {
    case .values(let entry):
      try entry.file.readElements(
        rows.lowerBound * columns..<rows.upperBound * columns, of: entry.tensor, into: &output)
    case .packed(let tensor):
      let planes = try PlaneBytes(tensor, rows)
      tensor.format.dequantize(
        planes.planes, rowCount: rows.count, columnCount: columns, into: &output)
    }
  }

  package func readPlanes(
    _ rows: Range<Int>, ofTensor index: Int, into planes: inout MutablePackedPlanes
  ) throws(InputError) {
    switch contents[index] {
    case .packed(let tensor): try tensor.readPlanes(rows, into: &planes)
    case .values(let entry):
      // f32 and f16 planes are the file's bytes.
      let width = entry.tensor.element.bitCount / 8
      try entry.file.readBytes(
        from: rows.lowerBound * tensors[index].shape.columnCount * width, of: entry.tensor,
        into: &planes.codes)
    }
  }
}

extension PlaneBytes {
  /// Some rows of a packed tensor, read and checked.
  fileprivate init(_ tensor: QuantizedTensor, _ rows: Range<Int>) throws(InputError) {
    let columns = tensor.shape.columnCount
    // The tensor's own byte counts are in a file: those of some rows fit.
    try self.init(format: tensor.format, rowCount: rows.count, columnCount: columns) {
      planes throws(InputError) in try tensor.readPlanes(rows, into: &planes)
    }
    do throws(PackedFormatError) {
      try tensor.format.validate(
        planes, rowCount: rows.count, columnCount: columns, firstRow: rows.lowerBound)
    } catch {
      throw tensor.fault(error)
    }
  }
}
