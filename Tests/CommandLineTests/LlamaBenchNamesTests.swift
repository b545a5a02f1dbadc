import Foundation
import TestSupport
import Testing

/// llama-bench's options: those with a meaning here have it under each of their names, and the others
/// are refused with the reason.
@Suite struct LlamaBenchNamesTests {
  private func rows(_ line: String) throws -> [[String: Any]] {
    let samples = try Samples.shared.get()
    let result = try Program.run(samples.arguments(line))
    try #require(result.status == 0, "\(result)")
    return try #require(try result.json() as? [[String: Any]])
  }

  /// What a row was asked for, and how often it was measured.
  private func request(_ row: [String: Any]) -> [String] {
    let fields = [
      "n_prompt", "n_gen", "n_depth", "n_batch", "n_ubatch", "n_threads", "type_k", "type_v",
    ]
    let samples = (row["samples_ns"] as? [Any])?.count ?? 0
    return fields.map { "\($0) \(row[$0].map { "\($0)" } ?? "")" } + ["\(samples) samples"]
  }

  @Test func longNamesMeanWhatTheShortOnesMean() throws {
    let common = " --tier on-device --json"
    let short = try rows(
      "run -m @tiny.afmw -p 4,8 -n 2 -d 0,16 -t 1 -r 2 -b 8 -ub 4 -ctk s8 -ctv f16" + common)
    let long = try rows(
      "run --model @tiny.afmw --n-prompt 4,8 --n-gen 2 --n-depth 0,16 --threads 1 "
        + "--repetitions 2 --batch-size 8 --ubatch-size 4 --cache-type-k s8 --cache-type-v f16"
        + common)
    let repeated = try rows(
      "run @tiny.afmw -p 4 -p 8 -n 2 -d 0 -d 16 -t 1 -r 2 -b 8 -ub 4 -ctk s8 -ctv f16" + common)
    #expect(short.count == 6)
    #expect(short.map(request) == long.map(request))
    #expect(short.map(request) == repeated.map(request))
    #expect(short.allSatisfy { $0["n_batch"] as? Int == 8 && $0["n_ubatch"] as? Int == 4 })
  }

  @Test(arguments: [
    ("-b 64 -ub 16", 64, 16), ("-ub 32", 32, 32), ("-b 16", 16, 16), ("-b 8 -ub 512", 8, 8),
    ("", 512, 512),
  ])
  func aStepHasAtMostABatch(options: String, batch: Int, step: Int) throws {
    let rows = try rows("run @tiny.afmw -p 40 -r 1 --tier on-device --json \(options)")
    #expect(rows.first?["n_batch"] as? Int == batch)
    #expect(rows.first?["n_ubatch"] as? Int == step)
  }

  @Test func theWarmUpCanBeLeftOut() throws {
    let line = "run @tiny.afmw -p 4 -r 2 --tier on-device --progress --json"
    let samples = try Samples.shared.get()
    let with = try Program.run(samples.arguments(line))
    let without = try Program.run(samples.arguments(line + " --no-warmup"))
    #expect(with.errorLines.count == 3 && with.error.contains("warm-up"), "\(with)")
    #expect(without.errorLines.count == 2 && !without.error.contains("warm-up"), "\(without)")
    #expect(try (without.json() as? [[String: Any]])?.count == 1)
  }

  @Test func aDelayComesBeforeEveryRepetitionExceptTheFirst() throws {
    let samples = try Samples.shared.get()
    let line = "run @tiny.afmw -p 1 -r 2 --tier on-device --no-warmup --delay 0.4 --json"
    let clock = ContinuousClock()
    let elapsed = try clock.measure {
      let result = try Program.run(samples.arguments(line))
      #expect(result.status == 0, "\(result)")
    }
    #expect(elapsed > .milliseconds(400))
  }

  @Test func aSecondReportGoesToStandardError() throws {
    let samples = try Samples.shared.get()
    let line = "run @tiny.afmw -p 4 -r 1 --tier on-device --output json"
    for option in ["-oe", "--output-err"] {
      let result = try Program.run(samples.arguments(line + " \(option) csv"))
      #expect(result.status == 0, "\(result)")
      #expect(try (result.json() as? [[String: Any]])?.count == 1)
      #expect(result.error.hasPrefix("build_commit,"), "\(result)")
    }
    let verbose = try Program.run(samples.arguments(line + " -v"))
    #expect(verbose.error.contains("gemm_") && verbose.errorLines.count == 1, "\(verbose)")
  }

  @Test(arguments: [
    ("-ngl 99", "GPU"), ("--n-gpu-layers=99", "GPU"), ("-sm none", "GPU"), ("-mg 0", "GPU"),
    ("-ts 1/1", "GPU"), ("-dev none", "GPU"), ("-nkvo 1", "GPU"), ("-ot a=b", "GPU"),
    ("-ncmoe 1", "GPU"), ("-fa 1", "attention"), ("--flash-attn on", "attention"),
    ("--numa distribute", "numactl"), ("--prio 2", "nice"), ("-C 0x3", "taskset"),
    ("--poll 50", "--polite"), ("-mmp 0", "--mmap"), ("-lm mmap", "--mmap"),
    ("-embd 1", "embeddings"), ("--rpc host:1", "remote"), ("-hf a/b", "download"),
    ("-nr", "pack --layout kernel"), ("--n-gen-warmup 2", "--no-warmup"),
  ])
  func whatACPUEngineCannotHaveIsRefusedWithTheReason(option: String, reason: String) throws {
    let samples = try Samples.shared.get()
    let name = option.prefix { $0 != " " && $0 != "=" }
    for command in ["run @tiny.afmw", "generate -m @tiny.afmw --prompt-file @prompt"] {
      let result = try Program.run(samples.arguments("\(command) \(option)"))
      #expect(result.status == 2, "\(result)")
      #expect(result.errorLines.count == 1, "\(result)")
      #expect(result.error.contains("\(name): ") && result.error.contains(reason), "\(result)")
    }
  }

  /// A name that both sides have would never reach the parser.
  @Test func nothingThatIsRefusedIsAnOptionHere() throws {
    let help = try Program.run(["run", "--help"]).outputText
    #expect(help.contains("--n-prompt"))
    for name in ["-ngl", "-fa", "-sm", "-mg", "-ts", "--numa", "-C,", "--poll", "-hf", "-embd"] {
      #expect(!help.contains(" \(name)"), "\(name)")
    }
  }

  @Test(arguments: [
    ("-p \"64, 8\"", "8,64"), ("-n \" 2 , 3\"", "2,3"), ("-pg \"4, 2\"", "4"),
    ("-p 4 --tier \"on-device, private-cloud\"", "4,4"), ("-p 4 -ctk \"f16, s8\"", "4,4"),
    ("-p 4 -t \"1, 2\"", "4,4"),
  ])
  func blanksInListsAreTrimmed(options: String, lengths: String) throws {
    let samples = try Samples.shared.get()
    let tier = options.contains("--tier") ? "" : "--tier on-device"
    let result = try Program.shell("\"$AFM\" run \(samples.packed) \(tier) -r 1 --json \(options)")
    try #require(result.status == 0, "\(result)")
    let rows = try #require(try result.json() as? [[String: Any]])
    let found = rows.map { max($0["n_prompt"] as? Int ?? 0, $0["n_gen"] as? Int ?? 0) }.sorted()
    #expect(found.map(String.init).joined(separator: ",") == lengths)
  }
}
