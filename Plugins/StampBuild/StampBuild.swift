import Foundation
import PackagePlugin

/// Writes what a build is of into its module `BuildStamp`, by running `tools/build-stamp`.
///
/// A prebuild command would run only when SwiftPM plans the build anew. As an ordinary command with
/// the sources and git's folder as inputs it runs after every edit and every commit, and what it
/// writes is compiled again only where it differs.
@main
struct StampBuild: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let root = context.package.directoryURL
    let script = root.appending(path: "tools/build-stamp")
    let stamp = context.pluginWorkDirectoryURL.appending(path: "Stamp.swift")
    let compiler = try context.tool(named: "swiftc").url
    return [
      .buildCommand(
        displayName: "Stamping the build",
        executable: URL(filePath: "/bin/sh"),
        arguments: [script.path, stamp.path, compiler.path],
        inputFiles: [script] + sources(in: root) + gitFolder(of: root),
        outputFiles: [stamp])
    ]
  }

  /// Everything whose edit makes a build differ from its commit.
  private func sources(in root: URL) -> [URL] {
    var files = [root.appending(path: "Package.swift")]
    for folder in ["Sources", "Plugins"].map({ root.appending(path: $0) }) {
      let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
      for path in paths ?? [] {
        let file = folder.appending(path: path)
        // A folder's date changes with every file that an editor puts there for a moment.
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder),
          !isFolder.boolValue
        {
          files.append(file)
        }
      }
    }
    return files.sorted { $0.path < $1.path }
  }

  /// The folder in which git makes and removes a file for every commit, checkout and reset; none
  /// where the package is no clone.
  private func gitFolder(of root: URL) -> [URL] {
    let entry = root.appending(path: ".git")
    // In a work tree beside the clone the entry is a file that names the folder.
    if let text = try? String(contentsOf: entry, encoding: .utf8), text.hasPrefix("gitdir: ") {
      let path = text.dropFirst("gitdir: ".count).trimmingCharacters(in: .newlines)
      return [URL(filePath: path, relativeTo: root).absoluteURL]
    }
    return FileManager.default.fileExists(atPath: entry.path) ? [entry] : []
  }
}
