import Foundation
import TestSupport
import Testing

/// Outputs appear whole or not at all: whatever fails, or whoever interrupts.
@Suite struct OutputTests {
  /// Whether file systems may be mounted in a namespace of our own.
  static let canMount: Bool = {
    guard geteuid() == 0 else { return false }
    let result = try? Program.run("/bin/sh", ["-c", "unshare -m mount -t tmpfs none /mnt"])
    return result?.status == 0
  }()

  @Test func aReportThatCannotBeWrittenIsNoSuccess() throws {
    let samples = try Samples.shared.get()
    for line in ["inspect \(samples.packed)", "run \(samples.packed) -p 4 -r 1 --tier on-device"] {
      let result = try Program.shell("\"$AFM\" \(line) > /dev/full")
      #expect(result.status == 4, "\(result)")
      #expect(result.errorLines.count == 1, "\(result)")
    }
    let closed = try Program.shell("\"$AFM\" inspect \(samples.packed) >&-")
    #expect(closed.status == 4, "\(closed)")
    let ids = try Program.shell(
      "echo '[1,2]' | \"$AFM\" tokenize --model \(samples.packed) --decode > /dev/full")
    #expect(ids.status == 4, "\(ids)")
  }

  @Test func aReaderThatLeavesEndsItQuietly() throws {
    let samples = try Samples.shared.get()
    let result = try Program.shell(
      "(sleep 0.2; \"$AFM\" inspect \(samples.packed); echo $? >&2) | true")
    #expect(result.status == 0)
    #expect(result.errorLines.last == "4", "\(result)")
    #expect(result.errorLines.count == 2, "\(result)")
  }

  @Test(.enabled(if: canMount, "needs root and mount namespaces"))
  func aFullDiskLeavesNothingBehind() throws {
    let samples = try Samples.shared.get()
    let script = """
      mount -t tmpfs -o size=64k none /mnt || exit 99
      for line in "pack \(samples.gguf) /mnt/o" \
        "dump \(samples.gguf) token_embd.weight /mnt/o" \
        "run \(samples.packed) -n 64 -r 6 --bundle /mnt/bundle --trace /mnt/trace"
      do
        "$AFM" $line > /dev/null; echo "code $?"
        find /mnt -type f
      done
      """
    let result = try Program.run(
      "/usr/bin/unshare", ["-m", "bash", "-c", script], environment: ["AFM": Program.path])
    #expect(result.status == 0, "\(result)")
    #expect(result.outputText == "code 4\ncode 4\ncode 4\n", "\(result)")
    #expect(result.error.contains("No space left on device"), "\(result)")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func aSignalDuringPackLeavesNothing(signal: Int32) throws {
    let folder = try TemporaryFolder()
    try Self.slowModel.write(to: folder.url("in.gguf"))
    let result = try Program.run(
      Program.path,
      [
        "pack", folder.file("in.gguf"), folder.file("out.afmw"), "--weights", "f32", "--level",
        "22", "-t", "1",
      ]
    ) { process in
      usleep(400_000)
      kill(process.processIdentifier, signal)
    }
    #expect(result.status == -signal, "\(result)")
    #expect(folder.names == ["in.gguf"])
  }

  /// Where the file system has no unnamed files the partial file has a name from the start.
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func aSignalRemovesANamedPartialFile(signal: Int32) throws {
    let folder = try TemporaryFolder()
    try Self.slowModel.write(to: folder.url("in.gguf"))
    var during: [String] = []
    let result = try Program.run(
      Program.path,
      [
        "pack", folder.file("in.gguf"), folder.file("out.afmw"), "--weights", "f32", "--level",
        "22", "-t", "1",
      ],
      environment: ["AFM_NAMED_PARTIAL_FILES": "1"]
    ) { process in
      while process.isRunning, folder.names.count < 2 { usleep(10_000) }
      during = folder.names
      kill(process.processIdentifier, signal)
    }
    #expect(result.status == -signal, "\(result)")
    #expect(during.contains { $0.hasSuffix(".partial") }, "\(during)")
    #expect(folder.names == ["in.gguf"])
  }

  /// A model of 10 MB, which zstd's slowest level works on for seconds.
  private static let slowModel = TinyModel(extraTokens: 40_000).bytes
}
