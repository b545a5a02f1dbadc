/// The package's dependencies as Documentation/Architecture.md shows them.
struct DependencyGraph {
  /// The direct dependencies of each target, products of other packages included.
  let dependencies: [String: Set<String>]
  let floors: [String: Int]

  init(dependencies: [String: Set<String>], floors: [String: Int]) {
    self.floors = floors
    self.dependencies = dependencies.filter { floors[$0.key] != nil }
  }

  /// A Mermaid graph of the edges that no chain of others implies, the upper floors first.
  var mermaid: String {
    var lines = ["flowchart TD"]
    for target in ordered(Set(dependencies.keys)) {
      let edges = ordered(direct(target).filter { !isImplied($0, of: target) })
      if !edges.isEmpty { lines.append("  \(target) --> \(edges.joined(separator: " & "))") }
    }
    return lines.joined(separator: "\n")
  }

  /// All direct dependencies of a target, as the table lists them.
  func list(_ target: String) -> String {
    let foreign = (dependencies[target] ?? []).filter { LayeringTests.foreign.contains($0) }
    let names = ordered(direct(target)) + foreign.sorted()
    return names.isEmpty ? "nothing" : names.map { "`\($0)`" }.joined(separator: ", ")
  }

  private func direct(_ target: String) -> Set<String> {
    (dependencies[target] ?? []).filter { floors[$0] != nil }
  }

  private func isImplied(_ edge: String, of target: String) -> Bool {
    direct(target).contains { $0 != edge && reaches($0, edge) }
  }

  private func reaches(_ from: String, _ to: String) -> Bool {
    from == to || direct(from).contains { reaches($0, to) }
  }

  private func ordered(_ names: Set<String>) -> [String] {
    names.sorted { (-(floors[$0] ?? 0), $0) < (-(floors[$1] ?? 0), $1) }
  }
}
