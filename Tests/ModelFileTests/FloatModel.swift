import ModelFile
import TensorCore
import TestSupport
import Testing
import Tokenization

/// A made-up float model.
struct FloatModel: ModelSource {
  var header = ModelHeader.sample
  var tokenizer: TokenizerDescription? = .sample
  var provenance = ["file": "sample"]
  var tensors: [SourceTensor] = []
  var values: [[Float]] = []

  init(_ shapes: [(String, [Int])], seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for (name, dimensions) in shapes {
      let shape = try #require(TensorShape(dimensions))
      tensors.append(
        SourceTensor(
          name: name, shape: shape, typeName: "F32", byteCount: shape.elementCount * 4))
      values.append(
        (0..<shape.elementCount).map { _ in
          (0..<4).reduce(Float(0)) { sum, _ in sum + .random(in: -1...1, using: &generator) }
        })
    }
  }

  func readRows(
    _ rows: Range<Int>, ofTensor index: Int, into output: inout MutableSpan<Float>
  ) throws(InputError) {
    let columns = tensors[index].shape.columnCount
    for position in 0..<rows.count * columns {
      output[position] = values[index][rows.lowerBound * columns + position]
    }
  }
}
