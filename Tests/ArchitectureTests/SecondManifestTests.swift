import Foundation
import Testing

/// The packages beside this one that take its sources by links: what their manifests say of a target
/// is what this one's says.
@Suite struct SecondManifestTests {
  @Test(arguments: ["Benchmarks", "tools/fuzz"])
  func linkedTargetsAreDeclaredAlike(_ path: String) throws {
    let source = try PackageSource()
    let declared = try source.declaredDependencies()
    let folder = PackageSource.root.appendingPathComponent(path)
    let manifest = try String(
      contentsOf: folder.appendingPathComponent("Package.swift"), encoding: .utf8)
    let pattern = /module\(\s*"([^"]+)"(?:,\s*\[([^\]]*)\])?/
    var found: [String: Set<String>] = [:]
    for match in manifest.matches(of: pattern) {
      let names = (match.2 ?? "").matches(of: /"([^"]+)"/).map { String($0.1) }
      found[String(match.1)] = Set(names)
    }
    #expect(found.count > 3)
    for (name, dependencies) in found {
      #expect(dependencies == declared[name], "\(name)")
      for dependency in dependencies {
        let isThere = found[dependency] != nil || manifest.contains("name: \"\(dependency)\"")
        #expect(isThere, "\(path) has no \(dependency), which \(name) needs")
      }
      let linked = folder.appendingPathComponent("Sources/\(name)").resolvingSymlinksInPath().path
      let own = PackageSource.root.appendingPathComponent("Sources/\(name)")
        .resolvingSymlinksInPath().path
      #expect(linked == own)
    }
  }

  @Test func everyShellScriptCanBeRead() throws {
    let tools = PackageSource.root.appendingPathComponent("tools").resolvingSymlinksInPath()
    let paths = try #require(FileManager.default.enumerator(atPath: tools.path)).compactMap {
      $0 as? String
    }
    var scripts = 0
    for path in paths {
      let file = tools.appendingPathComponent(path)
      guard let text = try? String(contentsOf: file, encoding: .utf8),
        text.hasPrefix("#!/usr/bin/env bash")
      else { continue }
      let shell = Process()
      shell.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      shell.arguments = ["bash", "-n", file.path]
      try shell.run()
      shell.waitUntilExit()
      #expect(shell.terminationStatus == 0, "tools/\(path)")
      scripts += 1
    }
    #expect(scripts > 5)
  }
}
