import Foundation
import TestSupport
import Testing

/// The program says what it was built from, and its results say the same.
@Suite struct VersionTests {
  private static let root = Repository.file("").path

  /// What git prints, its days in UTC; nil where the tests were not built from a clone.
  private static func git(_ arguments: String..., at folder: String = root) throws -> String? {
    let result = try Program.run("/usr/bin/env", ["TZ=UTC", "git", "-C", folder] + arguments)
    guard result.status == 0 else { return nil }
    return result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The commit as results call it.
  private static func identifier() throws -> String {
    guard let commit = try git("rev-parse", "--short", "HEAD") else { return "unknown" }
    let changes = try git(
      "status", "--porcelain", "--", "Package.swift", "Plugins", "Sources", "tools/build-stamp")
    return commit + (changes == "" ? "" : "-dirty")
  }

  @Test func theVersionNamesTheCommit() throws {
    let result = try Program.run(["--version"])
    #expect(result.status == 0, "\(result)")
    let pattern =
      /afm-bench ([0-9.]+) \(([^,]+)(?:, ([0-9]{4}-[0-9]{2}-[0-9]{2}))?, Swift ([0-9][^,]+), ([^,]+)\)\n/
    let parts = try #require(result.outputText.wholeMatch(of: pattern), "\(result)")
    #expect(try String(parts.2) == Self.identifier())
    let date = try Self.git("log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%d")
    #expect(parts.3.map { String($0) } == date)
    let compiler = try Program.run("/usr/bin/env", ["swiftc", "--version"]).outputText
    #expect(compiler.contains("Swift version \(parts.4) "), "\(compiler)")
    #expect(parts.5.hasSuffix(" Linux"))
  }

  @Test func resultsNameTheCommit() throws {
    let samples = try Samples.shared.get()
    let result = try Program.run(
      samples.arguments("run @tiny.afmw -p 8 -r 1 --tier on-device --json"))
    let rows = try #require(try result.json() as? [[String: Any]])
    #expect(try rows.first?["build_commit"] as? String == Self.identifier())
    let isWhole = try Self.git("rev-parse", "--is-shallow-repository") == "false"
    let count = isWhole ? try Self.git("rev-list", "--count", "HEAD").flatMap { Int($0) } : 0
    #expect(rows.first?["build_number"] as? Int == count ?? 0)
  }

  /// A folder with a copy of the script and one source, as a clone would have them.
  private struct Sources {
    let folder: TemporaryFolder
    let root: String
    var stamp: String { folder.file("Stamp.swift") }

    init(under path: String = "package") throws {
      folder = try TemporaryFolder()
      root = folder.file(path)
      for name in ["tools", "Sources"] {
        try FileManager.default.createDirectory(
          atPath: "\(root)/\(name)", withIntermediateDirectories: true)
      }
      try FileManager.default.copyItem(
        atPath: "\(VersionTests.root)/tools/build-stamp", toPath: "\(root)/tools/build-stamp")
      try Data("let one = 1\n".utf8).write(to: URL(fileURLWithPath: "\(root)/Sources/one.swift"))
    }

    /// Makes a folder a repository with everything in it committed.
    func commit(at path: String) throws {
      for arguments in [
        ["init", "-q"], ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "m"],
      ] {
        let result = try Program.run("/usr/bin/env", ["git", "-C", path] + arguments)
        try #require(result.status == 0, "\(result)")
      }
    }

    /// The stamp that the script writes.
    func stamped(environment: [String: String] = [:]) throws -> String {
      let script = "\(root)/tools/build-stamp"
      let result = try Program.run(
        "/bin/sh", [script, stamp, "/bin/false"], environment: environment)
      #expect(result.status == 0, "\(result)")
      #expect(result.error.isEmpty, "\(result)")
      return try String(contentsOfFile: stamp, encoding: .utf8)
    }

    /// The commit in a stamp, and whether it says that sources differ.
    func facts(environment: [String: String] = [:]) throws -> (commit: String, isModified: Bool) {
      let text = try stamped(environment: environment)
      let commit = try #require(text.firstMatch(of: /stampedCommit\(\) -> String { "([^"]*)" }/))
      return (String(commit.1), text.contains("stampedModification() -> Bool { true }"))
    }
  }

  @Test func sourcesWithoutARepositoryAreUnknown() throws {
    let sources = try Sources()
    #expect(try sources.facts() == ("", false))
  }

  @Test func sourcesWithinAnotherRepositoryAreUnknown() throws {
    let sources = try Sources(under: "other/package")
    try sources.commit(at: sources.folder.file("other"))
    #expect(try sources.facts() == ("", false))
  }

  @Test func aCloneIsItsCommitUntilASourceDiffers() throws {
    let sources = try Sources()
    try sources.commit(at: sources.root)
    let head = try #require(try Self.git("rev-parse", "--short", "HEAD", at: sources.root))
    #expect(try sources.facts() == (head, false))
    // A hook of another repository sets these.
    #expect(try sources.facts(environment: ["GIT_DIR": "/nonexistent"]) == (head, false))
    try Data().write(to: URL(fileURLWithPath: "\(sources.root)/notes.txt"))
    #expect(try sources.facts() == (head, false))
    try Data().write(to: URL(fileURLWithPath: "\(sources.root)/Sources/two.swift"))
    #expect(try sources.facts() == (head, true))
  }

  @Test func anEqualStampIsLeftAlone() throws {
    let sources = try Sources()
    _ = try sources.stamped()
    let old = Date(timeIntervalSince1970: 1_000_000_000)
    try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: sources.stamp)
    _ = try sources.stamped()
    let attributes = try FileManager.default.attributesOfItem(atPath: sources.stamp)
    #expect(attributes[.modificationDate] as? Date == old)
  }
}
