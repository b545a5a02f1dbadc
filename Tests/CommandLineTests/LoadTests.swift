import Foundation
import TestSupport
import Testing

/// `load` and the two forms of files that it reads.
@Suite struct LoadTests {
  private static func pack(_ layout: String, in folder: TemporaryFolder) throws -> String {
    let path = folder.file("\(layout).afmw")
    let samples = try Samples.shared.get()
    let result = try Program.run(
      ["pack", samples.gguf, path, "--weights", "u2c", "--layout", layout])
    #expect(result.status == 0, "\(result)")
    return path
  }

  @Test(arguments: [("canonical", true), ("kernel", true), ("kernel", false)])
  func stagesAreReported(layout: String, maps: Bool) throws {
    let folder = try TemporaryFolder()
    let path = try Self.pack(layout, in: folder)
    let trace = folder.file("load.afmtrace")
    let result = try Program.run(["load", path, "-r", "2", "--json", "--trace", trace] + (maps ? ["--mmap"] : []))
    #expect(result.status == 0, "\(result)")
    let report = try #require(try result.json() as? [String: Any])
    #expect(report["file"] as? String == path)
    #expect(report["page_cache"] as? String == "warm")
    #expect((report["ready_seconds"] as? [Double])?.count == 2)
    let tensorBytes = try #require(report["tensor_bytes"] as? Int)
    let mappedBytes = try #require(report["mapped_bytes"] as? Int)
    #expect(tensorBytes > 0)
    #expect(layout == "kernel" && maps ? mappedBytes > 0 : mappedBytes == 0)
    let stages = try #require(report["stages"] as? [[String: Any]])
    #expect(
      stages.compactMap { $0["stage"] as? String }
        == ["read", "check", "inflate", "allocate", "transcode", "validate"])
    #expect(stages.allSatisfy { ($0["processor_seconds"] as? Double ?? -1) >= 0 })
    let summary = try Program.run(["trace", "export", trace, "--to", "perfetto", trace + ".pb"])
    #expect(summary.status == 0, "\(summary)")
  }

  /// A model of more bytes than the bound: neither the file's pages nor planes in two layouts may
  /// add up.
  @Test(.needs(.model), arguments: ["canonical", "kernel"])
  func memoryIsThatOfTheTensorsAndABoundedRest(layout: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("model.afmw")
    let packed = try Program.run(
      ["pack", try Oracle.model.path(), path, "--weights", "s8c", "--layout", layout])
    #expect(packed.status == 0, "\(packed)")
    for mapping in layout == "kernel" ? [[], ["--mmap"]] : [[]] {
      let result = try Program.run(["load", path, "-t", "2", "-r", "1", "--json"] + mapping)
      #expect(result.status == 0, "\(result)")
      let report = try #require(try result.json() as? [String: Any])
      let bound = 96 << 20
      #expect(try #require(report["tensor_bytes"] as? Int) > bound)
      #expect(try #require(report["peak_rss_over_tensor_bytes"] as? Int) <= bound)
    }
  }

  @Test func bothFormsOfAFileGiveTheSameAnswers() throws {
    let folder = try TemporaryFolder()
    let samples = try Samples.shared.get()
    var outputs: [Data] = []
    for layout in ["canonical", "kernel"] {
      let path = try Self.pack(layout, in: folder)
      let verified = try Program.run(["verify", path])
      #expect(verified.status == 0, "\(verified)")
      let values = folder.file("\(layout).f32")
      let dumped = try Program.run(["dump", path, "blk.0.attn_q.weight", values])
      #expect(dumped.status == 0, "\(dumped)")
      outputs.append(try Data(contentsOf: URL(filePath: values)))
    }
    #expect(outputs[0] == outputs[1])
    #expect(!samples.gguf.isEmpty)
  }

  @Test func aFileThatIsNoContainerIsRefused() throws {
    let samples = try Samples.shared.get()
    let result = try Program.run(["load", samples.gguf])
    #expect(result.status == 3, "\(result)")
    #expect(result.errorLines.count == 1, "\(result)")
  }
}
