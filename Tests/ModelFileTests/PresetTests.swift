import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing
import Tokenization

/// Presets: shapes that give the published totals, and the same bytes on every machine.
@Suite struct PresetTests {
  @Test func the2025ShapeGivesThePublishedTotals() {
    let tensors = OnDeviceTensors(ModelPreset.onDevice2025.header)
    #expect(tensors.parameterCount == 3_111_368_064)
    #expect(tensors.adapterParameterCount(rank: 32) == 66_633_728)
    #expect((0..<56).filter { tensors.hasOwnKeyValues(layer: $0) }.count == 35)
    // Two caches of int8, two heads of 128 elements each, in 35 of 56 layers.
    let header = ModelPreset.onDevice2025.header
    #expect(35 * 2 * header.keyValueHeadCount * header.headDimension == 17_920)
  }

  @Test func the2024ShapeGivesThePublishedTotals() {
    let header = ModelPreset.onDevice2024.header
    let tensors = OnDeviceTensors(header)
    let embedding = header.vocabularySize * header.hiddenSize
    #expect((2_575_000_000..<2_585_000_000).contains(tensors.parameterCount - embedding))
    #expect((145_000_000..<155_000_000).contains(embedding))
  }

  @Test func theTinyShapeIsTheSameGraph() {
    let tensors = OnDeviceTensors(ModelPreset.onDeviceTiny.header)
    #expect(tensors.parameterCount == 6_377_936)
    let names = Set(tensors.entries.map(\.name))
    #expect(names.count == tensors.entries.count)
    #expect(names.contains("blk.4.attn_k.weight") && names.contains("blk.4.attn_k_norm.weight"))
    for name in ["attn_k", "attn_v", "attn_k_norm"] {
      #expect(!names.contains("blk.5.\(name).weight"))
    }
    #expect(names.contains("blk.5.attn_q_norm.weight") && !names.contains("output.weight"))
  }

  /// Digests of planes that seed 1 gives; another machine must find the same.
  @Test(
    arguments: [
      (WeightFormat.f32, WeightFormat.f32, "497a83ed2c95f3e4"), (.u2c, .u4g32, "2d4f87f5f6f63ce5"),
      (.s8c, .u2g64, "61cbbc48cb82eea4"),
    ])
  func theSameBytesOnEveryMachine(
    weights: WeightFormat, embedding: WeightFormat, expected: String
  ) throws {
    let folder = try ScratchFolder()
    func make(threads: Int, seed: UInt64) throws -> AFMWFile {
      let path = folder.path("\(threads)-\(seed).afmw")
      _ = try ModelPacker(weights: weights, embedding: embedding, threads: threads)
        .pack(PresetSource(.onDeviceTiny, seed: seed), to: path)
      return try AFMWFile(opening: path)
    }
    func digest(_ file: AFMWFile) -> String {
      var sum: UInt64 = 0
      for plane in file.tensors.flatMap(\.planes) { sum = sum &* 0x9E37_79B9 ^ plane.digest }
      return String(sum, radix: 16)
    }
    let file = try make(threads: 1, seed: 1)
    #expect(digest(file) == expected)
    #expect(digest(try make(threads: 3, seed: 1)) == expected)
    #expect(digest(try make(threads: 1, seed: 2)) != expected)
    #expect(file.header == ModelPreset.onDeviceTiny.header)
    #expect(file.provenance["seed"] == "1")
    #expect(file.tensors.reduce(0) { $0 + $1.shape.elementCount } == 6_377_936)
    // Loading checks every value against the rules of its format.
    _ = try file.loadAllTensors(threads: 2)
  }

  @Test func rowsDoNotDependOnEachOther() throws {
    let source = PresetSource(.onDeviceTiny, seed: 9)
    let index = try #require(source.tensors.firstIndex { $0.name == "blk.3.ffn_up.weight" })
    func rows(_ range: Range<Int>) throws -> [Float] {
      var values = [Float](repeating: .nan, count: range.count * 256)
      var span = values.mutableSpan
      try source.readRows(range, ofTensor: index, into: &span)
      return values
    }
    let whole = try rows(0..<832)
    for row in [0, 1, 400, 831] {
      #expect(try rows(row..<row + 1) == Array(whole[row * 256..<(row + 1) * 256]))
    }
    #expect(Set(whole).count > whole.count * 9 / 10)
  }

  @Test func weightsAreNormal() throws {
    let source = PresetSource(.onDevice2025, seed: 3)
    var values = [Float](repeating: 0, count: 2048 * 2048)
    var span = values.mutableSpan
    try source.readRows(0..<2048, ofTensor: 0, into: &span)
    let unit = values.map { Double($0) * 2048.0.squareRoot() }
    let count = Double(unit.count)
    func moment(_ power: Int) -> Double {
      unit.reduce(0) { sum, x in sum + (0..<power).reduce(1) { p, _ in p * x } } / count
    }
    // Four standard errors of 4 million samples.
    #expect(abs(moment(1)) < 0.002)
    #expect(abs(moment(2) - 1) < 0.003)
    #expect(abs(moment(3)) < 0.008)
    #expect(abs(moment(4) - 3) < 0.02)
    func share(above threshold: Double) -> Double {
      Double(unit.count { $0 > threshold }) / count
    }
    // 1 − Φ at one, two, three and four deviations.
    for (threshold, tail) in [(1, 0.158655), (2, 0.0227501), (3, 0.0013499), (4, 3.1671e-5)] {
      let error = (tail / count).squareRoot()
      #expect(abs(share(above: Double(threshold)) - tail) < 4 * error)
      #expect(abs(Double(unit.count { $0 < -Double(threshold) }) / count - tail) < 4 * error)
    }
  }

  @Test func theTokenizerSpeaksInBytes() throws {
    let description = TokenizerDescription.bytes(count: 153_600)
    #expect(description.tokens.count == 153_600)
    let tokenizer = try BPETokenizer(description)
    #expect(tokenizer.encode("hé<|end|>") == [104, 195, 169, 256])
    #expect(tokenizer.stopTokens.contains(256))
  }
}
