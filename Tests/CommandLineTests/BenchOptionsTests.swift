import Foundation
import TestSupport
import Testing

/// `tools/bench` refuses a wrong command line before it installs, downloads or builds anything, by a
/// list of options that is the program's.
@Suite struct BenchOptionsTests {
  /// An option of the list, with all its names and what it takes.
  private struct Option {
    var names: Set<String>
    var takes: String
    var words: [String] { takes.contains(",") ? takes.split(separator: ",").map(String.init) : [] }
  }

  private static func listed() throws -> [Option] {
    let result = try Program.run(Repository.file("tools/check-options").path, ["--list"])
    return result.outputText.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ")
      guard parts.count == 2 else { return nil }
      let names = parts[0].split(separator: ",").map(String.init)
      return Option(names: Set(names), takes: String(parts[1]))
    }
  }

  @Test func theListIsTheProgramsOptions() throws {
    let help = try #require(
      try Program.run(["--experimental-dump-help"]).json() as? [String: Any])
    let program = try #require(help["command"] as? [String: Any])
    let commands = try #require(program["subcommands"] as? [[String: Any]])
    let run = try #require(commands.first { $0["commandName"] as? String == "run" })
    let arguments = try #require(run["arguments"] as? [[String: Any]])
    var expected: [Set<String>: String] = [:]
    for argument in arguments {
      // A positional argument has none.
      guard let names = argument["names"] as? [[String: Any]] else { continue }
      let spelled = names.map { name -> String in
        (name["kind"] as? String == "long" ? "--" : "-") + (name["name"] as? String ?? "?")
      }
      expected[Set(spelled)] = argument["kind"] as? String
    }
    expected[["--version"]] = nil
    expected[["-h", "--help"]] = nil
    let listed = try Self.listed()
    #expect(Set(listed.map(\.names)) == Set(expected.keys))
    for option in listed {
      #expect((option.takes == "nothing") == (expected[option.names] == "flag"), "\(option)")
    }
  }

  /// What the list lets pass is a word to the program, and what neither knows both refuse.
  @Test func theListsWordsAreTheProgramsWords() throws {
    let model = try Samples.shared.get().packed
    for option in try Self.listed() where !option.words.isEmpty {
      let name = try #require(option.names.max { $0.count < $1.count })
      for word in option.words {
        // It looks for the model once it has understood the words. A level that this CPU lacks is
        // one all the same.
        let result = try Program.run(["run", "/nonexistent.afmw", name, word])
        #expect([3, 4].contains(result.status), "\(name) \(word): \(result)")
      }
      #expect(try Program.run(["run", model, name, "nowhere"]).status == 2, "\(name)")
      #expect(try check([name, "nowhere"]).status == 2, "\(name)")
      #expect(try check([name, option.words.joined(separator: ",")]).status == 0, "\(name)")
    }
  }

  private func check(_ arguments: [String]) throws -> Program.Result {
    try Program.run(Repository.file("tools/check-options").path, arguments)
  }

  @Test(arguments: [
    ["--tier", "nowhere"], ["--tier=nowhere"], ["-p"], ["-p", "-n", "4"], ["-p", "x"], ["--bogus"],
    ["model.afmw"], ["-m", "model.afmw"], ["-o", "xml"], ["-t", ""],
  ])
  func aWrongLineEndsAtOnceAndMakesNothing(_ arguments: [String]) throws {
    // A fresh clone: the tools, no build, no cache.
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(
      at: Repository.file("tools"), to: folder.url("tools"))
    let result = try Program.run(folder.file("tools/bench"), arguments, seconds: 10)
    #expect(result.status == 2, "\(result)")
    #expect(result.errorLines.count == 1, "\(result)")
    #expect(result.error.hasPrefix("bench: "))
    #expect(result.output.isEmpty)
    #expect(folder.names == ["tools"])
  }

  @Test(arguments: [
    [], ["-p", "512", "-n", "128"], ["-pg", "512,128", "-d", "0-512*2"],
    ["--tier", "on-device, private-cloud"], ["--tier=on-device", "--json"],
    ["--prompt-file", "a b", "--reasoning-budget", "light=64"], ["-ctk", "s8,f16"],
  ])
  func aRightLinePasses(_ arguments: [String]) throws {
    let result = try check(arguments)
    #expect(result.status == 0, "\(result)")
    #expect(result.error.isEmpty)
  }

  @Test func helpComesBeforeAnythingIsMade() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(
      at: Repository.file("tools"), to: folder.url("tools"))
    for option in ["-h", "--help"] {
      let result = try Program.run(folder.file("tools/bench"), [option], seconds: 10)
      #expect(result.status == 0, "\(result)")
      #expect(result.outputText.contains("0.6 GB"))
      #expect(folder.names == ["tools"])
    }
  }
}
