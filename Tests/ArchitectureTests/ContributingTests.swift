import Foundation
import Testing

/// The recipes of CONTRIBUTING.md lead to places that are there.
@Suite struct ContributingTests {
  /// A path in backquotes, and the names in parentheses that follow it.
  private struct Place {
    var path: String
    var names: [String]
  }

  private static func places(of text: String) -> [Place] {
    let mention = /`((?:Sources|Tests|tools|Documentation)\/[^`\s]+)`(?:,?\s+\(((?:`[^`]+`(?:,\s+)?)+)\))?/
    return text.matches(of: mention).map { match in
      let names = (match.2 ?? "").matches(of: /`([^`]+)`/).map { String($0.1) }
      return Place(path: String(match.1), names: names)
    }
  }

  private static func text(at path: String) throws -> String {
    let url = PackageSource.root.appendingPathComponent(path).resolvingSymlinksInPath()
    let values = try? url.resourceValues(forKeys: [.isDirectoryKey])
    guard let isFolder = values?.isDirectory else {
      throw PackageSource.Failure(description: "CONTRIBUTING.md names \(path), which is not there")
    }
    guard isFolder else { return try String(contentsOf: url, encoding: .utf8) }
    let files = try FileManager.default.contentsOfDirectory(
      at: url, includingPropertiesForKeys: nil)
    return files.compactMap { try? String(contentsOf: $0, encoding: .utf8) }
      .joined(separator: "\n")
  }

  @Test func everyFileOfARecipeHasItsNames() throws {
    let text = try String(
      contentsOf: PackageSource.root.appendingPathComponent("CONTRIBUTING.md"), encoding: .utf8)
    let recipes = text.components(separatedBy: "\n## Recipe: ").dropFirst()
    #expect(recipes.count >= 5)
    for recipe in recipes {
      let places = Self.places(of: recipe)
      #expect(places.count >= 4, "\(recipe.prefix(40))")
      for place in places {
        let found = try Self.text(at: place.path)
        for name in place.names {
          let isThere = found.ranges(of: name).contains { range in
            // A whole word, so that a name that was made longer is noticed.
            let before = range.lowerBound == found.startIndex
              ? nil : found[found.index(before: range.lowerBound)]
            let after = range.upperBound == found.endIndex ? nil : found[range.upperBound]
            return ![before, after].contains { $0?.isLetter == true || $0?.isNumber == true }
          }
          #expect(isThere, "\(place.path) has no \(name)")
        }
      }
    }
    // Every step that names a file names what to look for in it.
    let steps = recipes.joined().matches(of: /(?m)^\d+\. `/)
    #expect(steps.count >= 25)
  }

  @Test func aMissingNameIsNoticed() {
    let places = Self.places(of: "1. `Sources/A/B.swift` (`one`, `two`) and `tools/c`: text (`no`).")
    #expect(places.map(\.path) == ["Sources/A/B.swift", "tools/c"])
    #expect(places.map(\.names) == [["one", "two"], []])
  }
}
