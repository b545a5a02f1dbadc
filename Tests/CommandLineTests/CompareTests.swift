import Foundation
import TestSupport
import Testing

/// `compare` of bundles of this program and of other programs' files.
@Suite struct CompareTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for (name, factor) in [("a", 1.0), ("b", 1.1)] {
      let samples = (0..<8).map { "\(Int((1000 + Double($0)) * factor * 1000))" }
        .joined(separator: ",")
      let rows = [("512", "0"), ("0", "128")].map { prompt, generated in
        #"{"cpu_info":"X","n_prompt":\#(prompt),"n_gen":\#(generated),"samples_ns":[\#(samples)]}"#
      }
      try Data("[\(rows.joined(separator: ","))]".utf8).write(to: folder.url("\(name).json"))
    }
    try Data("{\"results\":".utf8).write(to: folder.url("cut.json"))
  }

  private struct Answer: Decodable {
    struct Row: Decodable {
      var test: String
      var metric: String
      var unit: String
      var a: Double
      var b: Double
      var ratio: Double
      var low: Double
      var high: Double
      var outcome: String
    }
    var rows: [Row]
  }

  private func compare(_ a: String, _ b: String, _ more: String...) throws -> Program.Result {
    try Program.run(["compare", folder.file(a), folder.file(b)] + more)
  }

  @Test func saysWhatIsSlower() throws {
    let result = try compare("a.json", "b.json", "--json")
    #expect(result.status == 0, "\(result)")
    let answer = try JSONDecoder().decode(Answer.self, from: result.output)
    #expect(answer.rows.map(\.test) == ["pp512", "tg128"])
    for row in answer.rows {
      #expect(row.outcome == "slower" && abs(row.ratio - row.b / row.a) < 1e-12, "\(row)")
      #expect(row.low < row.ratio && row.ratio < row.high, "\(row)")
    }
    let same = try compare("a.json", "a.json", "--json", "--smallest-effect", "5")
    let rows = try JSONDecoder().decode(Answer.self, from: same.output).rows
    #expect(rows.map(\.outcome) == ["equal", "equal"])
  }

  @Test func theTableFits() throws {
    let result = try compare("a.json", "b.json")
    #expect(result.status == 0, "\(result)")
    for line in result.outputText.split(separator: "\n") where line.hasPrefix("|") {
      #expect(line.count <= 112, "\(line)")
    }
    #expect(result.outputText.contains("Of B's 2 rows: 2 slower."))
  }

  @Test func aBoundIsAnExitCode() throws {
    #expect(try compare("a.json", "b.json", "--max-slowdown", "20").status == 0)
    let broken = try compare("a.json", "b.json", "--max-slowdown", "5")
    #expect(broken.status == 1, "\(broken)")
    #expect(broken.error.contains("2 of 2 rows are slower by more than 5.0 %"), "\(broken)")
  }

  @Test func badInputIsNamed() throws {
    #expect(try compare("a.json", "missing").status == 3)
    #expect(try compare("cut.json", "a.json").status == 3)
    #expect(try compare("a.json", "b.json", "--smallest-effect", "0").status == 2)
  }

  @Test func readsBundlesOfThisProgram() throws {
    let samples = try Samples.shared.get()
    for name in ["one", "two"] {
      let run = try Program.run([
        "run", samples.packed, "-p", "8", "-n", "2", "-r", "6", "--tier", "on-device", "--bundle",
        folder.file(name),
      ])
      #expect(run.status == 0, "\(run)")
    }
    let result = try compare("one", "two", "--json")
    #expect(result.status == 0, "\(result)")
    let object = try #require(try result.json() as? [String: Any])
    let rows = try #require(object["rows"] as? [[String: Any]])
    #expect(Set(rows.compactMap { $0["metric"] as? String }).isSuperset(of: ["time", "ttft"]))
    #expect(rows.allSatisfy { $0["outcome"] as? String != "not-comparable" }, "\(rows)")
  }
}
