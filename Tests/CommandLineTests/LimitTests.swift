import Foundation
import TestSupport
import Testing

/// What the system refuses (descriptors, memory, file size, processor time, threads) ends in the
/// documented exit code and one line that names it, never in a signal or a wait.
@Suite struct LimitTests {
  /// A command under a limit, which the loader of shared libraries has to survive first.
  struct Limit: CustomTestStringConvertible, Sendable {
    var limit: String
    var line: String
    var testDescription: String { "\(limit): \(line)" }
  }

  /// `$OUT` is a folder of the case's own.
  static let commands = [
    "inspect @tiny.afmw", "verify @tiny.afmw",
    "generate --model @tiny.afmw --prompt-file @prompt -n 2", "pack @tiny.gguf $OUT/packed",
    "logits --model @tiny.afmw --ids-file @ids",
    "run @tiny.afmw -p 4 -r 1 --tier on-device --bundle $OUT/bundle",
  ]

  static let descriptors = [4, 5, 6, 8].flatMap { count in
    commands.map { Limit(limit: "ulimit -n \(count)", line: $0) }
  }
  static let memory = [90_000, 100_000, 110_000, 120_000, 131_072, 160_000].flatMap { kib in
    commands.map { Limit(limit: "ulimit -v \(kib)", line: $0) }
  }

  /// Runs a command under a limit; nil where the system's loader could not even start it.
  private func run(_ limit: Limit, seconds: Double = 20) throws -> Program.Result? {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let words = samples.arguments(limit.line).map { "\"\($0)\"" }.joined(separator: " ")
    let result = try Program.shell(
      "\(limit.limit); exec \"$AFM\" \(words)", environment: ["OUT": folder.path],
      seconds: seconds)
    if result.status != 0 { #expect(folder.names.filter { $0 != "bundle" } == [], "\(result)") }
    if result.error.contains("error while loading shared libraries") { return nil }
    return result
  }

  private func expectEnd(_ result: Program.Result?) {
    guard let result else { return }
    #expect(result.status == 0 || result.status == 4, "\(result)")
    #expect(result.errorLines.count <= 1, "\(result)")
    if result.status == 4 {
      #expect(result.error.hasPrefix("afm-bench: "), "\(result)")
      #expect(!result.error.contains("internal error"), "\(result)")
    }
  }

  @Test(arguments: descriptors) func descriptorsThatAreRefused(_ limit: Limit) throws {
    expectEnd(try run(limit))
  }

  @Test(arguments: memory) func memoryThatIsRefused(_ limit: Limit) throws {
    expectEnd(try run(limit))
  }

  @Test func aTextThatMemoryDoesNotHold() throws {
    let result = try #require(
      try run(
        Limit(
          limit: "ulimit -v 400000", line: "score --model @tiny.afmw --text-file /dev/zero"),
        seconds: 60))
    #expect(result.status == 4, "\(result)")
    #expect(result.error.hasPrefix("afm-bench: out of memory: the system refused "), "\(result)")
    #expect(result.errorLines.count == 1, "\(result)")
  }

