import BenchCore
import Foundation
import Testing
import Tiers

@Suite struct BundleTextTests {
  private func bundle() throws -> [String: String] {
    var row = RunRow()
    row.test = "tg2"
    row.tier = "on-device"
    var request = ServedRequest()
    request.submitted = 100
    request.prefillBegan = 110
    request.prefillEnded = 150
    request.tokenTimes = [160, 175]
    request.ended = 175
    request.responseTokens = [1, 2]
    var environment = Environment()
    environment.before = SystemState()
    let files = try BundleText.files(
      rows: [row], samples: [SampleRecord(row: row, index: 0, request: request)],
      environment: environment)
    return Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.text) })
  }

  @Test func filesReadBack() throws {
    let files = try bundle()
    #expect(
      files.keys.sorted() == ["README.md", "environment.json", "results.json", "samples.jsonl"])
    let decoder = JSONDecoder()
    let rows = try decoder.decode(
      [RunRow].self, from: Data(try #require(files["results.json"]).utf8))
    #expect(rows.map(\.test) == ["tg2"])
    let environment = Data(try #require(files["environment.json"]).utf8)
    #expect(try decoder.decode(Environment.self, from: environment).before == SystemState())
    #expect(String(decoding: environment, as: UTF8.self).contains("\"definitions\""))
    let samples = try #require(files["samples.jsonl"]).split(separator: "\n").map {
      try decoder.decode(SampleRecord.self, from: Data($0.utf8))
    }
    #expect(samples.map(\.tokenNanoseconds) == [[60, 75]])
    #expect(samples.map(\.prefillEndedNanoseconds) == [50])
  }

  @Test func everyFileIsExplained() throws {
    let files = try bundle()
    let readme = try #require(files["README.md"])
    for name in files.keys.sorted() where name != "README.md" {
      #expect(readme.contains("| \(name) |"))
    }
    for name in [BundleText.recordingName, BundleText.perfettoName] {
      #expect(readme.contains("| \(name) |"))
    }
    for definition in MetricDefinition.all {
      #expect(readme.contains(definition.meaning))
    }
  }
}
