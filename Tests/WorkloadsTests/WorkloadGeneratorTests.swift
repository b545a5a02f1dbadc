import Foundation
import TestSupport
import Testing
import Workloads

/// Generated workloads against what was measured on the published traces (the fixture is made by
/// tools/oracles/workload_tables.py).
@Suite struct WorkloadGeneratorTests {
  struct Published: Decodable {
    var requests: Int
    var seconds: Double
    var inputs: [String: Double]
    var outputs: [String: Double]
    var gaps_us: [String: Double]?
    var requests_per_3_s: [String: Double]?
    var hit_rates: [String: Double]?
  }

  static func published() throws -> [String: Published] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
      .appendingPathComponent("Fixtures/golden/workload-percentiles.json")
    return try JSONDecoder().decode([String: Published].self, from: Data(contentsOf: file))
  }

  private func published(_ profile: WorkloadProfile) throws -> Published {
    let name =
      switch profile {
      case .conversation: "conversation"
      case .azureCode: "azureCode"
      case .azureConversation: "azureConversation"
      }
    return try #require(Self.published()[name])
  }

  /// Within so much of the published percentiles, or within `slack` where they are tiny.
  private func expect(
    _ found: [Double], near expected: [String: Double], within share: Double, slack: Double,
    _ comment: Comment
  ) throws {
    for (percent, value) in zip(WorkloadSummary.percentages, found) {
      let wanted = try #require(expected["\(Int(percent))"])
      #expect(
        abs(value - wanted) <= max(slack, share * wanted), "P\(Int(percent)) \(value): \(comment)")
    }
  }

  @Test(arguments: WorkloadProfile.allCases, [1, 2, 3] as [UInt64])
  func percentilesAreThePublishedOnes(_ profile: WorkloadProfile, _ seed: UInt64) throws {
    let published = try published(profile)
    #expect(profile.publishedRequestCount == published.requests)
    var generator = WorkloadGenerator(profile: profile, seed: seed)
    let workload = generator.workload(count: published.requests)
    let summary = WorkloadSummary(workload)
    #expect(abs(summary.seconds / published.seconds - 1) < 0.06, "\(summary.seconds) s")
    // Prompts of conversations come out of prompts before them; the others straight out of tables.
    let share = profile == .conversation ? 0.18 : 0.12
    try expect(
      summary.inputCounts, near: published.inputs, within: share, slack: 2,
      "inputs of \(profile), seed \(seed)")
    try expect(
      summary.outputCounts, near: published.outputs, within: 0.12, slack: 3,
      "outputs of \(profile), seed \(seed)")
    if let gaps = published.gaps_us {
      try expect(
        summary.arrivalGaps, near: gaps, within: 0.2, slack: 200,
        "gaps of \(profile), seed \(seed)")
    }
    if let counts = published.requests_per_3_s {
      var bins: [Int64: Double] = [:]
      for request in workload.requests {
        bins[request.arrivalNanoseconds / 3_000_000_000, default: 0] += 1
      }
      try expect(
        WorkloadSummary.percentiles(Array(bins.values)), near: counts, within: 0.1, slack: 2,
        "requests in 3 s, seed \(seed)")
    }
  }

  @Test func theSameSeedGivesTheSameWorkload() {
    for profile in WorkloadProfile.allCases {
      var first = WorkloadGenerator(profile: profile, seed: 9)
      var second = WorkloadGenerator(profile: profile, seed: 9)
      var other = WorkloadGenerator(profile: profile, seed: 10)
      let workload = first.workload(count: 300)
      #expect(workload == second.workload(count: 300))
      #expect(workload != other.workload(count: 300))
    }
  }

  /// Numbers written down, so that another machine's must be the same.
  @Test func theFirstRequestsAreKnown() {
    var generator = WorkloadGenerator(profile: .conversation, seed: 1)
    let requests = generator.workload(count: 3).requests
    #expect(requests.map(\.arrivalNanoseconds) == [0, 382_000_000, 650_000_000])
    #expect(requests.map(\.inputCount) == [12_863, 13_782, 15_533])
    #expect(requests.map(\.outputCount) == [809, 573, 294])
    #expect(requests.map(\.prefixHashes.last) == [25, 51, 81])
  }

  @Test func aTimeScaleStretchesArrivals() throws {
    var generator = WorkloadGenerator(profile: .azureCode, seed: 4)
    let workload = generator.workload(count: 50)
    let scaled = try workload.scaled(byTime: 0.5)
    for (a, b) in zip(workload.requests, scaled.requests) {
      #expect(b.arrivalNanoseconds == a.arrivalNanoseconds / 2)
      #expect(a.inputCount == b.inputCount)
    }
  }
}
