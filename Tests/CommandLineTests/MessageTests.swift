import Foundation
import TestSupport
import Testing

/// Text from outside in messages: one line, no control character, of a bounded length, with the
/// file that is at fault.
@Suite struct MessageTests {
  /// A name that would clear a terminal, break a line and fill a screen.
  private static let hostile =
    "\u{1B}[2J\r\u{9B}31m\nname\u{202E}" + String(repeating: "x", count: 100_000)

  private func expectOneLine(
    _ result: Program.Result, _ status: Int32, _ words: String...,
    location: SourceLocation = #_sourceLocation
  ) {
    #expect(result.status == status, "\(result)", sourceLocation: location)
    let line = result.error.unicodeScalars
    #expect(line.filter { $0 == "\n" }.count == 1, "\(result)", sourceLocation: location)
    #expect(line.count < 1200, "\(line.count) characters", sourceLocation: location)
    let controls = line.dropLast().filter {
      $0.value < 32 || (127..<160).contains($0.value) || $0.value == 0x202E
    }
    #expect(controls.isEmpty, "\(result)", sourceLocation: location)
    for word in words {
      #expect(result.error.contains(word), "\(result)", sourceLocation: location)
    }
  }

  @Test func namesInFilesAreEscapedAndCut() throws {
    let folder = try TemporaryFolder()
    try TinyModel(architecture: Self.hostile).bytes.write(to: folder.url("a.gguf"))
    expectOneLine(
      try Program.run(["pack", folder.file("a.gguf"), folder.file("o")]), 3, "a.gguf: ", "…")
  }

  @Test func templatesAreEscapedAndCut() throws {
    let folder = try TemporaryFolder()
    let samples = try Samples.shared.get()
    let path = folder.file("m.gguf")
    func generate(_ template: String) throws -> Program.Result {
      try TinyModel(chatTemplate: template).bytes.write(to: URL(fileURLWithPath: path))
      return try Program.run([
        "generate", "--model", path, "--prompt-file", samples.folder.file("prompt"), "-n", "1",
        "--chat",
      ])
    }
    let text = String(Self.hostile.prefix(2000)).replacingOccurrences(of: "\n", with: "\\n")
    expectOneLine(
      try generate("{{ raise_exception('\(text)') }}"), 3, "m.gguf: chat template: line 1: ")
    let twice = try generate("{% nonsense %}")
    expectOneLine(twice, 3, "m.gguf: chat template: line 1: ")
    #expect(twice.error.components(separatedBy: "chat template").count == 2, "\(twice)")
    expectOneLine(try generate("{{ '' }}"), 3, "m.gguf: chat template: ")
  }

  @Test func variablesAndOptionsAreEscapedAndCut() throws {
    let samples = try Samples.shared.get()
    // The system takes no longer variable.
    let text = String(Self.hostile.prefix(90_000))
    let ids = samples.arguments("logits --model @tiny.afmw --ids-file @ids")
    expectOneLine(try Program.run(ids, environment: ["AFM_ISA": text]), 2, "…")
    expectOneLine(try Program.run(ids + ["--isa", text]), 2, "…")
    for line in [
      ["run", samples.packed, "--tier", text], ["run", samples.packed, "-p", text],
      ["inspect", text], ["kernels", "--shape", text],
    ] {
      let result = try Program.run(line)
      #expect(result.status == 2 || result.status == 3, "\(result)")
      #expect(result.error.unicodeScalars.count < 2500, "\(result.error.count) characters")
      #expect(!result.error.unicodeScalars.contains { $0.value < 32 && $0 != "\n" }, "\(result)")
      #expect(!result.error.contains("\u{9B}"), "\(result)")
    }
    let unknown = try Program.run(["inspect", samples.packed, "--\u{1B}[2J\u{7}"])
    #expect(unknown.status == 2)
    #expect(!unknown.error.contains("\u{1B}") && !unknown.error.contains("\u{7}"), "\(unknown)")
  }

  /// Marks of direction, which a message escapes, are part of what a model says.
  @Test func jsonStaysWhatItIs() throws {
    let samples = try Samples.shared.get()
    let text = "a\u{200F}\u{FEFF}\u{85}\u{7F}\u{1B}b"
    let ids = text.utf8.map { byte in
      // The tiny model has a token a byte, in their order.
      String(byte)
    }.joined(separator: ", ")
    let result = try Program.run(
      ["tokenize", "--model", samples.packed, "--decode", "--json"], input: "[\(ids)]")
    #expect(result.status == 0, "\(result)")
    let json = try #require(try result.json() as? [String: String])
    #expect(json["text"] == text)
  }

