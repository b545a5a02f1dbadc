import Foundation
import TestSupport
import Testing

/// One run on both tiers at every reasoning level: its rows, its recording and Perfetto's reading of
/// it agree to the nanosecond.
@Suite struct RunTests {
  static let repetitions = 2

  /// A run's rows and files, made once.
  struct Run {
    let folder: TemporaryFolder
    let rows: [[String: Any]]
    var recording: String { folder.file("bundle/trace.afmtrace") }
  }

  // Written once, then only read.
  nonisolated(unsafe) private static let shared = Result {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let result = try Program.run(
      samples.arguments("run @tiny.afmw -p 16 -n 6 -pg 8,4 -r \(repetitions) --prompt-file @prompt")
        + [
          "--reasoning", "none,light,moderate,deep", "--max-tokens", "5", "--reasoning-budget",
          "light=2,moderate=3,deep=4", "--bundle", folder.file("bundle"), "--json",
        ])
    try #require(result.status == 0, "\(result)")
    #expect(result.error.isEmpty, "\(result)")
    return Run(folder: folder, rows: try #require(try result.json() as? [[String: Any]]))
  }

  private var run: Run { get throws { try unsafe Self.shared.get() } }

  private func integer(_ value: Any?) -> Int? { (value as? NSNumber)?.intValue }

  @Test func everyTierAndLevelIsThere() throws {
    let cells = try run.rows.map { row in
      [row["test"], row["tier"], row["reasoning"]].map { $0 as? String ?? "?" }
        .joined(separator: " ")
    }
    var expected = ["pp16", "tg6", "pp8+tg4", "chat"].map { "\($0) on-device none" }
    expected += ["pp16 private-cloud none"]
    for test in ["tg6", "pp8+tg4", "chat"] {
      expected += ["none", "light", "moderate", "deep"].map { "\(test) private-cloud \($0)" }
    }
    #expect(cells.sorted() == expected.sorted())
  }

  @Test func everyFieldOfTheContractIsThere() throws {
    let names = [
      "build_commit", "build_number", "cpu_info", "model_filename", "model_type", "model_size",
      "model_n_params", "n_batch", "n_ubatch", "n_threads", "type_k", "type_v", "n_prompt", "n_gen",
      "n_depth", "test_time", "avg_ns", "stddev_ns", "avg_ts", "stddev_ts", "samples_ns",
      "samples_ts", "tier", "reasoning", "ttft_ns", "ttfo_ns", "tpot_ns", "itl_ns_samples",
      "kv_bytes_allocated", "kv_bytes_used", "kv_bytes_ideal", "kv_bytes_predicted",
      "kv_bytes_shared", "kv_bytes_wasted", "n_sessions",
      "context_limit", "context_used",
      "reasoning_tokens", "weight_bytes", "peak_rss_bytes", "mbu", "verdict", "verdict_reasons",
      "recording_overhead",
    ]
    for row in try run.rows {
      #expect(Set(names).subtracting(row.keys).isEmpty)
      #expect((row["test_time"] as? String)?.hasSuffix("Z") == true)
      #expect((row["prompt_hash"] as? String)?.hasPrefix("fnv1a64:") == true)
      #expect(row["error"] is NSNull)
      #expect(integer(row["context_limit"]) == 256)
      #expect(row["context_limit_source"] as? String == "model")
    }
  }

  @Test func theContextsPartsAddUpToThePositionsInTheCache() throws {
    for row in try run.rows {
      let parts = try #require(row["context_used"] as? [String: Int])
      #expect(
        Set(parts.keys) == ["instructions", "tools", "history", "prompt", "reasoning", "response"])
      // A position of this model takes keys and values of 32 elements each in two layers, in f16.
      let bytesPerPosition = 2 * 2 * 32 * 2
      let used = try #require(integer(row["kv_bytes_used"]))
      #expect(parts.values.reduce(0, +) * bytesPerPosition == used)
      let reasoning = row["reasoning"] as? String
      #expect((parts["reasoning"] == 0) == (reasoning == "none"))
      let budget = ["none": 0, "light": 2, "moderate": 3, "deep": 4][reasoning ?? ""]
      let tokens = try #require(integer(row["reasoning_tokens"]))
      #expect(tokens <= budget ?? -1)
      if row["test"] as? String != "chat" { #expect(tokens == budget) }
    }
  }

  /// What tells rows apart, in the table and in the recording alike.
  static let keys = [
    "test", "turn", "tier", "reasoning", "n_depth", "model_filename", "type_k", "type_v",
    "n_threads", "n_sessions", "adapter",
  ]

  /// A row's key, and a request's; a value that is null or missing is none.
  static func key(_ row: [String: Any]) -> [String] {
    keys.map { name in
      let value = row[name].flatMap { $0 is NSNull ? nil : $0 }
      return value.map { "\($0)" } ?? "-"
    }
  }

  /// The measured requests of a recording by their rows, in the order of their repetitions, and how
  /// many warmed up.
  static func measured(
    _ recording: String
  ) throws -> (requests: [[String]: [[String: Any]]], warmups: Int) {
    let result = try Program.run(["trace", "summary", recording, "--json"])
    try #require(result.status == 0, "\(result)")
    let report = try #require(try result.json() as? [String: Any])
    #expect(report["dropped_events"] as? Int == 0)
    let all = try #require(report["requests"] as? [[String: Any]])
    let measured = all.filter { $0["warmup"] as? Bool == false }
    let rows = Dictionary(grouping: measured, by: key)
    for (key, requests) in rows {
      #expect(requests.map { $0["repetition"] as? Int } == Array(0..<requests.count), "\(key)")
    }
    #expect(all.allSatisfy { ($0["warmup"] as? Bool == true) == ($0["repetition"] == nil) })
    return (rows, all.count - measured.count)
  }

  @Test func theRecordingSaysTheSame() throws {
    let (recorded, warmups) = try Self.measured(run.recording)
    let rows = try run.rows
    #expect(warmups == rows.count)
    // Every row is found, once, and no request belongs to none.
    #expect(Set(rows.map(Self.key)).count == rows.count)
    #expect(Set(rows.map(Self.key)) == Set(recorded.keys))
    for row in rows {
      let matching = try #require(recorded[Self.key(row)], "\(row["test"] ?? "")")
      #expect(matching.count == Self.repetitions, "\(row["test"] ?? "") \(row["tier"] ?? "")")
      for name in ["ttft_ns", "ttfo_ns"] {
        #expect(
          row["\(name)_samples"] as? [Int] == matching.compactMap { integer($0[name]) }, "\(name)")
      }
      let tpot = try #require(row["tpot_ns_samples"] as? [Double])
      #expect(tpot == matching.compactMap { ($0["tpot_ns"] as? NSNumber)?.doubleValue })
      let gaps = matching.flatMap { $0["itl_ns_samples"] as? [Int] ?? [] }
      #expect(row["itl_ns_samples"] as? [Int] == gaps)
      let last = try #require(matching.last)
      #expect(integer(row["output_tokens"]) == integer(last["output_tokens"]))
      #expect(integer(row["reasoning_tokens"]) == integer(last["reasoning_tokens"]))
      #expect(integer(row["kv_bytes_used"]) == integer(last["kv_bytes_used"]))
      #expect(integer(row["kv_bytes_allocated"]) == integer(last["kv_bytes_allocated"]))
      var context = try #require(last["context_used"] as? [String: Int])
      let parts = try #require(row["context_used"] as? [String: Int])
      #expect(context.removeValue(forKey: "total") == parts.values.reduce(0, +))
      #expect(context == parts)
      for name in ["prefill_ts", "decode_ts"] {
        let rates = matching.compactMap { ($0[name] as? NSNumber)?.doubleValue }.sorted()
        // The median of two.
        let median = rates.isEmpty ? nil : (rates[0] + rates[rates.count - 1]) / 2
        let rate = (row[name] as? NSNumber)?.doubleValue
        #expect((rate == nil) == (median == nil), "\(name)")
        if let rate, let median { #expect(abs(rate / median - 1) < 1e-12, "\(name)") }
      }
    }
  }

  /// Every list of a run makes rows of its own, which the recording tells apart.
  @Test func theRecordingTellsTheRowsOfListsApart() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let recording = folder.file("run.afmtrace")
    let copy = folder.file("copy.afmw")
    try FileManager.default.copyItem(atPath: samples.packed, toPath: copy)
    let result = try Program.run(
      samples.arguments(
        "run @tiny.afmw \(copy) -p 4 -n 2 -d 0,16 -t 1,2 -ctk f16,s8 -np 1,2 -r 1 --tier on-device --json"
      )
        + ["--trace", recording])
    try #require(result.status == 0, "\(result)")
    let rows = try #require(try result.json() as? [[String: Any]])
    // Two of each: models, threads, depths, cache formats, numbers of sessions, tests.
    #expect(rows.count == 64)
    let (recorded, warmups) = try Self.measured(recording)
    #expect(warmups == rows.count)
    #expect(Set(rows.map(Self.key)) == Set(recorded.keys))
    for row in rows {
      let matching = try #require(recorded[Self.key(row)])
      #expect(matching.count == 1)
      #expect(row["ttft_ns_samples"] as? [Int] == matching.compactMap { integer($0["ttft_ns"]) })
    }
    // The table of requests says it in words, a block for each model and setting.
    let table = try Program.run(["trace", "summary", recording])
    #expect(table.outputText.contains("on-device · \(copy), 2 threads, KV s8/f16\n"), "\(table)")
    #expect(table.outputText.contains("tg2 @16 ×2"))
    #expect(table.outputText.contains("  warm-up  ") && !table.outputText.contains("  -1  "))
    let widest = table.outputText.split(separator: "\n").filter { !$0.contains(" · ") }
    #expect(widest.allSatisfy { $0.count <= 112 })
  }

