import PackedFormats
import TensorCore
import Tokenization

/// A preset with weights from a seed, as a model to pack from: the same values on every machine, in
/// any order of rows, on any thread.
///
/// A linear layer's and the embedding's weights are normal with deviation 1/√columns, so that a row
/// times an input of unit root mean square gives about one; norm gains are 1 with deviation 1/16.
package struct PresetSource: ModelSource {
  package let header: ModelHeader
  package let tokenizer: TokenizerDescription?
  package let tensors: [SourceTensor]
  package let provenance: [String: String]
  private let seed: UInt64

  /// Names the construction of the numbers in provenance; another number means other weights.
  private static let generator = "normal-splitmix64-1"

  package init(_ preset: ModelPreset, seed: UInt64) {
    self.seed = seed
    header = preset.header
    tokenizer = .bytes(count: header.vocabularySize)
    tensors = OnDeviceTensors(header).entries.map { entry in
      guard let shape = TensorShape(entry.dimensions) else {
        preconditionFailure("a preset's tensor is too large")
      }
      return SourceTensor(
        name: entry.name, shape: shape, typeName: "seeded", byteCount: 0)
    }
    provenance = [
      "format": "preset", "preset": preset.name, "seed": String(seed),
      "generator": Self.generator,
    ]
  }

  package func readRows(
    _ rows: Range<Int>, ofTensor index: Int, into output: inout MutableSpan<Float>
  ) throws(InputError) {
    let shape = tensors[index].shape
    let columnCount = shape.columnCount
    precondition(output.count == rows.count * columnCount, "the output does not fit the rows")
    let isGain = shape.dimensions.count == 1
    let deviation: Float = isGain ? 0.0625 : 1 / Float(columnCount).squareRoot()
    let mean: Float = isGain ? 1 : 0
    let quantiles = NormalQuantiles.shared
    // Each row's part lies inside the output, whose count was checked.
    unsafe output.withUnsafeMutableBufferPointer { buffer in
      for (place, row) in rows.enumerated() {
        unsafe SeededRow(seed: seed, tensor: index, row: row).fill(
          UnsafeMutableBufferPointer(
            rebasing: buffer[place * columnCount..<(place + 1) * columnCount]),
          deviation: deviation, mean: mean, quantiles: quantiles)
      }
    }
  }
}
