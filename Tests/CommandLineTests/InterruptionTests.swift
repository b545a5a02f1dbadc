import Foundation
import TestSupport
import Testing

/// A run tells its rows while it measures, says that it lives, and keeps what it has when it is
/// ended early.
@Suite struct InterruptionTests {
  /// How a run that was ended early left things.
  private struct Ended {
    /// Nil while it runs.
    let result: Program.Result?
    let folder: TemporaryFolder
    var lines: [Substring] { text("out").split(separator: "\n") }

    func text(_ name: String) -> String {
      String(decoding: (try? Data(contentsOf: folder.url(name))) ?? Data(), as: UTF8.self)
    }
  }

  /// Runs hours of work on the tiny model, and sends a signal when `isTime` says so.
  private func run(
    _ options: String, signal: Int32, when isTime: (Ended) -> Bool
  ) throws -> Ended {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let line =
      "exec \"$AFM\" run '\(samples.packed)' -p 8 -n 200 -r 300000 -t 1 --tier on-device "
      + "\(options) --bundle bundle > out 2> err"
    let result = try Program.run(
      "/bin/bash", ["-c", "cd '\(folder.path)' && \(line)"], environment: ["AFM": Program.path]
    ) { process in
      let soFar = Ended(result: nil, folder: folder)
      while process.isRunning, !isTime(soFar) { usleep(20_000) }
      kill(process.processIdentifier, signal)
    }
    return Ended(result: result, folder: folder)
  }

  private func json(_ ended: Ended, _ name: String) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(contentsOf: ended.folder.url("bundle/\(name)")))
  }

  /// The first test is of 8 tokens and is done soon; of the second one, samples are missing.
  @Test func aSignalKeepsTheRowsOfThatMoment() throws {
    let ended = try run("-d 0 -o csv --quiet", signal: SIGINT) { soFar in
      // The head of the table comes before anything is measured.
      soFar.lines.count >= 1
    }
    #expect(ended.result?.status == 130, "\(ended.text("err"))")
    // One line says that it ends, one what it has.
    #expect(ended.text("err").split(separator: "\n").count == 2, "\(ended.text("err"))")
    let rows = try #require(try json(ended, "results.json") as? [[String: Any]])
    #expect(ended.lines.count == 1 + rows.count)
    let environment = try #require(try json(ended, "environment.json") as? [String: Any])
    #expect(environment["complete"] as? Bool == false)
    #expect(ended.text("bundle/README.md").contains("Incomplete"))
    for row in rows {
      let samples = try #require(row["samples_ns"] as? [Int])
      #expect(samples.count < 300_000 && !samples.isEmpty)
    }
  }

  @Test func workOffATerminalSaysThatItLives() throws {
    let ended = try run("-o jsonl", signal: SIGTERM) { $0.text("err").contains(" left\n") }
    #expect(ended.result?.status == 143, "\(ended.text("err"))")
    let beats = ended.text("err").split(separator: "\n").filter { $0.hasSuffix("left") }
    #expect(!beats.isEmpty && beats.allSatisfy { $0.contains(" on-device none") }, "\(beats)")
    let rows = try ended.lines.map { line in
      try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    #expect(rows.count >= 1)
    #expect(rows.allSatisfy { $0["avg_ts"] is NSNumber && $0["error"] is NSNull })
  }

  /// The row of the first test is there while the second one is measured.
  @Test func rowsComeAsTheyAreMeasured() throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let result = try Program.run(
      "/bin/bash",
      [
        "-c",
        "cd '\(folder.path)' && exec \"$AFM\" run '\(samples.packed)' -p 8 -n 2 -d 0,200 -r 5000 "
          + "-t 1 --tier on-device -o jsonl > out",
      ], environment: ["AFM": Program.path]
    ) { process in
      while process.isRunning {
        let text = (try? String(contentsOfFile: folder.file("out"), encoding: .utf8)) ?? ""
        if text.contains("\n") { break }
        usleep(2_000)
      }
      #expect(process.isRunning, "the first row came with the last one")
      kill(process.processIdentifier, SIGTERM)
    }
    #expect(result.status == 143, "\(result)")
  }
}
