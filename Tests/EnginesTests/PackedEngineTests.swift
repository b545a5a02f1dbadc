import EngineInterface
import Engines
import ModelFile
import PackedFormats
import Testing

/// An engine over packed weights computes what a float engine computes over their real values.
@Suite struct PackedEngineTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var model: TinyModel
    var format: WeightFormat
    var testDescription: String { "\(model.rawValue) \(format.name)" }
    /// Largest difference, of the logits' root mean square. f16 weights are converted exactly
    /// (measured: 2.7e-6). In the other formats activations become 8-bit, which is the whole
    /// difference (but for the last bits of ASTC), and much in a model of thirty columns (measured:
    /// 0.07 to 0.135); a wrong code or scale gives more than 1.
    var tolerance: Double {
      switch format {
      case .f32, .f16: 1e-4
      case .s8c, .s8g32, .u4g32, .u4c, .u2c, .u2g64, .u2t, .astc6x6LDR, .astc6x6HDR: 0.25
      }
    }
  }

  static let cases = TinyModel.allCases.flatMap { model in
    WeightFormat.allCases.map { Case(model: model, format: $0) }
  }

  @Test(arguments: cases) func equalsAFloatRunOverItsOwnWeights(_ test: Case) throws {
    let ids = randomIDs(40, vocabulary: 264, seed: 12)
    try test.model.packed(test.format) { path in
      let packed = try EngineLoader.load(path).logits(ids)
      let expected = try packing(DequantizedSource(file: AFMWFile(opening: path)), .f32) { path in
        try EngineLoader.load(path).logits(ids)
      }
      let error = relativeError(packed, expected)
      #expect(error < test.tolerance, "\(error)")
    }
  }

  @Test(arguments: TinyModel.allCases) func aFileMayMixFormats(_ model: TinyModel) throws {
    let ids = randomIDs(30, vocabulary: 264, seed: 13)
    try model.packed(.u4g32, embedding: .f16) { path in
      let engine = try EngineLoader.load(path)
      #expect(engine.facts.modelType == "\(model.rawValue) u4g32 + f16 embedding")
      let expected = try packing(DequantizedSource(file: AFMWFile(opening: path)), .f32) { path in
        try EngineLoader.load(path).logits(ids)
      }
      #expect(relativeError(try engine.logits(ids), expected) < 0.25)
    }
  }
}
