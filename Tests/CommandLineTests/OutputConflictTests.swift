import Foundation
import TestSupport
import Testing

/// No command writes over what it reads, or over another of its outputs, whatever the paths look
/// like: exit code 2, one line that names both, and every file as it was.
@Suite struct OutputConflictTests {
  /// A command with a place for each of its files, written `{name}`; outputs are `{name!}`.
  struct Line: CustomTestStringConvertible, Sendable {
    var text: String
    /// The file names for the places; `!` marks outputs.
    var places: [(name: String, isOutput: Bool)] {
      words.filter { $0.hasPrefix("{") }.map { (Self.name($0), $0.hasSuffix("!}")) }
    }
    private var words: [String] { text.split(separator: " ").map(String.init) }

    private static func name(_ word: String) -> String { word.filter(\.isLetter) }

    /// The words that lead to the command.
    var command: String {
      words.prefix { $0.first?.isLetter == true }.joined(separator: " ")
    }
    var testDescription: String { text }

    func arguments(_ paths: [String: String]) -> [String] {
      words.map { $0.hasPrefix("{") ? paths[Self.name($0)] ?? $0 : $0 }
    }
  }

  /// Every command that writes a file, with every file that it takes.
  static let lines = [
    "pack {model} {packed!} --calibrate {text} --save-calibration {statistics!}",
    """
    score --model {model} --adapter {adapter} --text-file {text} --reference {reference} \
    --save-logits {logits!}
    """,
    "load {model} --trace {trace!}",
    """
    run {model} {second} -n 1 -r 1 --prompt-file {text} --prompt-file {turn} --adapter {adapter} \
    --trace {trace!} --bundle {bundle!}
    """,
    """
    replay {requests} --model {model} --adapter {adapter} --trace {trace!}
    """,
    """
    generate --model {model} --adapter {adapter} --prompt-file {text} --cache-file {cache!}
    """,
    "trace export {recording} --to perfetto {output!}",
    "dump {model} output_norm.weight {output!}",
    "export {model} {output!}",
    "astc decode {image} {output!}",
    "astc encode {values} 1x1 {output!}",
  ].map { Line(text: $0) }

  /// Commands that write nothing but their report.
  static let readers: Set = [
    "inspect", "verify", "tokenize", "logits", "trace summary", "kernels", "roof",
    "astc benchmark", "cache replay", "compare",
  ]
  /// Commands that write a file and read none.
  static let makers: Set = ["make", "cache generate"]

  /// Ways to write the path of a file of a folder.
  enum Spelling: String, CaseIterable {
    case plain, dots, symbolicLink, hardLink, linkedFolder

    func path(of name: String, in folder: TemporaryFolder, link: String) throws -> String {
      let files = FileManager.default
      switch self {
      case .plain: return folder.file(name)
      case .dots: return folder.path + "/./here/../" + name
      case .symbolicLink:
        try files.createSymbolicLink(
          atPath: folder.file(link), withDestinationPath: name)
        return folder.file(link)
      case .hardLink:
        try files.linkItem(atPath: folder.file(name), toPath: folder.file(link))
        return folder.file(link)
      case .linkedFolder: return folder.file("again/") + "/" + name
      }
    }
  }

  private func makeFolder(_ names: [String]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let files = FileManager.default
    try files.createDirectory(atPath: folder.file("here"), withIntermediateDirectories: false)
    try files.createSymbolicLink(atPath: folder.file("again"), withDestinationPath: ".")
    for name in names { try Data("this is \(name)".utf8).write(to: folder.url(name)) }
    return folder
  }

  private func contents(_ folder: TemporaryFolder, _ names: [String]) -> [String?] {
    names.map { try? String(contentsOf: folder.url($0), encoding: .utf8) }
  }

  @Test(arguments: lines) func noOutputIsAnInput(line: Line) throws {
    let names = line.places.filter { !$0.isOutput }.map(\.name)
    for (output, _) in line.places where line.places.contains(where: { $0 == (output, true) }) {
      for other in names {
        for spelling in Spelling.allCases {
          let folder = try makeFolder(names)
          let before = contents(folder, names)
          var paths: [String: String] = [:]
          for (name, _) in line.places { paths[name] = folder.file(name) }
          let path = try spelling.path(of: other, in: folder, link: "link")
          paths[output] = path
          let result = try Program.run(line.arguments(paths))
          #expect(result.status == 2, "\(output) = \(other), \(spelling): \(result)")
          #expect(result.errorLines.count == 1 && result.output.isEmpty, "\(result)")
          #expect(result.error.contains(path) && result.error.contains(folder.file(other)))
          #expect(result.error.contains("the output is the input itself"), "\(result)")
          #expect(contents(folder, names) == before)
        }
      }
    }
  }

