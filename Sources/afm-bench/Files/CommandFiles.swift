import ArgumentParser
import Engines
import Files
import Foundation

/// A command that says which files it opens and which it writes, so that one place can refuse what
/// would destroy one of them. Every command is one, and `AFMBench.main` checks before it runs any.
protocol FileUsingCommand: ParsableCommand {
  /// Of the command line as it was parsed. Opens nothing.
  var files: CommandFiles { get throws }
}

/// A file that a command line names, and what becomes of it.
struct CommandFile {
  enum Use {
    /// Only read: the path itself, and files that are opened with it.
    case input
    case output(OutputKind)
    /// Read where it is there, else written.
    case cache(OutputKind)
    /// A folder that will hold nothing but what the command writes.
    case folder
  }

  /// As the user named it.
  var path: String
  /// How messages call it: an option, or what an argument stands for.
  var label: String
  var use: Use
  /// Files that opening it opens too.
  private var companions: [String]
  private var isStandardInput = false

  private init(_ path: String, _ label: String, _ use: Use, companions: [String] = []) {
    self.path = path
    self.label = label
    self.use = use
    self.companions = companions
  }

  /// A model, or a reference: a packed file, GGUF, safetensors with the files beside it, a folder.
  static func model(_ path: String?, _ label: String) -> CommandFile? {
    path.map { CommandFile($0, label, .input, companions: ModelPath.companions(of: $0)) }
  }

  /// A file of which nothing but itself is opened.
  static func file(_ path: String?, _ label: String) -> CommandFile? {
    path.map { CommandFile($0, label, .input) }
  }

  /// A file that ``WholeFile`` reads: `-` is standard input.
  static func text(_ path: String?, _ label: String) -> CommandFile? {
    guard let path else { return nil }
    return path == "-" ? standardInput : CommandFile(path, label, .input)
  }

  /// What is piped or redirected into the command.
  static var standardInput: CommandFile {
    var file = CommandFile("-", "standard input", .input)
    file.isStandardInput = true
    return file
  }

  /// A file that appears whole or not at all.
  static func output(_ path: String?, _ label: String, _ kind: OutputKind) -> CommandFile? {
    path.map { CommandFile($0, label, .output(kind)) }
  }

  static func cache(_ path: String?, _ label: String, _ kind: OutputKind) -> CommandFile? {
    path.map { CommandFile($0, label, .cache(kind)) }
  }

  static func folder(_ path: String?, _ label: String) -> CommandFile? {
    path.map { CommandFile($0, label, .folder) }
  }

  var isInput: Bool {
    switch use {
    case .input, .cache: true
    case .output, .folder: false
    }
  }

  var isOutput: Bool {
    switch use {
    case .input: false
    case .output, .cache, .folder: true
    }
  }

  /// The paths that stand for it, and which file each leads to.
  var identities: [(path: String, identity: FileIdentity)] {
    if isStandardInput {
      return FileIdentity(descriptor: STDIN_FILENO).map { [("-", $0)] } ?? []
    }
    return ([path] + companions).map { ($0, FileIdentity(path: $0)) }
  }
}

/// All files of a command line.
struct CommandFiles: ExpressibleByArrayLiteral {
  private(set) var all: [CommandFile]

  init(_ files: [CommandFile?]) { all = files.compactMap(\.self) }

  /// Options that were not given are nil.
  init(arrayLiteral elements: CommandFile?...) { self.init(elements) }

  static func + (first: CommandFiles, second: CommandFiles) -> CommandFiles {
    CommandFiles(first.all + second.all)
  }
}
