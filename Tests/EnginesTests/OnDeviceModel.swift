import Foundation
import ModelFile
import TensorCore
import TestSupport
import Testing
import Tokenization

/// A small `afm-ondevice` model with seeded weights, in shapes that the presets do not have.
struct OnDeviceModel: ModelSource, CustomTestStringConvertible {
  var header: ModelHeader
  var seed: UInt64 = 1

  var testDescription: String { header.name }
  var tokenizer: TokenizerDescription? { .bytes(count: header.vocabularySize) }
  var provenance: [String: String] { [:] }
  var tensors: [SourceTensor] {
    OnDeviceTensors(header).entries.map { entry in
      SourceTensor(
        name: entry.name, shape: TensorShape(entry.dimensions)!, typeName: "seeded", byteCount: 0)
    }
  }

  static let all: [OnDeviceModel] = [
    OnDeviceModel(header: ModelPreset.onDeviceTiny.header),
    variant("norm before rotation") { $0.headNorm = .beforeRope },
    variant("without head norms") { $0.headNorm = nil },
    variant("one shared layer") { $0.keyValueLayerCount = 3 },
    variant("keys and values everywhere") { $0.keyValueLayerCount = nil },
    variant("one layer of keys and values, partial rotation") {
      $0.keyValueLayerCount = 1
      $0.ropeDimension = 6
    },
    variant("output of its own") { $0.tiedOutput = false },
  ]

  /// Sizes that are no multiples of anything that a vector unit likes.
  private static func variant(
    _ name: String, _ change: (inout ModelHeader) -> Void
  ) -> OnDeviceModel {
    var header = ModelHeader(
      architecture: OnDeviceTensors.architecture, name: name, layerCount: 4, hiddenSize: 42,
      feedForwardSize: 71, vocabularySize: 300, queryHeadCount: 6, keyValueHeadCount: 2,
      headDimension: 10, contextLength: 256, ropeBase: 500_000, ropePairing: .halves,
      ropeDimension: 10, normEpsilon: 1e-5, tiedOutput: true, attentionBias: false,
      keyValueLayerCount: 2, headNorm: .afterRope)
    change(&header)
    return OnDeviceModel(header: header, seed: 7)
  }

  /// Rows of their own: gains around 1, weights that make logits spread over some units.
  func readRows(
    _ rows: Range<Int>, ofTensor index: Int, into output: inout MutableSpan<Float>
  ) throws(InputError) {
    let shape = tensors[index].shape
    let columns = shape.columnCount
    let isGain = shape.dimensions.count == 1
    let size: Float = isGain ? 0.4 : 3 / Float(columns).squareRoot()
    for (place, row) in rows.enumerated() {
      var generator = SeededGenerator(
        seed: seed &* 0x1_0001 &+ UInt64(index) &* 0x10_0003 &+ UInt64(row))
      for column in 0..<columns {
        let value = Float.random(in: -1...1, using: &generator) * size
        output[place * columns + column] = isGain ? 1 + value : value
      }
    }
  }
}

extension ModelSource {
  /// Writes the header and every tensor where tools/oracles/ondevice_twin.py looks for them.
  func dump(into folder: URL) throws {
    try JSONEncoder().encode(header).write(to: folder.appendingPathComponent("header.json"))
    for (index, tensor) in tensors.enumerated() {
      var values = [Float](repeating: 0, count: tensor.shape.elementCount)
      var span = values.mutableSpan
      try readRows(0..<tensor.shape.rowCount, ofTensor: index, into: &span)
      let data = unsafe values.withUnsafeBytes { unsafe Data($0) }
      try data.write(to: folder.appendingPathComponent("\(tensor.name).f32"))
    }
  }
}