  @Test func aCacheThatMemoryDoesNotHold() throws {
    let folder = try TemporaryFolder()
    let trace = folder.file("requests.csv")
    try Data("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9,8,2\n".utf8)
      .write(to: URL(fileURLWithPath: trace))
    let result = try #require(
      try run(
        Limit(
          limit: "ulimit -v 400000",
          line: "replay \(trace) --model @tiny.afmw --budget 512GiB")))
    #expect(result.status == 4, "\(result)")
    #expect(result.error.contains("does not give the cache 549755813888 bytes"), "\(result)")
  }

  /// Threads can be refused to others than root alone, and root can become another.
  static let canBeNobody: Bool = {
    guard geteuid() == 0 else { return false }
    return (try? Program.run("/usr/bin/setpriv", ["--reuid=65534", "true"]))?.status == 0
  }()

  @Test(.enabled(if: canBeNobody, "needs root and setpriv"))
  func threadsThatAreRefused() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o777], ofItemAtPath: folder.path)
    func limited(_ line: String) throws -> Program.Result {
      let words = samples.arguments(line).map { "'\($0)'" }.joined(separator: " ")
      // The shell becomes setpriv, and that the program: one process, and no thread beside it.
      return try Program.shell(
        "chmod 755 \(samples.folder.path); cd \(folder.path); ulimit -u 1; "
          + "exec setpriv --reuid=65534 --clear-groups \"$AFM\" \(words)")
    }
    for line in [
      "generate --model @tiny.afmw --prompt-file @prompt -n 2 -t 2",
      "run @tiny.afmw -p 4 -r 1 -t 2", "kernels --shape 64x64 --weights s8c --in cache -t 2",
      "roof -t 2 -r 1", "load @tiny.afmw -r 1 -t 2",
    ] {
      let result = try limited(line)
      if result.status == 126 || result.status == 127 { return }
      #expect(result.status == 4, "\(line): \(result)")
      #expect(result.error.contains("cannot start thread 2 of 2: "), "\(line): \(result)")
      #expect(result.errorLines.count == 1, "\(result)")
    }
    // Packing is the same on fewer threads, and so is an answer where nobody named a number; both
    // say so.
    let packed = try limited("pack @tiny.gguf packed.afmw -t 2")
    #expect(packed.status == 0, "\(packed)")
    #expect(packed.error.contains("note: the system refused"), "\(packed)")
    let generated = try limited("generate --model @tiny.afmw --prompt-file @prompt -n 2")
    #expect(generated.status == 0, "\(generated)")
    #expect(generated.error.contains("note: the system refused"), "\(generated)")
  }

  @Test func aFileSizeThatIsRefused() throws {
    let folder = try TemporaryFolder()
    for line in [
      "pack @tiny.gguf \(folder.file("o"))", "export @tiny.afmw \(folder.file("o"))",
      "dump @tiny.afmw token_embd.weight \(folder.file("o"))",
      "run @tiny.afmw -n 64 -r 3 --tier on-device --trace \(folder.file("o.afmtrace"))",
    ] {
      let result = try #require(try run(Limit(limit: "ulimit -f 4", line: line)))
      #expect(result.status == 4, "\(result)")
      #expect(result.error.contains("cannot write: File too large"), "\(result)")
      #expect(result.errorLines.count == 1, "\(result)")
      #expect(folder.names.isEmpty)
    }
  }

  @Test func aProcessorTimeThatIsUsedUp() throws {
    let result = try #require(
      try run(Limit(limit: "ulimit -t 2", line: "run @tiny.afmw -n 200 -r 100000"), seconds: 60))
    #expect(result.status == 4, "\(result)")
    let line = "afm-bench: the limit on processor time is used up (ulimit -t)\n"
    #expect(result.error == line, "\(result)")
  }

  /// Whoever maps a file and sees it shrink says so.
  @Test func aMappedModelThatShrinks() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let model = folder.file("model.afmw")
    let packed = try Program.run(
      ["pack", samples.gguf, model, "--weights", "s8c", "--layout", "kernel"])
    #expect(packed.status == 0, "\(packed)")
    let result = try Program.run(
      Program.path, ["run", model, "-n", "200", "-r", "100000", "--mmap", "--tier", "on-device"]
    ) { process in
      // Its weights stay mapped from the loading on; before it the file is looked into. A file of
      // /proc has no length, so it is read to its end.
      var seen = 0
      for _ in 0..<300 where process.isRunning && seen < 5 {
        let file = FileHandle(forReadingAtPath: "/proc/\(process.processIdentifier)/maps")
        let maps = (try? file?.readToEnd()).flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) }
        seen = maps?.contains("model.afmw") == true ? seen + 1 : 0
        usleep(100_000)
      }
      // The path lives for the call.
      _ = unsafe truncate(model, 4096)
    }
    #expect(result.status == 3, "\(result)")
    // Lines of progress may stand before it.
    let last = result.errorLines.last ?? ""
    #expect(last.contains("model.afmw: cannot read: the file became shorter"), "\(result)")
  }

  @Test func aFileThatShrinksWhileItIsVerified() throws {
    let folder = try TemporaryFolder()
    try TinyModel(extraTokens: 200_000).bytes.write(to: folder.url("in.gguf"))
    let whole = folder.file("whole.afmw")
    let packed = try Program.run(
      ["pack", folder.file("in.gguf"), whole, "--weights", "f32", "--level", "1"])
    #expect(packed.status == 0, "\(packed)")
    for round in 0..<8 {
      let model = folder.file("model.afmw")
      try? FileManager.default.removeItem(atPath: model)
      try FileManager.default.copyItem(atPath: whole, toPath: model)
      let result = try Program.run(Program.path, ["verify", model]) { _ in
        usleep(UInt32(20_000 + 12_000 * round))
        // The path lives for the call.
        _ = unsafe truncate(model, 200_000)
      }
      #expect(result.status == 0 || result.status == 3, "\(result)")
      #expect(result.errorLines.count <= 1, "\(result)")
    }
  }

  /// SIGINT and SIGTERM have a run keep what it has; `InterruptionTests` are about them.
  @Test(arguments: [SIGQUIT, SIGHUP, SIGUSR1, SIGALRM])
  func aSignalEndsIt(signal: Int32) throws {
    let samples = try Samples.shared.get()
    let result = try Program.run(
      "/bin/bash", ["-c", "ulimit -c 0; exec \"$AFM\" run \(samples.packed) -n 200 -r 100000"],
      environment: ["AFM": Program.path]
    ) { process in
      usleep(700_000)
      kill(process.processIdentifier, signal)
    }
    #expect(result.status == -signal, "\(result)")
    #expect(result.error.isEmpty, "\(result)")
  }
}