  @Test func reportsShowNoControlCharacters() throws {
    let folder = try TemporaryFolder()
    let name = "model\u{1B}[31m.gguf"
    try TinyModel().bytes.write(to: folder.url(name))
    let result = try Program.run(["inspect", folder.file(name)])
    #expect(result.status == 0, "\(result)")
    #expect(!result.outputText.contains("\u{1B}"), "\(result)")
  }

  /// What is no token id is said with its place, whatever JSON thinks of it.
  @Test(arguments: [
    ("[1, 1.5]", "index 1: offset 4: "), ("[2147483648]", "index 0: offset 1: "),
    ("[-1]", "index 0: "), ("[1e39]", "index 0: "), ("[9223372036854775808]", "index 0: "),
    ("[1, \"a\"]", "index 1: "), ("{\"ids\": [null]}", "index 0: "),
    ("{\"idss\": [1]}", "not a JSON array of token ids"), ("[1] [2]", "bytes behind"),
    (String(repeating: "[", count: 100_000), "index 0: "),
  ]) func idsThatAreNone(_ text: String, _ says: String) throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    try Data(text.utf8).write(to: folder.url("ids.json"))
    expectOneLine(
      try Program.run([
        "logits", "--model", samples.packed, "--ids-file", folder.file("ids.json"),
      ]), 3, "ids.json: ", says)
  }

  /// A model that computes nonsense fails in every command, with its name.
  @Test func aModelThatComputesNonsenseIsNamed() throws {
    let samples = try Samples.shared.get()
    for line in [
      "generate --model @nan.gguf --prompt-file @prompt -n 2",
      "logits --model @nan.gguf --ids-file @ids",
      "score --model @nan.gguf --text-file @text --ctx 16 --windows 1",
      "run @nan.gguf -p 8 -n 0 -r 1 --tier on-device",
      "run @nan.gguf -p 8 -n 0 -r 1 --tier on-device -np 2",
      "run @nan.gguf -n 4 -r 1 --tier on-device",
    ] {
      let result = try Program.run(samples.arguments(line))
      #expect(result.status == 3, "\(line): \(result)")
      #expect(result.error.contains("nan.gguf: "), "\(line): \(result)")
      #expect(result.error.contains("not finite"), "\(line): \(result)")
    }
  }

  /// Saved logits that are well formed and no numbers.
  @Test func aReferenceOfNonsenseIsNamed() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let saved = folder.file("saved.safetensors")
    let score = samples.arguments("score --model @tiny.afmw --text-file @text --ctx 16 --windows 2")
    let first = try Program.run(score + ["--save-logits", saved])
    #expect(first.status == 0, "\(first)")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: saved))
    // The last of all logits: that of the second window's last row.
    bytes.replaceSubrange(bytes.count - 4..<bytes.count, with: [0, 0, 0xC0, 0x7F])
    try bytes.write(to: URL(fileURLWithPath: saved))
    let result = try Program.run(score + ["--reference", saved])
    expectOneLine(
      result, 3, "saved.safetensors: tensor logits: ", "row 15, column 258: not a finite number")
    let other = try Program.run(
      samples.arguments(
        "score --model @tiny.afmw --text-file @text --ctx 16 --windows 1 --reference @nan.gguf"))
    expectOneLine(other, 3, "nan.gguf", "not finite")
  }

  @Test func aBudgetThatIsTooSmallIsBadUsageEverywhere() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let trace = folder.file("requests.csv")
    try Data("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9,8,2\n".utf8)
      .write(to: URL(fileURLWithPath: trace))
    for line in [
      ["replay", trace, "--model", samples.packed, "--budget", "1"],
      ["cache", "replay", trace, "--budget", "1"],
    ] {
      expectOneLine(try Program.run(line), 2, "the cache budget of 1 bytes")
    }
  }

  /// Matrices so small that no number of them fills the memory that caches do not hold.
  @Test func kernelsFromMemoryAreBounded() throws {
    for weights in ["f32", "f16", "s8c"] {
      let result = try Program.run(
        ["kernels", "--shape", "1x1", "--weights", weights, "-r", "1"], seconds: 20)
      expectOneLine(result, 2, "--shape 1x1", "--in cache")
    }
    let cached = try Program.run([
      "kernels", "--shape", "1x1", "--weights", "f32", "--in", "cache", "-r", "1", "--tokens", "1",
    ])
    #expect(cached.status == 0, "\(cached)")
  }
}
