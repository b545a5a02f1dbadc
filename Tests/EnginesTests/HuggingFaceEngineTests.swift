import Engines
import Foundation
import ModelFile
import PackedFormats
import TestSupport
import Testing

/// Hugging Face folders run as the GGUF files that they were made of.
@Suite(.needs(.python)) struct HuggingFaceEngineTests {
  /// Pairs of a head's elements stand in another order for `llama`: sums run in another order.
  static let tolerance = 5e-5

  @Test(arguments: TinyModel.allCases, ["1", "3"])
  func theLogitsAreThoseOfTheGGUFFile(_ model: TinyModel, files: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("model")
    _ = try Oracle.script(
      "safetensors_oracle.py", "folder", model.path, path, "F32", files)
    let golden = try model.golden()
    let expected = try EngineLoader.load(model.path).logits(golden.ids)
    let direct = try EngineLoader.load(path).logits(golden.ids)
    #expect(relativeError(direct, expected) < Self.tolerance)
    #expect(relativeError(golden.positions.map { direct[$0] }, golden.logits) < Self.tolerance)
    if model == .qwen2 { #expect(direct == expected, "the same weights in the same order") }
    // Packed from either source, the model is the same, and so is it after an export.
    let source = try SafetensorsModel(path: path)
    let packed = try packing(source, .s8c) { path in
      let logits = try EngineLoader.load(path).logits(golden.ids)
      let exported = folder.file("exported.safetensors")
      let file = try AFMWFile(opening: path)
      _ = try SafetensorsExport(content: .codes).write(file, to: exported)
      let again = try packing(SafetensorsModel(path: exported), .s8c) { path in
        try EngineLoader.load(path).logits(golden.ids)
      }
      #expect(again == logits)
      return logits
    }
    let fromGGUF = try model.packed(.s8c) { path in
      try EngineLoader.load(path).logits(golden.ids)
    }
    // 8-bit activations round differently where sums differ by a bit.
    #expect(relativeError(packed, fromGGUF) < 0.02)
    // Text runs through the folder's tokenizer and template.
    let text = "<|im_start|>user\nin the end<|im_end|>\n"
    let engine = try EngineLoader.load(path)
    #expect(
      try engine.encode(text, recognizingSpecialTokens: true)
        == EngineLoader.load(model.path).encode(text, recognizingSpecialTokens: true))
  }
}
