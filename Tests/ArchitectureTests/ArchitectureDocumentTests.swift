import Foundation
import Testing

/// Documentation/Architecture.md shows the dependencies that the manifest declares.
///
/// With `AFM_WRITE_DOCUMENTATION=1` the test writes them:
///
///     $ AFM_WRITE_DOCUMENTATION=1 swift test --filter ArchitectureDocumentTests
@Suite struct ArchitectureDocumentTests {
  private let graph: DependencyGraph
  private let path = PackageSource.root.appendingPathComponent("Documentation/Architecture.md")

  init() throws {
    graph = DependencyGraph(
      dependencies: try PackageSource().declaredDependencies(), floors: LayeringTests.floors)
  }

  @Test func theGraphAndTheTableAreTheManifests() throws {
    let found = try String(contentsOf: path, encoding: .utf8)
    let expected = try written(found)
    if ProcessInfo.processInfo.environment["AFM_WRITE_DOCUMENTATION"] == "1" {
      try Data(expected.utf8).write(to: path)
    }
    #expect(found == expected, "AFM_WRITE_DOCUMENTATION=1 writes it anew")
  }

  /// A graph that leaves edges out shows the same order: what it implies is what is declared.
  @Test func theGraphImpliesEveryDependency() throws {
    var shown: [String: Set<String>] = [:]
    for line in graph.mermaid.split(separator: "\n").dropFirst() {
      let sides = line.split(separator: " --> ")
      try #require(sides.count == 2)
      shown[String(sides[0]).trimmingCharacters(in: .whitespaces)] = Set(
        sides[1].components(separatedBy: " & "))
    }
    func reachable(_ target: String, _ edges: [String: Set<String>]) -> Set<String> {
      (edges[target] ?? []).reduce(into: []) { $0.formUnion([$1]); $0.formUnion(reachable($1, edges)) }
    }
    for target in graph.floors.keys {
      let declared = (graph.dependencies[target] ?? []).filter { graph.floors[$0] != nil }
      #expect(declared.isSubset(of: reachable(target, shown)), "\(target)")
      #expect(shown[target, default: []].isSubset(of: declared), "\(target)")
    }
  }

  /// The document with its graph and its table brought up to date; purposes stay as they are.
  private func written(_ document: String) throws -> String {
    let graphPattern = /```mermaid\n[\s\S]*?\n```/
    try #require(document.contains(graphPattern))
    var result = document.replacing(graphPattern, with: "```mermaid\n\(graph.mermaid)\n```")
    let row = /(?m)^\| \d+ \| `([A-Za-z-]+)`( \*\*product\*\*)? \| ([^|\n]*) \| [^|\n]* \|$/
    var seen: Set<String> = []
    result = result.replacing(row) { match in
      let target = String(match.1)
      seen.insert(target)
      let floor = graph.floors[target].map(String.init) ?? "?"
      return "| \(floor) | `\(target)`\(match.2 ?? "") | \(match.3) | \(graph.list(target)) |"
    }
    #expect(seen == Set(graph.floors.keys), "the table has other targets than the manifest")
    return result
  }
}
