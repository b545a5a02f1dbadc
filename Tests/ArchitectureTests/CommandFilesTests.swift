import Foundation
import Testing

/// Every command says which files it opens and writes: one place then keeps outputs and inputs apart.
@Suite struct CommandFilesTests {
  /// Options and arguments that take text and name no file, by the type that declares them.
  static let textOptions: [String: Set<String>] = [
    "ModelRunOptions": ["keyElement", "valueElement"], "EngineSetup": ["isa"],
    "RunCommand": ["threads", "sessions"], "CacheLists": ["keyElements", "valueElements"],
    "TestOptions": [
      "promptTokens", "generatedTokens", "pairs", "depths", "tiers", "reasoning",
      "reasoningBudget", "instructions",
    ],
    "KernelsCommand": ["op", "weights", "shape", "tokens", "isa", "places", "threads"],
    "MakeCommand": ["preset", "weights", "embedding"], "PackCommand": ["weights"],
    "Encode": ["shape"], "GenerateCommand": ["prompt"],
    "Replay": ["budget"], "ReplayCommand": ["budget"],
    // A number, of a type that is not written down.
    "CalibrationOptions": ["calibrationTokens"],
    // Commands that have it say what becomes of its path.
    "ModelArgument": ["positional", "option"],
  ]

  /// A type that holds options: its name, what it conforms to and its source.
  private struct Owner {
    var name: String
    var conformance: String
    var text: Substring

    /// The properties that could hold a path: of strings, and of a type that is not written down.
    var textProperties: [String] {
      let option =
        /@(?:Option|Argument)\b[\s\S]*?\bvar (\w+)(?:: ([^=\n]+?))?(?: = ([^\n]*))?\n/
      return text.matches(of: option).compactMap { match in
        if let type = match.2 { return type.contains("String") ? String(match.1) : nil }
        let isNumber = match.3.map { $0.first?.isNumber == true } ?? false
        return isNumber ? nil : String(match.1)
      }
    }

    var declaresFiles: Bool { text.contains("var files: CommandFiles {") }

    /// The words of `files`, and of the computed properties that it is written in.
    var fileWords: Set<String> {
      var bodies: [String: String] = [:]
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() where line.contains("var ") {
        guard let match = line.firstMatch(of: /^( +)(?:private )?var (\w+): [^={]+ \{(.*)$/) else {
          continue
        }
        let end = String(match.1) + "}"
        bodies[String(match.2)] =
          match.3.hasSuffix("}")
          ? String(match.3) : lines[index...].prefix { $0 != end }.joined(separator: "\n")
      }
      var words: Set<String> = []
      var next = ["files"]
      while let name = next.popLast() {
        guard let body = bodies.removeValue(forKey: name) else { continue }
        let found = body.matches(of: /\w+/).map { String($0.0) }
        words.formUnion(found)
        next += found
      }
      return words
    }
  }

  private func owners() throws -> [Owner] {
    let source = try PackageSource()
    var owners: [Owner] = []
    for file in source.files where file.path.hasPrefix("afm-bench/") {
      let opening =
        /struct (\w+): (ParsableCommand|ParsableArguments|FileUsingCommand) \{/
      let matches = file.text.matches(of: opening)
      for (index, match) in matches.enumerated() {
        let isLast = index + 1 == matches.count
        let end = isLast ? file.text.endIndex : matches[index + 1].range.lowerBound
        owners.append(
          Owner(
            name: String(match.1), conformance: String(match.2),
            text: file.text[match.range.lowerBound..<end]))
      }
    }
    return owners
  }

  @Test func everyCommandSaysItsFiles() throws {
    let owners = try owners()
    #expect(owners.count > 25, "hardly any command was found: the pattern is broken")
    for owner in owners where owner.conformance == "ParsableCommand" {
      #expect(!owner.text.contains("func run() throws"), "\(owner.name) is no FileUsingCommand")
    }
    for owner in owners where owner.conformance == "FileUsingCommand" {
      #expect(owner.declaresFiles, "\(owner.name) has no `files`")
    }
  }

  @Test func everyOptionThatMayNameAFileIsAmongThem() throws {
    var known = Self.textOptions
    var propertyCount = 0
    for owner in try owners() {
      let words = owner.fileWords
      for property in owner.textProperties {
        propertyCount += 1
        if known[owner.name]?.remove(property) != nil { continue }
        #expect(
          words.contains(property),
          "\(owner.name).\(property) is text: name it in `files`, or here")
      }
    }
    #expect(propertyCount > 50, "hardly any option was found: the pattern is broken")
    let stale = known.filter { !$0.value.isEmpty }
    #expect(stale.isEmpty, "no such options any more: \(stale)")
  }

  /// A group's files are part of those of the commands that have the group.
  @Test func groupsPassTheirFilesOn() throws {
    let owners = try owners()
    let groups = owners.filter { $0.conformance == "ParsableArguments" && $0.declaresFiles }
    let names = Set(groups.map(\.name)).union(["ModelArgument"])
    #expect(names.count >= 4)
    var useCount = 0
    for owner in owners where owner.text.contains("@OptionGroup") {
      let words = owner.fileWords
      for match in owner.text.matches(of: /@OptionGroup(?:\([^)]*\))? var (\w+): (\w+)/)
      where names.contains(String(match.2)) {
        useCount += 1
        #expect(
          words.contains(String(match.1)),
          "\(owner.name) leaves out the files of \(match.1)")
      }
    }
    #expect(useCount >= 8)
  }
}
