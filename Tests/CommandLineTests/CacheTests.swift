import Foundation
import TestSupport
import Testing

/// `cache`: traces made and replayed through the whole program.
@Suite struct CacheTests {
  @Test func aGeneratedTraceIsReplayed() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("requests.jsonl")
    let made = try Program.run(
      ["cache", "generate", "mooncake-conversation", path, "--requests", "400", "--json"])
    #expect(made.status == 0 && made.error.isEmpty, "\(made)")
    let summary = try #require(try made.json() as? [String: Any])
    #expect(summary["requests"] as? Int == 400)
    #expect((summary["input_positions"] as? [Double])?.count == 7)

    let replayed = try Program.run([
      "cache", "replay", path, "--budget", "8GiB,unlimited", "--time-scale", "0.5", "--json",
    ])
    #expect(replayed.status == 0 && replayed.error.isEmpty, "\(replayed)")
    let report = try #require(try replayed.json() as? [String: Any])
    #expect(report["kv_bytes_per_position"] as? Int == 17_920)
    #expect(report["kv_bytes_per_position_unshared"] as? Int == 28_672)
    let rows = try #require(report["rows"] as? [[String: Any]])
    #expect(rows.count == 2)
    let hits = rows.compactMap { $0["hit_pages"] as? Int }
    #expect(hits.count == 2 && hits[0] < hits[1] && hits[0] > 0)
    let peak = try #require(rows[0]["peak_allocated_bytes"] as? Int)
    #expect(peak <= 8 << 30)
    #expect(rows[1]["budget_bytes"] == nil && rows[1]["evicted_pages"] as? Int == 0)
    // The table says the same.
    let table = try Program.run(["cache", "replay", path, "--budget", "8GiB"])
    #expect(table.status == 0 && table.outputText.contains("8.00 GiB"), "\(table)")
  }

  @Test func aTraceIsServedOnAModel() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let (path, recording) = (folder.file("requests.jsonl"), folder.file("replay.afmtrace"))
    let made = try Program.run(
      ["cache", "generate", "mooncake-conversation", path, "--requests", "30"])
    #expect(made.status == 0, "\(made)")
    func replay(_ options: String) throws -> Program.Result {
      try Program.run(
        ["replay", path] + samples.arguments("--model @tiny.afmw \(options)"))
    }
    let result = try replay(
      "--shorten 64 --page 16 --time-scale 0 --sessions 3 -t 2 -ctk q8_0 --json --trace \(recording)"
    )
    #expect(result.status == 0 && result.error.isEmpty, "\(result)")
    let report = try #require(try result.json() as? [String: Any])
    let rows = try #require(report["requests"] as? [[String: Any]])
    // The model has room for 256 positions.
    let refused = rows.filter { ($0["error"] as? String)?.contains("256 positions") == true }
    #expect(rows.count == 30 && report["refused"] as? Int == refused.count)
    #expect(report["served"] as? Int == 30 - refused.count && refused.count < 30)
    let (hits, computed) = (report["hit_positions"] as? Int, report["prefill_positions"] as? Int)
    #expect((hits ?? 0) + (computed ?? 0) == report["prompt_positions"] as? Int)
    // The same as a table, with the first request that is refused and why.
    let table = try replay("--shorten 64 --page 16 --time-scale 0 --sessions 3 -ctk q8_0")
    #expect(table.outputText.split(separator: "\n").allSatisfy { $0.count <= 112 }, "\(table)")
    #expect(
      table.outputText.contains("is refused: ") == !refused.isEmpty
        && table.outputText.contains("| requests served"), "\(table)")
    let summary = try Program.run(["trace", "summary", recording, "--json"])
    let recorded = try #require(try summary.json() as? [String: Any])
    let requests = try #require(recorded["requests"] as? [[String: Any]])
    #expect(requests.count == 30 && report["dropped_events"] as? Int == 0)
    // Each request is in both, and says the same of itself to the nanosecond.
    for row in rows {
      let found = requests.filter { $0["request"] as? Int == row["request"] as? Int }
      try #require(found.count == 1)
      #expect(found[0]["ttft_ns"] as? Int == row["ttft_ns"] as? Int)
      #expect(found[0]["tpot_ns"] as? Double == row["tpot_ns"] as? Double)
      #expect(found[0]["test"] as? String == "replay" && found[0]["tier"] as? String == "on-device")
      #expect((found[0]["model_filename"] as? String)?.hasSuffix("tiny.afmw") == true)
      #expect(found[0]["reasoning"] as? String == "none" && found[0]["type_k"] as? String == "q8_0")
      if row["error"] != nil {
        #expect(found[0]["stop_reason"] as? String == "refused")
        continue
      }
      #expect(found[0]["queued_ns"] as? Int == row["waited_ns"] as? Int)
      #expect(found[0]["cached_tokens"] as? Int == row["cached_tokens"] as? Int)
      #expect(found[0]["prompt_tokens"] as? Int == row["input_tokens"] as? Int)
      #expect(found[0]["output_tokens"] as? Int == row["output_tokens"] as? Int)
    }
    #expect(requests.contains { ($0["queued_ns"] as? Int ?? 0) > 0 })
    for (options, says) in [
      ("--shorten 7", "--shorten 7"), ("--page 20", "--page"), ("--page 1024", "--page"),
      ("--budget 1,2", "--budget"), ("--sessions 0", "--sessions"), ("-ctk q3", "-ctk 'q3'"),
    ] {
      let mistake = try replay(options)
      #expect(mistake.status == 2 && mistake.error.contains(says), "\(mistake)")
    }
    let small = try replay("--budget 1KiB")
    #expect(small.status == 2 && small.error.contains("does not hold one page"), "\(small)")
  }

  @Test func aPromptsCacheIsKeptInAFile() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let cache = folder.file("prompt.kv")
    func generate(_ prompt: String, _ options: String = "") throws -> Program.Result {
      try prompt.write(toFile: folder.file("prompt"), atomically: true, encoding: .utf8)
      return try Program.run(
        ["generate", "--prompt-file", folder.file("prompt"), "-n", "5", "--cache-file", cache]
          + samples.arguments("--model @tiny.afmw -ctk s8 \(options)"))
    }
    func answer(_ result: Program.Result) throws -> (ids: [Int]?, cached: Int?) {
      #expect(result.status == 0, "\(result)")
      let json = try #require(try result.json() as? [String: Any])
      return (json["ids"] as? [Int], json["cached_tokens"] as? Int)
    }
    let text = (0..<15).map { "word \($0)" }.joined(separator: ", ")
    let first = try answer(generate(text))
    #expect(first.cached == 0 && FileManager.default.fileExists(atPath: cache))
    let again = try answer(generate(text))
    let cached = try #require(again.cached)
    #expect(again.ids == first.ids && cached > 0 && cached % 64 == 0)
    // Another end of the prompt uses what is the same.
    #expect(try answer(generate(String(text.dropLast()) + "!")).cached == cached)
    #expect(try answer(generate("Other words")).cached == 0)
    let foreign = try generate(text, "-ctv s8")
    #expect(foreign.status == 3 && foreign.errorLines.count == 1, "\(foreign)")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: cache))
    try bytes.dropLast(20).write(to: URL(fileURLWithPath: cache))
    let cut = try generate(text)
    #expect(cut.status == 3 && cut.error.contains("20 bytes are missing"), "\(cut)")
  }

  @Test func aTraceGoesThroughPipes() throws {
    let result = try Program.shell(
      """
      "$AFM" cache generate azure-2023-code - --requests 50 --seed 3 \
      | "$AFM" cache replay - --page 64 --json
      """)
    #expect(result.status == 0, "\(result)")
    let report = try #require(try result.json() as? [String: Any])
    #expect(report["requests"] as? Int == 50)
  }

  @Test(
    arguments: [
      (["cache", "replay", "@", "--page", "0"], 2, "--page must be at least 1"),
      (["cache", "replay", "@", "--budget", "64XB"], 2, "--budget '64XB'"),
      (["cache", "replay", "@", "--budget", "1KiB"], 2, "does not hold one page of 9175040 bytes"),
      (["cache", "replay", "@", "--time-scale", "-1"], 2, "--time-scale"),
      (["cache", "replay", "@", "--cache", "x"], 2, "'x'"),
      (["cache", "replay", "@"], 3, "line 2: output_length: no number at column 54"),
      (["cache", "replay", "/nowhere/x"], 3, "/nowhere/x"),
      (["cache", "generate", "x", "@"], 2, "'x'"),
      (["cache", "generate", "azure-2023-code", "/nowhere/x"], 4, "/nowhere/x"),
    ] as [([String], Int32, String)])
  func mistakesAreNamed(_ arguments: [String], _ status: Int32, _ says: String) throws {
    let folder = try TemporaryFolder()
    let line = #"{"timestamp": 3, "input_length": 5, "output_length": 7, "hash_ids": [0]}"#
    // The second line is read only where the command gets that far.
    let isCut = arguments.count == 3 && status == 3
    try Data((line + "\n" + (isCut ? line.replacing("7", with: "x") : line)).utf8)
      .write(to: folder.url("t"))
    let result = try Program.run(arguments.map { $0 == "@" ? folder.file("t") : $0 })
    #expect(result.status == status, "\(result)")
    #expect(result.outputText.isEmpty, "\(result)")
    #expect(result.error.contains(says), "\(result)")
  }
}
