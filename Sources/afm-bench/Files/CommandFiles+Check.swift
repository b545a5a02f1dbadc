import Files
import Foundation

extension CommandFiles {
  /// Refuses, before anything is opened: an output that is an input or another output, whatever the
  /// paths look like (exit code 2); a name or a file that is of another format than the output
  /// (2); a folder that holds what is not ours (2); and a place where no file can be made (4).
  func check() throws {
    let outputs = all.filter(\.isOutput)
    try checkPairs()
    for output in outputs { try checkEnding(output) }
    for output in outputs {
      switch output.use {
      case .input: break
      case .folder:
        try BundleFolder.check(output.path)
      case .cache(let kind):
        guard !FileManager.default.fileExists(atPath: output.path) else { break }
        try checkPlace(output, kind)
      case .output(let kind): try checkPlace(output, kind)
      }
    }
  }

  private func checkEnding(_ file: CommandFile) throws {
    switch file.use {
    case .input: break
    case .folder: try OutputKind.folder.checkEnding(of: file.path, label: file.label)
    case .output(let kind), .cache(let kind):
      try kind.checkEnding(of: file.path, label: file.label)
    }
  }

  private func checkPlace(_ file: CommandFile, _ kind: OutputKind) throws {
    // A file that is never committed leaves nothing behind. Devices and pipes end here, unopened.
    _ = try OutputFile(creating: file.path)
    try kind.checkContent(of: file.path, label: file.label)
  }

  private func checkPairs() throws {
    // Redirected to a file, standard output is written too.
    let standardOutput = FileIdentity(descriptor: STDOUT_FILENO)
    guard standardOutput != nil || all.contains(where: \.isOutput) else { return }
    let known = all.map { (file: $0, places: $0.identities) }
    for (index, first) in known.enumerated() {
      for second in known[(index + 1)...] where first.file.isOutput || second.file.isOutput {
        for (path, identity) in first.places {
          for (otherPath, other) in second.places {
            try refuse(
              Place(file: first.file, path: path, identity: identity),
              Place(file: second.file, path: otherPath, identity: other))
          }
        }
      }
      guard let standardOutput else { continue }
      for (path, identity) in first.places where identity.isSame(as: standardOutput) {
        throw CommandFailure(
          .usage,
          "standard output: it goes to the file \(path) (\(first.file.label)), "
            + (first.file.isOutput ? "another output" : "which is an input"))
      }
    }
  }

  /// One of a file's paths.
  private struct Place {
    var file: CommandFile
    var path: String
    var identity: FileIdentity

    var text: String { "\(path) (\(file.label))" }

    var isFolder: Bool { if case .folder = file.use { true } else { false } }
  }

  /// Throws where two files, one of which is written, are one, or one lies in the other's folder.
  private func refuse(_ first: Place, _ second: Place) throws {
    for (folder, inner) in [(first, second), (second, first)]
    where folder.isFolder && inner.identity.isInside(folder.identity) {
      throw CommandFailure(.usage, "\(folder.text): \(inner.text) lies in this output folder")
    }
    guard first.identity.isSame(as: second.identity) else { return }
    let (output, other) = first.file.isOutput ? (first, second) : (second, first)
    throw CommandFailure(
      .usage,
      other.file.isInput
        ? "\(output.text): the output is the input itself, \(other.text)"
        : "\(output.text): the output is another output too, \(other.text)")
  }
}
