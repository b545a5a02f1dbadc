import EngineInterface
import Engines
import Foundation
import ModelFile
import PackedFormats
import TestSupport
import Testing

/// The float engine against the forward pass in NumPy float64 (tools/oracles/llama_twin.py).
@Suite struct TwinTests {
  /// float32 against float64: measured at most 5.1e-6 of the logits' root mean square.
  static let tolerance = 5e-5

  @Test(arguments: TinyModel.allCases) func theFixturesLogitsAreTheTwins(
    _ model: TinyModel
  ) throws {
    let golden = try model.golden()
    let direct = try EngineLoader.load(model.path).logits(golden.ids)
    #expect(relativeError(golden.positions.map { direct[$0] }, golden.logits) < Self.tolerance)
    let packed = try model.packed(.f32) { path in try EngineLoader.load(path).logits(golden.ids) }
    #expect(packed == direct, "f32 packed and read from GGUF are the same weights")
  }

  static let variants = [
    "llama", "llama-partial-rope", "llama-wide-heads", "qwen2", "qwen2-partial-rope",
  ]

  @Test(.needs(.python), arguments: variants)
  func freshRandomModelsAgreeWithTheTwin(_ variant: String) throws {
    let folder = try TemporaryFolder()
    let model = folder.file("model.gguf")
    _ = try Oracle.script("llama_twin.py", "write", variant, model, "20251121")
    let engine = try EngineLoader.load(model)
    let ids = randomIDs(70, vocabulary: engine.facts.vocabularyCount, seed: 5)
    let idsFile = folder.url("ids.json")
    try JSONEncoder().encode(ids).write(to: idsFile)
    let expected = try JSONDecoder().decode(
      [[Float]].self, from: Oracle.script("llama_twin.py", "logits", model, idsFile.path))
    let error = relativeError(try engine.logits(ids), expected)
    #expect(error < Self.tolerance, "\(variant): \(error)")
    let packed = try packing(GGUFModel(path: model), .f32) { path in
      try EngineLoader.load(path).logits(ids)
    }
    #expect(relativeError(packed, expected) < Self.tolerance)
    // These have rows of several groups, which the committed ones are too small for.
    for format in WeightFormat.allCases where variant == "qwen2-partial-rope" {
      try packing(GGUFModel(path: model), format) { path in
        let found = try EngineLoader.load(path).logits(ids)
        let real = try packing(DequantizedSource(file: AFMWFile(opening: path)), .f32) { path in
          try EngineLoader.load(path).logits(ids)
        }
        let error = relativeError(found, real)
        // Measured: f16 3.4e-6, the integer formats 0.09 to 0.143 (8-bit activations).
        #expect(error < 0.25, "\(format.name): \(error)")
      }
    }
  }

  @Test(arguments: TinyModel.allCases) func theEngineSaysWhatTheModelIs(
    _ model: TinyModel
  ) throws {
    let engine = try EngineLoader.load(model.path, options: EngineOptions(threads: 2))
    let facts = engine.facts
    #expect(facts.vocabularyCount == 264 && facts.trainedContextLength == 256)
    #expect(facts.modelName == "tiny fixture-\(model.rawValue)" && facts.threadCount == 2)
    #expect(facts.stopTokens.contains(2))
    let tensors = try GGUFModel(path: model.path).tensors
    #expect(facts.parameterCount == tensors.reduce(0) { $0 + $1.shape.elementCount })
    #expect(facts.weightByteCount == facts.parameterCount * 4)
    let unread = model == .qwen2 ? (facts.vocabularyCount - 1) * 26 * 4 : 0
    #expect(facts.decodeWeightByteCount == facts.weightByteCount - unread)
  }

  @Test func textGoesThroughTheModelsOwnTokenizerAndTemplate() throws {
    let engine = try EngineLoader.load(TinyModel.llama.path)
    let text = try engine.render(
      [Message(role: .user, content: "in the end")], addsGenerationPrompt: true)
    #expect(text == "<|im_start|>user\nin the end<|im_end|>\n<|im_start|>assistant\n")
    let ids = try engine.encode(text, recognizingSpecialTokens: true)
    #expect(ids.first == 1 && ids.filter { $0 == 2 }.count == 1)
    #expect(try engine.decode(ids) == "user\nin the end\nassistant\n")
    let plain = try engine.encode("<|end|>", recognizingSpecialTokens: false)
    #expect(!plain.contains(0) && plain.count > 1)
  }
}
