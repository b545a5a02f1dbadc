import Foundation
import TestSupport
import Testing

/// `make`: presets through the whole program.
@Suite struct MakeTests {
  private static let tiny = "afm-ondevice-tiny"

  @Test func aPresetCanBeInspectedVerifiedAndDumped() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tiny.afmw")
    let made = try Program.run(["make", Self.tiny, path, "--json", "-t", "2"])
    #expect(made.status == 0, "\(made)")
    #expect(made.error.isEmpty, "progress in a pipe: \(made)")
    let report = try #require(try made.json() as? [String: Any])
    #expect(report["parameters"] as? Int == 6_377_936)
    #expect(report["adapter_parameters"] as? Int == 1_189_888)
    #expect(report["preset"] as? String == Self.tiny)
    let bytes = try #require(report["bytes"] as? Int)
    #expect(try Data(contentsOf: folder.url("tiny.afmw")).count == bytes)

    #expect(try Program.run(["verify", path]).status == 0)
    let inspected = try Program.run(["inspect", path])
    #expect(inspected.status == 0, "\(inspected)")
    for words in ["afm-ondevice", "blk.7.ffn_down.weight", "blk.4.attn_k_norm.weight", "u2c"] {
      #expect(inspected.outputText.contains(words), "\(words)")
    }
    let dumped = try Program.run(["dump", path, "blk.5.attn_q.weight", folder.file("q.f32")])
    #expect(dumped.status == 0, "\(dumped)")
    #expect(try Data(contentsOf: folder.url("q.f32")).count == 256 * 256 * 4)
  }

  @Test func theSameSeedGivesTheSameFile() throws {
    let folder = try TemporaryFolder()
    func made(_ name: String, _ options: String...) throws -> Data {
      let result = try Program.run(
        ["make", Self.tiny, folder.file(name), "--weights", "s8c"] + options)
      #expect(result.status == 0, "\(result)")
      return try Data(contentsOf: folder.url(name))
    }
    let first = try made("1", "-t", "1", "--seed", "42")
    #expect(try made("2", "-t", "3", "--seed", "42") == first)
    #expect(try made("3", "--seed", "43") != first)
  }

  @Test func thePresetRunsWithAdaptersAndEveryCache() throws {
    let folder = try TemporaryFolder()
    let (model, adapter) = (folder.file("tiny.afmw"), folder.file("adapter.safetensors"))
    #expect(try Program.run(["make", Self.tiny, model]).status == 0)
    let made = try Program.run(["make", Self.tiny, adapter, "--adapter-rank", "4", "--json"])
    #expect(
      made.status == 0 && made.outputText.contains("\"adapter_parameters\":148736"), "\(made)")
    let line = [
      "run", model, "-p", "20", "-n", "4", "-r", "1", "--tier", "on-device", "--json", "-ctk",
      "f16,s8,s8static,u4g32", "-ctv", "s8static", "--adapter", "none", "--adapter", adapter,
    ]
    let result = try Program.run(line)
    #expect(result.status == 0, "\(result)")
    let rows = try #require(
      try JSONSerialization.jsonObject(with: result.output) as? [[String: Any]])
    // Two tests of four caches, each with and without the adapter.
    #expect(rows.count == 16 && rows.allSatisfy { $0["error"] is NSNull })
    #expect(rows.filter { $0["adapter"] as? String == adapter }.count == 8)
    #expect(rows.allSatisfy { $0["prefill_layers"] as? String == "needed" })
    let wrong = try Program.run(["run", model, "-n", "1", "--adapter", model])
    #expect(wrong.status == 3 && wrong.error.contains(model), "\(wrong)")
  }

  @Test(arguments: [
    (
      "afm-ondevice-2031 o", Int32(2), "'afm-ondevice-2031' is unknown: known are afm-ondevice-2025"
    ),
    ("afm-ondevice-tiny o --level 99", 2, "--level must be in"),
    ("afm-ondevice-tiny o --weights u3c", 2, "u3c"),
    ("afm-ondevice-tiny o --seed -1", 2, "seed"),
    ("afm-ondevice-tiny absent/o", 4, "absent/o: cannot create"),
  ])
  func mistakesLeaveNothing(line: String, code: Int32, says: String) throws {
    let folder = try TemporaryFolder()
    let words = line.split(separator: " ").map {
      $0.hasSuffix("o") ? folder.file(String($0)) : String($0)
    }
    let result = try Program.run(["make"] + words)
    #expect(result.status == code, "\(result)")
    #expect(result.error.contains(says), "\(result)")
    #expect(folder.names.isEmpty)
  }

  @Test func aSignalLeavesNothing() throws {
    let folder = try TemporaryFolder()
    let result = try Program.run(
      Program.path, ["make", "afm-ondevice-2024", folder.file("o"), "-t", "1"]
    ) { process in
      usleep(400_000)
      kill(process.processIdentifier, SIGINT)
    }
    #expect(result.status == -SIGINT, "\(result)")
    #expect(folder.names.isEmpty)
  }
}
