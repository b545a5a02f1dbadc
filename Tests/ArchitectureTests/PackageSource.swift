import Foundation

/// The package's own text: its manifest and the Swift files under Sources.
struct PackageSource {
  /// A file with its path from the package's root.
  struct File {
    var path: String
    var text: String
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
  }

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  let manifest: String
  /// Every Swift file under Sources, in the order of the paths.
  let files: [File]

  init() throws {
    manifest = try String(
      contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    let folder = Self.root.appendingPathComponent("Sources").resolvingSymlinksInPath()
    guard let paths = FileManager.default.enumerator(atPath: folder.path) else {
      throw Failure(description: "no folder \(folder.path)")
    }
    var files: [File] = []
    for case let path as String in paths where path.hasSuffix(".swift") {
      let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
      files.append(File(path: path, text: text))
    }
    self.files = files.sorted { $0.path < $1.path }
  }

  /// The declared dependencies of every target of ours outside Tests, products of others included.
  func declaredDependencies() throws -> [String: Set<String>] {
    // `module("Name", [...])`, `.target(name: "Name", ...)`, `.executableTarget`, `.systemLibrary`.
    let opening =
      /(?:module\(\s*|\.(?:executableTarget|target|systemLibrary)\(\s*name:\s*)"([^"]+)"/
    var declared: [String: Set<String>] = [:]
    guard let begin = manifest.range(of: "targets: [\n    //") else {
      throw Failure(description: "Package.swift has no commented list of targets")
    }
    var starts: [(name: String, start: String.Index)] = []
    for match in manifest[begin.upperBound...].matches(of: opening) {
      starts.append((String(match.1), match.range.upperBound))
    }
    for (index, target) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1].start : manifest.endIndex
      // Up to where the target's own parentheses close.
      var depth = 1
      var place = target.start
      while place < end, depth > 0 {
        if manifest[place] == "(" { depth += 1 }
        if manifest[place] == ")" { depth -= 1 }
        place = manifest.index(after: place)
      }
      let body = manifest[target.start..<place]
      var names = Set(body.matches(of: /"([A-Za-z][A-Za-z0-9-]*)"/).map { String($0.1) })
      // Products of other packages are constants of the manifest.
      if body.contains("argumentParser") { names.insert("ArgumentParser") }
      declared[target.name] = names
    }
    return declared
  }
}
