import ModelFile
import TensorCore

extension FuzzTarget {
  /// A GGUF file: metadata, tensor directory, every value of every tensor; then as a model, with
  /// its tokenizer at work.
  static let gguf = FuzzTarget(name: "gguf", heap: (1 << 20, 64)) { bytes in
    reading(bytes, in: ggufFile) { path throws(InputError) in
      let file = try GGUFFile(path: path)
      for tensor in file.tensors { try readEverything(of: tensor, in: file) }
      guard file.metadata["general.architecture"] != nil else { return }
      let model = try GGUFModel(file)
      promise(model.tensors.count == file.tensors.count, "tensors of file and model")
      promise(
        model.header.vocabularySize == model.tokenizer?.tokens.count ?? model.header.vocabularySize,
        "vocabularies of header and tokenizer")
      if let tokenizer = model.tokenizer { exercise(tokenizer, on: sampleText) }
    }
  }
}

private let ggufFile = MemoryFile()

/// All rows, a few at a time and then the last one again: the same values.
private func readEverything(of tensor: GGUFTensor, in file: GGUFFile) throws(InputError) {
  let columnCount = tensor.shape.columnCount
  let rowCount = tensor.shape.rowCount
  promise(tensor.shape.elementCount > 0, "no elements in \(tensor.name)")
  // 4,096 values at a time, so that the memory counted is the reader's.
  let step = max(1, 4096 / columnCount)
  var last: [Float] = []
  for start in stride(from: 0, to: rowCount, by: step) {
    let rows = start..<min(start + step, rowCount)
    last = [Float](repeating: 0, count: rows.count * columnCount)
    var output = last.mutableSpan
    try file.readRows(rows, of: tensor, into: &output)
  }
  var row = [Float](repeating: 0, count: columnCount)
  var output = row.mutableSpan
  try file.readRows(rowCount - 1..<rowCount, of: tensor, into: &output)
  promise(
    zip(row, last.suffix(columnCount)).allSatisfy { $0.bitPattern == $1.bitPattern },
    "the last row of \(tensor.name) depends on how it is read")
}