  @Test(arguments: lines.filter { $0.places.filter(\.isOutput).count > 1 })
  func noOutputIsAnother(line: Line) throws {
    let names = line.places.filter { !$0.isOutput }.map(\.name)
    let outputs = line.places.filter(\.isOutput).map(\.name)
    for exists in [false, true] {
      for spelling in Spelling.allCases where exists || spelling != .hardLink {
        let folder = try makeFolder(names + (exists ? [outputs[0]] : []))
        var paths: [String: String] = [:]
        for (name, _) in line.places { paths[name] = folder.file(name) }
        // A link to nothing is a file of its own, which would be replaced.
        guard exists || spelling != .symbolicLink else { continue }
        paths[outputs[1]] = try spelling.path(of: outputs[0], in: folder, link: "link")
        let result = try Program.run(line.arguments(paths))
        #expect(result.status == 2, "\(spelling): \(result)")
        #expect(result.errorLines.count == 1 && result.output.isEmpty, "\(result)")
        #expect(result.error.contains("another output"), "\(result)")
        #expect(FileManager.default.fileExists(atPath: folder.file(outputs[0])) == exists)
      }
    }
  }

  /// The files that a folder's model is read from, those among them that are not there yet, and the
  /// one that an index lists and a link leads to.
  @Test(arguments: [
    "config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja",
    "model.safetensors", "model.safetensors.index.json", "weights-1", "blob", "",
  ])
  func noOutputIsAFileOfAModelsFolder(name: String) throws {
    let folder = try TemporaryFolder()
    let model = folder.file("model")
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: false)
    for (file, text) in [
      ("config.json", "{}"), ("blob", "weights"),
      ("model.safetensors.index.json", #"{"weight_map": {"a": "weights-1"}}"#),
    ] {
      try Data(text.utf8).write(to: folder.url("model/\(file)"))
    }
    try FileManager.default.createSymbolicLink(
      atPath: model + "/weights-1", withDestinationPath: "blob")
    let output = name.isEmpty ? model : "\(model)/\(name)"
    let index = model + "/model.safetensors.index.json"
    // Without an index the loader takes model.safetensors; a folder is no input of an index.
    let inputs =
      [model, model + "/"]
      + (["", "model.safetensors", "blob"].contains(name) ? [] : [index])
    for input in inputs {
      let packing = try Program.run(["pack", input, output])
      #expect(packing.status == 2, "\(packing)")
      #expect(packing.errorLines.count == 1 && packing.error.contains(model), "\(packing)")
      let saving = try Program.run([
        "pack", input, folder.file("out"), "--calibrate", "self", "--save-calibration", output,
      ])
      #expect(saving.status == 2, "\(saving)")
      // Through a name whose ending is not refused first.
      guard FileManager.default.fileExists(atPath: output) else { continue }
      let link = folder.file("link")
      try? FileManager.default.removeItem(atPath: link)
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: output)
      let linked = try Program.run(["pack", input, link])
      #expect(linked.status == 2, "\(linked)")
      let says = "\(link) (the file to write): the output is the input itself"
      #expect(linked.error.contains(says), "\(linked)")
    }
    #expect(try String(contentsOfFile: model + "/blob", encoding: .utf8) == "weights")
    // Beside them there is room.
    let beside = try Program.run(["pack", model, model + "/new"])
    #expect(beside.status == 3, "\(beside)")
  }

  /// Streams are files too, once the shell has redirected them.
  @Test(arguments: [
    ("generate --model \"$M\" --prompt-file - --cache-file text < text", "the input itself"),
    ("generate --model \"$M\" --prompt-file - --cache-file /dev/stdin < text", "the input itself"),
    ("score --model \"$M\" --text-file - --save-logits ./text < text", "the input itself"),
    ("score --model \"$M\" --text-file text --save-logits /proc/self/fd/7 7< text", "itself"),
    ("tokenize --model \"$M\" < text >> text", "standard output"),
    ("generate --model \"$M\" --prompt-file text >> text", "standard output"),
    ("run \"$M\" -n 1 -r 1 --trace new.afmtrace > new.afmtrace", "standard output"),
    ("cache generate mooncake-conversation /dev/stdout > new", "standard output"),
    ("make afm-ondevice-tiny new > new", "standard output"),
  ])
  func noOutputIsAStream(line: String, says: String) throws {
    let samples = try Samples.shared.get()
    let folder = try makeFolder(["text"])
    let result = try Program.shell(
      "cd \(folder.path) && \"$AFM\" \(line)", environment: ["M": samples.packed])
    #expect(result.status == 2, "\(result)")
    #expect(result.errorLines.count == 1 && result.error.contains(says), "\(result)")
    #expect(contents(folder, ["text"]) == ["this is text"])
  }

  /// Each leaf of the command tree is in one of the lists above.
  @Test func everyCommandIsHere() throws {
    let result = try Program.run(["--experimental-dump-help"])
    let tree = try #require(try result.json() as? [String: Any])
    func leaves(_ command: [String: Any], _ words: [String]) -> [String] {
      let name = command["commandName"] as? String ?? ""
      let children = command["subcommands"] as? [[String: Any]] ?? []
      let own = words + [name]
      return children.isEmpty
        ? [own.joined(separator: " ")] : children.flatMap { leaves($0, own) }
    }
    let root = try #require(tree["command"] as? [String: Any])
    let found = (root["subcommands"] as? [[String: Any]] ?? []).flatMap { leaves($0, []) }
      .filter { $0 != "help" && !$0.hasSuffix(" help") }
    #expect(found.count > 15)
    #expect(Set(found) == Self.readers.union(Self.makers).union(Self.lines.map(\.command)))
  }
}
