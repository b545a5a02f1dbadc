import Foundation
import TestSupport
import Testing

/// Calibration, adapters and comparison with saved logits, through the program.
@Suite struct PackOptionsTests {
  private func run(_ arguments: String) throws -> Program.Result {
    try Program.shell("\"$AFM\" \(arguments)")
  }

  private func json(_ result: Program.Result) throws -> [String: Any] {
    try #require(
      JSONSerialization.jsonObject(with: Data(result.outputText.utf8)) as? [String: Any],
      "\(result)")
  }

  @Test func statisticsAreGatheredSavedAndTakenAgain() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let saved = folder.file("s.safetensors")
    let gathered = try run(
      "pack \(samples.gguf) \(folder.file("a.afmw")) --weights u2g64 --calibrate self "
        + "--calibration-tokens 40 --seed 3 --save-calibration \(saved) --json")
    #expect(gathered.status == 0, "\(gathered)")
    let fields = try json(gathered)
    #expect(fields["calibration_tokens"] as? Int == 40)
    #expect((fields["calibration"] as? String)?.contains("seed 3") == true)
    #expect(fields["embedding"] as? String == "u4g32")
    let taken = try run(
      "pack \(samples.gguf) \(folder.file("b.afmw")) --weights u2g64 --calibrate \(saved)")
    #expect(taken.status == 0, "\(taken)")
    #expect(
      try Data(contentsOf: folder.url("a.afmw")) == Data(contentsOf: folder.url("b.afmw")))
    #expect(folder.names == ["a.afmw", "b.afmw", "s.safetensors"])
  }

  @Test func aTextCalibratesToo() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let text = samples.folder.file("text")
    let result = try run(
      "pack \(samples.gguf) \(folder.file("a.afmw")) --weights u4g32 --calibrate \(text) --json")
    #expect(result.status == 0, "\(result)")
    // A token a byte, "th" is one.
    #expect(try json(result)["calibration_tokens"] as? Int == 420)
  }

  @Test(arguments: [
    ("--calibrate EMPTY", Int32(3), "no text to calibrate with"),
    ("--calibrate MISSING", 3, "cannot read"),
    ("--calibrate self --calibration-tokens 0", 2, "at least 1"),
    ("--save-calibration x", 2, "needs --calibrate"), ("--clip 0", 2, "positive"),
    ("--clip nan", 2, "positive"), ("--adapter-rank -1", 2, "adapter-rank"),
    ("--effort slow", 2, "slow"), ("--fit best", 2, "best"),
  ])
  func aWrongOptionIsSaidAndNothingIsLeft(options: String, status: Int32, reason: String) throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let line =
      options.replacingOccurrences(of: "EMPTY", with: samples.folder.file("empty"))
      .replacingOccurrences(of: "MISSING", with: folder.file("missing"))
    let result = try run("pack \(samples.gguf) \(folder.file("a.afmw")) \(line)")
    #expect(result.status == status, "\(result)")
    #expect(result.error.contains(reason), "\(result)")
    #expect(folder.names.isEmpty)
  }

  @Test func savedLogitsAreTheModelThatTheyAreOf() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let logits = folder.file("l.safetensors")
    let window = "--text-file \(samples.folder.file("text")) --ctx 32 --windows 2"
    let own = try run(
      "score --model \(samples.gguf) \(window) --skip-windows 3 --save-logits \(logits) --json")
    #expect(own.status == 0, "\(own)")
    #expect(try json(own)["skipped_windows"] as? Int == 3)
    var scores: [[String: Any]] = []
    for reference in [logits, samples.gguf] {
      let line =
        "score --model \(samples.packed) \(window) --skip-windows 3 --reference \(reference) --json"
      scores.append(try json(try run(line)))
    }
    for field in ["mean_kl", "top1_agreement", "perplexity"] {
      let values = scores.compactMap { $0[field] as? Double }
      try #require(values.count == 2)
      // The session's float products may end in other bits, nothing else differs.
      #expect(abs(values[0] - values[1]) <= 1e-4 * max(1, abs(values[1])), "\(field) \(values)")
    }
    let elsewhere = try run("score --model \(samples.packed) \(window) --reference \(logits)")
    #expect(elsewhere.status == 3, "\(elsewhere)")
    #expect(elsewhere.error.contains("of other windows"), "\(elsewhere)")
    let beyond = try run("score --model \(samples.packed) \(window) --skip-windows 100")
    #expect(beyond.status == 3, "\(beyond)")
  }
}
