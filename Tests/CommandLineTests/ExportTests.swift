import Foundation
import TestSupport
import Testing

/// Models out as safetensors and in again, through the program.
@Suite struct ExportTests {
  @Test func codesComeBackAsTheSameFile() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let (middle, second) = (folder.file("m.safetensors"), folder.file("again.afmw"))
    let export = try Program.run(["export", samples.packed, middle, "--as", "codes", "--json"])
    #expect(export.status == 0, "\(export)")
    let summary = try #require(try export.json() as? [String: Any])
    #expect(summary["file"] as? String == middle)
    // Two layers of 9 tensors, two norms' worth outside, the embedding.
    #expect((summary["tensors"] as? Int ?? 0) > 18)
    let pack = try Program.run(["pack", middle, second, "--weights", "s8c"])
    #expect(pack.status == 0, "\(pack)")
    #expect(
      try Data(contentsOf: URL(filePath: second)) == Data(contentsOf: URL(filePath: samples.packed))
    )
    let inspection = try #require(
      try Program.run(["inspect", middle, "--json"]).json() as? [String: Any])
    #expect(inspection["kind"] as? String == "safetensors")
    // Values and logits are those of the packed file, whichever file they are asked of.
    for line in ["dump @FILE blk.0.attn_q.weight \(folder.file("v"))"] {
      var outputs: [Data] = []
      for file in [middle, samples.packed] {
        let arguments = line.replacing("@FILE", with: file).split(separator: " ").map(String.init)
        #expect(try Program.run(arguments).status == 0)
        outputs.append(try Data(contentsOf: folder.url("v")))
      }
      #expect(outputs[0] == outputs[1] && !outputs[0].isEmpty)
    }
  }

  @Test(arguments: ["f32", "f16", "bf16"]) func valuesAreAModelToo(content: String) throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let file = folder.file("m.safetensors")
    let export = try Program.run(["export", samples.packed, file, "--as", content])
    #expect(export.status == 0 && export.outputText.contains(content), "\(export)")
    let answer = try Program.run(
      ["logits", "--model", file, "--ids-file", samples.folder.file("ids"), "--json"])
    #expect(answer.status == 0, "\(answer)")
  }

  /// Weights of a preset too, whose planes lie as the kernels read them.
  @Test(arguments: ["astc6x6-ldr", "astc6x6-hdr"])
  func codesDoNotShowHowPlanesLieInTheFile(weights: String) throws {
    let folder = try TemporaryFolder()
    for layout in ["canonical", "kernel"] {
      let packed = folder.file(layout + ".afmw")
      let making = try Program.run([
        "make", "afm-ondevice-tiny", packed, "--weights", weights, "--layout", layout,
      ])
      #expect(making.status == 0, "\(making)")
      let export = try Program.run([
        "export", packed, folder.file(layout + ".safetensors"), "--as", "codes",
      ])
      #expect(export.status == 0, "\(export)")
    }
    #expect(
      try Data(contentsOf: folder.url("canonical.safetensors"))
        == Data(contentsOf: folder.url("kernel.safetensors")))
  }

  static let mistakes: [(line: String, code: Int32, says: String)] = [
    ("export @tiny.afmw @o --as u8", 2, "u8"),
    ("export @tiny.afmw @o --names mine", 2, "mine"),
    ("export @tiny.afmw @tiny.afmw", 2, "the output is the input itself"),
    ("export @tiny.afmw @o -t 0", 2, "-t must be at least 1"),
    ("export @tiny.gguf @o", 3, "tiny.gguf"), ("export @absent @o", 3, "absent: cannot open"),
    ("export @flipped.afmw @o", 3, "flipped.afmw"),
    ("export @tiny.afmw /dev/full", 4, "/dev/full: cannot create"),
    ("pack @ @o", 3, "model.safetensors: cannot open"), ("pack @ids @o", 3, "ids"),
  ]

  @Test(arguments: mistakes)
  func mistakesEndWithTheirCodeAndOneLine(line: String, code: Int32, says: String) throws {
    let samples = try Samples.shared.get()
    let result = try Program.run(samples.arguments(line))
    #expect(result.status == code, "\(result)")
    #expect(result.error.contains(says), "\(result)")
    #expect(!FileManager.default.fileExists(atPath: samples.folder.file("o")))
    if code > 2 { #expect(result.errorLines.count == 1, "\(result)") }
  }

  @Test(.needs(.python)) func aHuggingFaceFolderIsPacked() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let (model, packed) = (folder.file("model"), folder.file("m.afmw"))
    _ = try Oracle.script("safetensors_oracle.py", "folder", samples.gguf, model, "BF16", "2")
    for input in [model, "\(model)/model.safetensors.index.json"] {
      let result = try Program.run(["pack", input, packed, "--weights", "u4g32"])
      #expect(result.status == 0, "\(result)")
      let answer = try Program.run(
        ["generate", "--model", packed, "--prompt-file", samples.folder.file("prompt"), "-n", "4"])
      #expect(answer.status == 0, "\(answer)")
    }
  }
}
