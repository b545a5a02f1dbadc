import Foundation
import TestSupport
import Testing

/// A bundle appears whole or not at all, and only where nothing of somebody else is.
@Suite struct BundleFolderTests {
  static let names = [
    "README.md", "afm-bench.xxh64", "environment.json", "results.json", "samples.jsonl",
    "trace.afmtrace", "trace.perfetto-trace",
  ]

  private func run(_ bundle: String, _ more: [String] = []) throws -> Program.Result {
    let samples = try Samples.shared.get()
    return try Program.run(
      ["run", samples.packed, "-p", "4", "-r", "1", "--tier", "on-device", "--bundle", bundle]
        + more)
  }

  private func names(_ folder: TemporaryFolder, _ name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.file(name)).sorted()
  }

  private func folder(with files: [String: String]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("bundle"), withIntermediateDirectories: false)
    for (name, text) in files { try Data(text.utf8).write(to: folder.url("bundle/\(name)")) }
    return folder
  }

  static let foreign: [[String: String]] = [
    ["README.md": "my notes"], ["results.json": "{}"], [".hidden": ""],
    ["afm-bench.xxh64": "", "README.md": "my notes"],
    ["afm-bench.xxh64": "0000000000000000  README.md\n", "README.md": "my notes"],
    ["afm-bench.xxh64": "ef46db3751d8e999  ../notes\n"], ["afm-bench.xxh64": "x"],
    Dictionary(uniqueKeysWithValues: names.map { ($0, "mine") }),
  ]

  @Test(arguments: foreign)
  func aFolderOfSomebodyElseIsRefused(files: [String: String]) throws {
    let folder = try folder(with: files)
    let result = try run(folder.file("bundle"))
    #expect(result.status == 2, "\(result)")
    #expect(result.errorLines.count == 1 && result.error.contains("--bundle"), "\(result)")
    for (name, text) in files {
      #expect(try String(contentsOf: folder.url("bundle/\(name)"), encoding: .utf8) == text)
    }
    #expect(try names(folder, "bundle") == files.keys.sorted())
  }

  @Test func anOlderBundleIsReplacedUnlessItWasTouched() throws {
    let folder = try TemporaryFolder()
    let bundle = folder.file("above/bundle")
    try #require(try run(bundle).status == 0)
    #expect(try names(folder, "above/bundle") == Self.names)
    let first = try Data(contentsOf: folder.url("above/bundle/samples.jsonl"))
    try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: bundle)
    try #require(try run(bundle).status == 0)
    #expect(try names(folder, "above/bundle") == Self.names)
    #expect(try names(folder, "above") == ["bundle"])
    #expect(try Data(contentsOf: folder.url("above/bundle/samples.jsonl")) != first)
    let mode = try FileManager.default.attributesOfItem(atPath: bundle)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o750)
    // A trace in the folder would be an addition to it.
    let inside = try run(bundle, ["--trace", bundle + "/mine.afmtrace"])
    #expect(inside.status == 2 && inside.error.contains("lies in this output folder"), "\(inside)")
    // As xxHash's own tool would write the list.
    let list = try String(contentsOfFile: bundle + "/afm-bench.xxh64", encoding: .utf8)
    #expect(list.wholeMatch(of: /([0-9a-f]{16}  [A-Za-z.-]+\n){6}/) != nil, "\(list)")
    let readme = folder.url("above/bundle/README.md")
    var text = try String(contentsOf: readme, encoding: .utf8)
    for name in Self.names where name != "README.md" { #expect(text.contains("| \(name) |")) }
    text += "my notes\n"
    try Data(text.utf8).write(to: readme)
    let touched = try run(bundle)
    #expect(touched.status == 2 && touched.errorLines.count == 1, "\(touched)")
    #expect(try String(contentsOf: readme, encoding: .utf8) == text)
  }

  @Test func foldersThatCannotBeRenamedAreFilled() throws {
    let samples = try Samples.shared.get()
    let folder = try folder(with: [:])
    for _ in 0..<2 {
      let result = try Program.shell(
        "cd \(folder.file("bundle")) && \"$AFM\" run \(samples.packed) -p 4 -r 1 --bundle . && ls -A"
      )
      #expect(result.status == 0, "\(result)")
      #expect(result.outputText.hasSuffix(Self.names.joined(separator: "\n") + "\n"), "\(result)")
    }
    // A link to a folder stays one.
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: "bundle")
    #expect(try run(folder.file("link")).status == 0)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("nowhere"), withDestinationPath: "nothing")
    let lost = try run(folder.file("nowhere"))
    #expect(lost.status == 4 && lost.errorLines.count == 1, "\(lost)")
    #expect(folder.names == ["bundle", "link", "nowhere"])
    #expect(try names(folder, "bundle") == Self.names)
  }

  @Test(.enabled(if: OutputTests.canMount, "needs root and mount namespaces"))
  func aFullDiskLeavesTheOlderBundle() throws {
    let samples = try Samples.shared.get()
    // Room for the smaller bundle and not for the larger one, at several sizes: whichever file is
    // the one that does not fit, all are the old ones.
    let script = """
      for size in 64 80 96 128; do
        mount -t tmpfs -o size=${size}k none /mnt || exit 99
        "$AFM" run \(samples.packed) -p 4 -r 1 --tier on-device --bundle /mnt/b > /dev/null || exit 98
        before=$(cd /mnt && find . -type f -exec cksum {} + | sort)
        "$AFM" run \(samples.packed) -n 64 -r 6 --bundle /mnt/b --trace /mnt/t > /dev/null
        code=$?
        after=$(cd /mnt && find . -type f -exec cksum {} + | sort)
        [ "$before" = "$after" ] && echo "code $code" || echo "code $code changed $after"
        "$AFM" run \(samples.packed) -n 64 -r 6 --bundle /mnt/new > /dev/null; echo "code $?"
        [ -e /mnt/new ] && echo new
        umount /mnt
      done
      """
    let result = try Program.run(
      "/usr/bin/unshare", ["-m", "bash", "-c", script], environment: ["AFM": Program.path])
    #expect(result.status == 0, "\(result)")
    #expect(
      result.outputText == String(repeating: "code 4\ncode 4\n", count: 4), "\(result)")
    #expect(result.error.contains("No space left on device"), "\(result)")
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func aSignalLeavesTheOlderBundle(signal: Int32) throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let bundle = folder.file("bundle")
    try #require(try run(bundle).status == 0)
    func contents() throws -> [Data] {
      try names(folder, "bundle").map { try Data(contentsOf: folder.url("bundle/\($0)")) }
    }
    let before = try contents()
    var generator = SeededGenerator(seed: UInt64(signal))
    for _ in 0..<6 {
      let result = try Program.run(
        Program.path,
        ["run", samples.packed, "-p", "4", "-r", "1", "--tier", "on-device", "--bundle", bundle]
      ) { process in
        usleep(.random(in: 20_000...400_000, using: &generator))
        kill(process.processIdentifier, signal)
      }
      #expect(folder.names == ["bundle"], "\(result)")
      #expect(try names(folder, "bundle") == Self.names)
      if result.status == 0 { continue }
      let now = try contents()
      // Either the old one or, where the signal came after it, the new one; no mixture.
      let same = zip(before, now).filter { $0 == $1 }.count
      #expect(same == Self.names.count || same <= 2, "\(same) files are the old ones: \(result)")
    }
  }
}
