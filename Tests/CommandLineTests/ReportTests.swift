import Foundation
import TestSupport
import Testing

/// The names that `--json` prints are a contract, and what they hold is right on a tiny model.
@Suite struct ReportTests {
  private func report(_ line: String, input: String = "") throws -> [String: Any] {
    let samples = try Samples.shared.get()
    let result = try Program.run(samples.arguments(line), input: input)
    try #require(result.status == 0, "\(result)")
    #expect(result.error.isEmpty, "\(result)")
    return try #require(try result.json() as? [String: Any])
  }

  @Test(arguments: ["tiny.gguf", "tiny.afmw"])
  func logits(model: String) throws {
    let report = try report("logits --model @\(model) --ids-file @ids --top 3 --json")
    #expect(Set(report.keys) == ["ids", "top_ids", "top_logits", "logsumexp"])
    #expect(report["ids"] as? [Int] == [116, 104, 256, 258])
    let ids = try #require(report["top_ids"] as? [[Int]])
    let logits = try #require(report["top_logits"] as? [[Double]])
    let sums = try #require(report["logsumexp"] as? [Double])
    #expect(ids.map(\.count) == [3, 3, 3, 3])
    #expect(sums.count == 4)
    for (row, sum) in zip(logits, sums) {
      #expect(row == row.sorted(by: >))
      #expect(sum > row[0] && sum < row[0] + log(Double(TinyModel.tokens.count)) + 1e-6)
    }
  }

  @Test func aModelWithoutTokenizerRunsOnIds() throws {
    let mute = try report("logits --model @mute.gguf --ids-file @ids --json")
    let whole = try report("logits --model @tiny.gguf --ids-file @ids --json")
    #expect(mute["logsumexp"] as? [Double] == whole["logsumexp"] as? [Double])
  }

  @Test(arguments: ["tiny.gguf", "tiny.afmw"])
  func tokenize(model: String) throws {
    let text = try report("tokenize --model @\(model)", input: "that<|im_end|>")
    #expect(Set(text.keys) == ["ids"])
    #expect(text["ids"] as? [Int] == [256, 97, 116, 258])
    let plain = try report("tokenize --model @\(model) --no-special", input: "<|im_end|>")
    #expect((plain["ids"] as? [Int])?.count == 10)
    #expect(try report("tokenize --model @\(model)")["ids"] as? [Int] == [])
    let back = try report(
      "tokenize --model @\(model) --decode --json", input: "{\"ids\":[256,97,116,258]}")
    #expect(back["text"] as? String == "that<|im_end|>")
  }

  @Test func bytesThatAreNotUTF8AreReplaced() throws {
    let samples = try Samples.shared.get()
    let result = try Program.shell(
      "printf 'a\\xff\\xfeb' | \"$AFM\" tokenize --model \(samples.packed) "
        + "| \"$AFM\" tokenize --model \(samples.packed) --decode")
    #expect(result.status == 0)
    #expect(result.outputText == "a\u{FFFD}\u{FFFD}b")
  }

  @Test func generate() throws {
    let line = "generate --model @tiny.afmw --prompt-file @prompt"
    let greedy = try report(line + " -n 12")
    #expect(Set(greedy.keys) == ["ids", "text", "finish", "cached_tokens"])
    let ids = try #require(greedy["ids"] as? [Int])
    #expect(ids.count == 12 || ids.last == TinyModel.tokens.count - 1)
    #expect(try report(line + " -n 12")["ids"] as? [Int] == ids)
    let seeded = line + " -n 12 --temp 1.5 --seed 3"
    #expect(try report(seeded)["ids"] as? [Int] == report(seeded)["ids"] as? [Int])
    // A count beyond the context, near Int's own limit, ends where the context does.
    let all = try report(line + " -n \(Int.max)")
    let finish = try #require(all["finish"] as? String)
    let count = try #require(all["ids"] as? [Int]).count
    #expect(finish == "stop" || (finish == "context" && count == 256 - 6 + 1), "\(finish) \(count)")
    #expect(try !(#require(report(line + " -n 3 --chat")["ids"] as? [Int])).isEmpty)
  }

  @Test func score() throws {
    let line = "score --model @tiny.afmw --text-file @text --ctx 64 --windows 2 --json"
    let alone = try report(line)
    #expect(
      Set(alone.keys)
        == ["model", "text", "ctx", "windows", "skipped_windows", "perplexity", "scored_tokens"])
    #expect(alone["scored_tokens"] as? Int == 64)
    let beside = try report(line + " --reference @tiny.gguf")
    #expect(Set(beside.keys).subtracting(alone.keys) == ["mean_kl", "top1_agreement"])
    #expect(beside["perplexity"] as? Double == alone["perplexity"] as? Double)
    #expect(try #require(beside["mean_kl"] as? Double) > 0)
    let same = try report(
      "score --model @tiny.gguf --text-file @text --ctx 64 --windows 1 --json --reference @tiny.gguf"
    )
    #expect(same["mean_kl"] as? Double == 0)
    #expect(same["top1_agreement"] as? Double == 1)
  }

  @Test func inspectAndVerify() throws {
    for model in ["tiny.gguf", "tiny.afmw"] {
      let report = try report("inspect @\(model) --json")
      #expect((report["tensors"] as? [Any])?.count == 2 + 9 * TinyModel.layers)
      #expect((report["header"] as? [String: Any])?["hiddenSize"] as? Int == TinyModel.hidden)
    }
    // An architecture that does not run is still a file with tensors.
    let other = try report("inspect @starlight.gguf --json")
    #expect((other["tensors"] as? [Any])?.count == 2 + 9 * TinyModel.layers)
    #expect((other["refusal"] as? String)?.contains("starlight") == true)
    #expect(try report("verify @tiny.afmw --json")["ok"] as? Bool == true)
  }

  @Test func dumpsTheSameFloatsFromBothKinds() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    for (model, name) in [(samples.gguf, "a"), (samples.packed, "b")] {
      let result = try Program.run(["dump", model, "output_norm.weight", folder.file(name)])
      #expect(result.status == 0, "\(result)")
    }
    let ones = Data((0..<TinyModel.hidden).flatMap { _ in [0, 0, 0x80, 0x3F] as [UInt8] })
    #expect(try Data(contentsOf: folder.url("a")) == ones)
    #expect(try Data(contentsOf: folder.url("b")) == ones)
    #expect(folder.names == ["a", "b"])
  }
}
