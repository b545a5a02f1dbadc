import Foundation
import TestSupport
import Testing

/// An output's name promises what it will hold, and a file that is plainly something else stays.
@Suite struct OutputNameTests {
  @Test(arguments: [
    "run @tiny.afmw -n 1 --trace notes.txt", "run @tiny.afmw -n 1 --trace x.json",
    "run @tiny.afmw -n 1 --trace x.unknown", "run @tiny.afmw -n 1 --trace x.afmw",
    "run @tiny.afmw -n 1 --bundle results.json", "load @tiny.afmw --trace notes.md",
    "replay @text --model @tiny.afmw --trace x.csv",
    "trace export @noise --to perfetto x.afmtrace", "trace export @noise --to perfetto x.json",
    "pack @tiny.gguf out.gguf", "pack @tiny.gguf out.GGUF", "pack @tiny.gguf out.safetensors",
    "pack @tiny.gguf out.afmw --calibrate self --save-calibration x.json",
    "export @tiny.afmw out.afmw", "export @tiny.afmw out.gguf",
    "dump @tiny.afmw output_norm.weight out.afmw", "dump @tiny.afmw output_norm.weight out.npy",
    "make afm-ondevice-tiny out.safetensors",
    "make afm-ondevice-tiny out.afmw --adapter-rank 2",
    "astc decode @noise out.astc", "astc encode @noise 1x1 out.f32",
    "cache generate mooncake-conversation out.csv", "cache generate azure-2023-code out.jsonl",
    "score --model @tiny.afmw --text-file @text --save-logits out.f32",
    "generate --model @tiny.afmw --prompt-file @prompt --cache-file out.txt",
  ])
  func anEndingOfAnotherFormatIsRefused(line: String) throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let arguments = samples.arguments(line).map { word in
      word.contains(".") && !word.contains("/") ? folder.file(word) : word
    }
    // A tensor's name has a dot too, and is no file.
    let corrected = zip(line.split(separator: " "), arguments).map { word, argument in
      word == "output_norm.weight" ? String(word) : argument
    }
    let result = try Program.run(corrected)
    #expect(result.status == 2, "\(result)")
    #expect(result.errorLines.count == 1 && result.output.isEmpty, "\(result)")
    #expect(result.error.contains(" is no ending for "), "\(result)")
    #expect(folder.names.isEmpty)
  }

  @Test(arguments: [
    "dump @tiny.afmw output_norm.weight out", "dump @tiny.afmw output_norm.weight out.f32",
    "dump @tiny.afmw output_norm.weight out.bin", "pack @tiny.gguf out.AFMW",
    "pack @tiny.gguf out.v2", "export @tiny.afmw out.safetensors",
    "cache generate mooncake-conversation out.jsonl --requests 3",
    "cache generate azure-2023-code out.csv --requests 3",
    "run @tiny.afmw -n 1 -r 1 --tier on-device --trace out.pftrace",
  ])
  func otherEndingsAreWritten(line: String) throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let words = samples.arguments(line).map { word in
      word.hasPrefix("out") && word != "output_norm.weight" ? folder.file(word) : word
    }
    for _ in 0..<2 {
      let result = try Program.run(words)
      #expect(result.status == 0, "\(result)")
      #expect(folder.names.count == 1, "\(folder.names)")
    }
  }

  @Test(arguments: ["tiny.gguf", "tiny.afmw"])
  func aModelIsNotReplacedByAnotherFormat(name: String) throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let path = folder.file("precious")
    let model = try Data(contentsOf: samples.folder.url(name))
    try model.write(to: folder.url("precious"))
    for line in [
      "export @tiny.afmw \(path)", "dump @tiny.afmw output_norm.weight \(path)",
      "run @tiny.afmw -n 1 -r 1 --trace \(path)", "make afm-ondevice-tiny \(path) --adapter-rank 2",
    ] {
      let result = try Program.run(samples.arguments(line))
      #expect(result.status == 2, "\(result)")
      #expect(result.errorLines.count == 1 && result.error.contains("will not replace"))
    }
    #expect(try Data(contentsOf: folder.url("precious")) == model)
    #expect(folder.names == ["precious"])
  }
}