  @Test func anExportSaysWhereToOpenItAndIsNoRecording() throws {
    let folder = try TemporaryFolder()
    let trace = folder.file("run.perfetto-trace")
    let export = try Program.run(["trace", "export", run.recording, "--to", "perfetto", trace])
    #expect(export.status == 0 && export.error.isEmpty, "\(export)")
    #expect(export.outputText == "\(trace): open it at https://ui.perfetto.dev\n")
    for arguments in [["summary", trace], ["export", trace, "--to", "perfetto", trace + "2"]] {
      let result = try Program.run(["trace"] + arguments)
      #expect(result.status == 3 && result.errorLines.count == 1, "\(result)")
      #expect(result.error.contains("this is an export for Perfetto; give the recording"))
    }
    #expect(folder.names == ["run.perfetto-trace"])
  }

  @Test(.needs(TraceProcessor.oracle))
  func perfettoReadsTheSame() throws {
    let trace = try run.folder.file("trace.perfetto-trace")
    let export = try Program.run(
      ["trace", "export", run.recording, "--to", "perfetto", trace])
    try #require(export.status == 0, "\(export)")
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: trace))
        == Data(contentsOf: run.folder.url("bundle/trace.perfetto-trace")))
    let errors = try TraceProcessor.rows(
      "select name, value from stats where severity in ('error', 'data_loss') and value > 0", trace)
    #expect(errors.isEmpty, "\(errors)")
    let broken = try TraceProcessor.rows(
      """
      select s.name from slice s left join slice p on s.parent_id = p.id
      where s.name is null or s.name = '' or s.dur < 0
        or (s.depth > 0 and (p.id is null or s.ts < p.ts or s.ts + s.dur > p.ts + p.dur))
      """, trace)
    #expect(broken.isEmpty, "\(broken.prefix(3))")
    let unnamed = try TraceProcessor.rows(
      """
      select name from slice where name = 'request' and (
        extract_arg(arg_set_id, 'debug.test') is null
        or extract_arg(arg_set_id, 'debug.tier') is null
        or extract_arg(arg_set_id, 'debug.reasoningLevel') is null
        or extract_arg(arg_set_id, 'debug.modelFile') is null
        or extract_arg(arg_set_id, 'debug.repetition') is null)
      """, trace)
    #expect(unnamed.isEmpty, "\(unnamed.count)")
    let tracks = try TraceProcessor.rows(
      """
      select distinct t.name, (select count(*) from track c where c.parent_id = t.id) as n
      from slice s join process_track t on s.track_id = t.id where s.name = 'session' order by 1
      """, trace)
    #expect(
      tracks.compactMap { $0["name"] as? String }.map { $0.prefix { $0 != " " } }
        == ["on-device", "private-cloud"], "\(tracks)")
    #expect(tracks.allSatisfy { ($0["name"] as? String)?.contains("tiny.afmw") == true })
    #expect(tracks.allSatisfy { integer($0["n"]) == 10 }, "\(tracks)")
    // At no moment inside a request does a counter stand at what it stood at before it began.
    let late = try TraceProcessor.rows(
      """
      select s.id, t.name, min(c.ts) as first, s.ts, min(child.ts) as child
      from slice s join track t on t.parent_id = s.track_id
      join counter c on c.track_id = t.id and c.ts between s.ts and s.ts + s.dur
      join slice child on child.parent_id = s.id
      where s.name = 'request' group by s.id, t.id having first > child
      """, trace)
    #expect(late.isEmpty, "\(late.prefix(3))")
    let counted = try TraceProcessor.rows(
      """
      select count(distinct s.id || ' ' || t.id) as n, count(distinct s.id) as requests
      from slice s join track t on t.parent_id = s.track_id
      join counter c on c.track_id = t.id and c.ts between s.ts and s.ts + s.dur
      where s.name = 'request'
      """, trace)
    #expect(integer(counted[0]["n"]) == 10 * (integer(counted[0]["requests"]) ?? 0))
    let requests = try TraceProcessor.rows(
      """
      select r.id, min(t.ts + t.dur) - r.ts as ttft, count(t.id) as tokens
      from slice r join descendant_slice(r.id) t
      where r.name = 'request' and t.name = 'token' group by r.id order by r.ts
      """, trace)
    let counts = requests.compactMap { integer($0["tokens"]) }.reduce(0, +)
    let ttfts = Set(requests.compactMap { integer($0["ttft"]) })
    let rows = try run.rows
    for row in rows {
      for sample in try #require(row["ttft_ns_samples"] as? [Int]) {
        #expect(ttfts.contains(sample), "\(row["test"] ?? "")")
      }
    }
    // The gaps and first tokens of all measured rows, and those of the warm-up: a third of them all.
    let measured = rows.reduce(0) {
      $0 + (($1["itl_ns_samples"] as? [Int])?.count ?? 0)
        + (($1["ttft_ns_samples"] as? [Int])?.count ?? 0)
    }
    #expect(counts * Self.repetitions == measured * (Self.repetitions + 1))
  }

  @Test func aTestThatDoesNotFitIsARowThatSaysSo() throws {
    let samples = try Samples.shared.get()
    let result = try Program.run(
      samples.arguments("run @tiny.afmw -p 300,8 -r 1 --tier private-cloud --json"))
    // A row that is no measurement is a check that failed.
    #expect(result.status == 1 && result.errorLines.count == 1, "\(result)")
    #expect(result.error.contains("1 of 2 rows is invalid (tiny.afmw pp300 private-cloud none)"))
    let rows = try #require(try result.json() as? [[String: Any]])
    let errors = rows.map { $0["error"] as? String }
    #expect(
      errors == [
        "private-cloud: context exceeded: the model's limit is 256 positions, 300 needed", nil,
      ])
    #expect(rows.map { $0["verdict"] as? String }.first == "invalid")
    let nothing = try Program.run(samples.arguments("run @tiny.afmw -p 300 -r 1"))
    #expect(nothing.status == 3, "\(nothing)")
    #expect(nothing.errorLines.count == 1)
    #expect(nothing.outputText.contains("300 needed"))
    // What would fit is said.
    let deep = try Program.run(
      samples.arguments(
        "run @tiny.afmw -n 4 -r 1 --tier private-cloud --reasoning none,deep --json"))
    #expect(deep.status == 1 && deep.error.contains("--reasoning-budget deep=N"), "\(deep)")
  }

  @Test func whatIsNotFiniteHasNoRate() throws {
    let samples = try Samples.shared.get()
    let result = try Program.run(samples.arguments("run @nan.gguf -n 4 -r 2 --json"))
    #expect(result.status == 3, "\(result)")
    let rows = try #require(try result.json() as? [[String: Any]])
    #expect(!rows.isEmpty)
    for row in rows {
      #expect(row["avg_ts"] is NSNull && row["decode_ts"] is NSNull && row["mbu"] is NSNull)
      #expect(row["verdict"] as? String == "invalid")
    }
  }

  /// Both tiers are of this process: what is the same on both is measured once, unless it is asked
  /// for by name.
  @Test func theDefaultSetMeasuresNothingTwice() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    try TinyModel(contextLength: 2_048).bytes.write(to: folder.url("long.gguf"))
    let budgets = ["--reasoning-budget", "light=3,moderate=3,deep=5", "--max-tokens", "4"]
    func cells(_ options: [String]) throws -> [String: [String]] {
      let result = try Program.run(
        ["run", folder.file("long.gguf"), "-r", "1", "--json"] + budgets + options)
      #expect(result.status == 0, "\(result)")
      let rows = try #require(try result.json() as? [[String: Any]])
      let pairs = try rows.map { row in
        let turn = integer(row["turn"]).map { " \($0)" } ?? ""
        let names = ["test", "tier", "reasoning"].map { row[$0] as? String ?? "?" }
        return (
          names[0] + turn + " " + names[1...].joined(separator: " "),
          try #require(row["stands_for"] as? [String])
        )
      }
      #expect(Set(pairs.map(\.0)).count == pairs.count)
      return Dictionary(pairs) { first, _ in first }
    }
    let shared = try cells([])
    var expected = [
      "pp512 on-device none": ["private-cloud none"],
      "tg128 on-device none": ["private-cloud none"],
    ]
    for turn in 1...2 {
      expected["chat \(turn) on-device none"] = ["private-cloud none"]
      // Three tokens are three tokens, whatever the level is called.
      expected["chat \(turn) private-cloud light"] = ["private-cloud moderate"]
      expected["chat \(turn) private-cloud deep"] = []
    }
    #expect(shared == expected)
    let asked = try cells([
      "--tier", "on-device,private-cloud", "--reasoning", "none,light,moderate",
    ])
    #expect(asked.count == 1 + 1 + 2 + 1 + 3 + 6, "\(asked)")
    #expect(asked.values.allSatisfy { $0.isEmpty })
    // The first turn may be equal where the second is not: it is measured, and said to be equal.
    let result = try Program.run(
      samples.arguments("run @tiny.afmw --prompt-file @prompt -r 1 --max-tokens 2 --json")
        + ["--tier", "private-cloud", "--reasoning", "light,moderate,deep"]
        + ["--reasoning-budget", "light=3,moderate=3,deep=5"])
    #expect(result.status == 0, "\(result)")
    let rows = try #require(try result.json() as? [[String: Any]])
    let names = rows.map { $0["same_as"] as? String }
    #expect(names == [nil, "private-cloud light", nil])
  }

  /// More threads than cores run, and the row says so.
  @Test func threadsAreAsManyAsAsked() throws {
    let samples = try Samples.shared.get()
    let result = try Program.run(
      samples.arguments("run @tiny.afmw -p 4 -r 1 -t 1,3,64 --tier on-device --json"))
    #expect(result.status == 0, "\(result)")
    let rows = try #require(try result.json() as? [[String: Any]])
    #expect(rows.map { integer($0["n_threads"]) } == [1, 3, 64])
    let cores = try #require(integer(rows[0]["n_cores"]))
    let table = try Program.run(
      samples.arguments("run @tiny.afmw -p 4 -r 1 -t \(cores + 1) --tier on-device"))
    #expect(table.outputText.contains("oversubscribed"), "\(table.outputText)")
    // 1,000 stacks of 8 MiB do not fit, so the system refuses a thread.
    let refused = try Program.shell(
      "ulimit -s 8192; ulimit -v 6000000; \"$AFM\" run \(samples.packed) -p 4 -r 1 -t 1000")
    #expect(refused.status == 4 && refused.errorLines.count == 1, "\(refused)")
    #expect(refused.error.contains("of 1000"), "\(refused)")
  }

  /// The instruction sets and kernels are those that ran, and sizes are what they are called.
  @Test(arguments: ["portable", "avx2", "avx2vnni", "avx512vnni"])
  func labelsAreOfWhatRan(level: String) throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let (astc, twoBits) = (folder.file("astc.afmw"), folder.file("u2t.afmw"))
    for (file, weights) in [(astc, "astc6x6-ldr"), (twoBits, "u2t")] {
      let packed = try Program.run(
        ["pack", samples.gguf, file, "--weights", weights, "--embedding", "s8c"])
      #expect(packed.status == 0, "\(packed)")
    }
    for (model, formats) in [
      (samples.packed, ["s8c"]), (astc, ["astc6x6-ldr", "s8c"]), (twoBits, ["u2c", "s8c"]),
      (samples.gguf, ["f32"]),
    ] {
      let result = try Program.run([
        "run", model, "-p", "4", "-r", "1", "--isa", level, "--tier", "on-device", "--json",
      ])
      // The CPU lacks the level.
      if result.status == 4 { continue }
      #expect(result.status == 0, "\(result)")
      let row = try #require((try result.json() as? [[String: Any]])?.first)
      let kernels = try #require(row["kernels"] as? [String])
      let products = kernels.filter { $0.hasPrefix("gem") && $0.contains("_s8") }
      #expect(
        products.allSatisfy { name in formats.contains { name.contains("_\($0)_") } },
        "\(model): \(products)")
      // GEMV and GEMM of each packed format, and no other.
      #expect(products.count == (formats == ["f32"] ? 0 : 2 * formats.count), "\(products)")
      let linear =
        formats == ["f32"] ? kernels.filter { $0.hasPrefix("gemv_f32_f32_f32") } : products
      let sets = Set(linear.compactMap { $0.split(separator: "_").last.map(String.init) })
      let isa = try #require(row["isa"] as? String)
      #expect(Set(isa.components(separatedBy: " + ")) == sets, "\(model): \(isa) \(linear)")
      #expect(integer(row["model_size"]) == integer(row["weight_bytes"]))
      let size = try FileManager.default.attributesOfItem(atPath: model)[.size] as? Int
      #expect(integer(row["file_bytes"]) == size)
    }
  }

  @Test func aBundleKeepsWhatWasSaid() throws {
    let lines = try String(contentsOf: run.folder.url("bundle/samples.jsonl"), encoding: .utf8)
      .split(separator: "\n")
    for line in lines {
      let sample = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let isChat = sample["test"] as? String == "chat"
      #expect((sample["response_text"] is String) == isChat)
      let thought = (sample["reasoning_text"] as? String)?.isEmpty == false
      #expect(thought == (isChat && sample["reasoning"] as? String != "none"))
    }
  }

  @Test func sessionsRunTogetherAtEveryDepth() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let recording = folder.file("run.afmtrace")
    let result = try Program.run(
      samples.arguments("run @tiny.afmw -p 20 -n 6 -d 0,70 -np 1,3 -r 2 --tier on-device --json")
        + ["--trace", recording])
    #expect(result.status == 0, "\(result)")
    let rows = try #require(try result.json() as? [[String: Any]])
    #expect(rows.count == 8)
    let summary = try Program.run(["trace", "summary", recording, "--json"])
    let report = try #require(try summary.json() as? [String: Any])
    let recorded = try #require(report["requests"] as? [[String: Any]])
    for row in rows {
      #expect(row["error"] is NSNull)
      let sessions = try #require(integer(row["n_sessions"]))
      let depth = try #require(integer(row["n_depth"]))
      let isDecode = row["test"] as? String == "tg6"
      // A token of a decode test comes from its prefill, and the last is not put in the cache.
      let positions = depth + (isDecode ? 7 : 20)
      #expect(integer(row["kv_bytes_used"]) == sessions * positions * 256)
      let allocated = try #require(integer(row["kv_bytes_allocated"]))
      #expect(allocated == sessions * ((positions + 63) / 64) * 64 * 256)
      #expect(integer(row["kv_bytes_predicted"]) == allocated)
      #expect(integer(row["kv_bytes_wasted"]) == allocated - sessions * positions * 256)
      // Whole pages of the depth are the frontier's, and every session holds them too.
      #expect(integer(row["kv_bytes_shared"]) == sessions * (depth / 64) * 64 * 256)
      let matching = recorded.filter {
        integer($0["n_sessions"]) == sessions && integer($0["kv_bytes_used"]) != nil
          && integer($0["cached_tokens"]) == depth
          && integer($0["output_tokens"]) == (isDecode ? 7 : 0)
      }
      // A warm-up and two repetitions.
      #expect(matching.count == 3, "\(row["test"] ?? "") x\(sessions) at \(depth)")
      if isDecode {
        let rate = try #require((row["decode_ts"] as? NSNumber)?.doubleValue)
        let rates = matching.filter { $0["warmup"] as? Bool == false }
          .compactMap { ($0["decode_ts"] as? NSNumber)?.doubleValue }
        #expect(abs(rates.reduce(0, +) / 2 - rate) < 1e-6 * rate)
      }
    }
    let chat = try Program.run(samples.arguments("run @tiny.afmw -n 2 -np 0"))
    #expect(chat.status == 2 && chat.errorLines.count == 1, "\(chat)")
  }

  @Test func everyFormAndOption() throws {
    let samples = try Samples.shared.get()
    let line =
      "run @tiny.afmw -p 4-8*2 -n 2 -d 0,16 -t 1,2 -r 1 -ctk f16,s8 -ctv s8 --tier on-device"
    for (form, beginning, lines) in [
      ("md", "### tiny.afmw\n", nil), ("md --wide", "| model", nil),
      ("csv", "build_commit,", 1 + 24), ("json", "[\n", nil),
      ("jsonl", "{\"build_commit\"", 24), ("sql", "--", nil),
    ] as [(String, String, Int?)] {
      let result = try Program.run(samples.arguments(line + " -o \(form)"))
      #expect(result.status == 0, "\(result)")
      #expect(result.outputText.hasPrefix(beginning), "\(result)")
      if let lines {
        #expect(result.outputText.split(separator: "\n").count == lines, "\(form)")
      }
    }
    let wide = try Program.run(samples.arguments("run @tiny.afmw -p 4 -r 1 --wide"))
    #expect(wide.outputText.contains("private-cloud (modelled"))
    #expect(wide.outputText.contains("the model's context of 256 is the smaller limit"))
    let both = try Program.run(samples.arguments("run @tiny.afmw -p 4 -r 1 --explain"))
    #expect(both.outputText.contains("private-cloud is modelled"))
    #expect(both.outputText.contains("\n- MBU: "))
    // No terminal: as wide as a usual one.
    #expect(both.outputText.split(separator: "\n").allSatisfy { $0.count <= 112 })
    for option in ["--wide", "--explain"] {
      let refused = try Program.run(samples.arguments("run @tiny.afmw -p 4 \(option) -o csv"))
      #expect(refused.status == 2 && refused.error.contains(option), "\(refused)")
    }
  }
}

extension TraceProcessor {
  fileprivate static func rows(_ sql: String, _ trace: String) throws -> [[String: Any]] {
    let output = try rows(of: sql, over: trace)
    return try #require(try JSONSerialization.jsonObject(with: output) as? [[String: Any]])
  }
}
