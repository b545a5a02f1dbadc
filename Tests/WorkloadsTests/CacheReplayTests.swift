import Foundation
import KVCache
import Testing
import Workloads

/// Workloads against the cache alone.
@Suite struct CacheReplayTests {
  private let layout = ReplayLayout.onDevice2025.layout(pagePositions: 512)

  private func run(
    _ workload: Workload, pages: Int?, secondsPerOutput: Double = 0, layout: CacheLayout? = nil
  ) throws -> CacheReplay.Outcome {
    let layout = layout ?? self.layout
    return try CacheReplay.run(
      workload,
      CacheReplay.Options(
        layout: layout, byteBudget: pages.map { $0 * layout.pageByteCount },
        secondsPerOutput: secondsPerOutput))
  }

  /// The curve of hit rates over budgets is the published trace's, within five points in a hundred,
  /// and within two and a half where nothing is given up: 36.6 %.
  @Test(
    arguments: [
      (1, [2_000, 5_000, 20_000, 50_000, 1_000_000_000]), (2, [10_000, 1_000_000_000]),
      (3, [1_000_000_000]),
    ] as [(UInt64, [Int])])
  func hitRatesAreThePublishedOnes(_ seed: UInt64, _ budgets: [Int]) throws {
    let published = try #require(
      WorkloadGeneratorTests.published()["conversation"]?.hit_rates)
    var generator = WorkloadGenerator(profile: .conversation, seed: seed)
    let workload = generator.workload(count: WorkloadProfile.conversation.publishedRequestCount)
    var before = 0.0
    for pages in budgets {
      let isUnlimited = pages == 1_000_000_000
      let outcome = try run(workload, pages: isUnlimited ? nil : pages)
      let expected = try #require(published["\(pages)"])
      #expect(
        abs(outcome.hitRate - expected) <= (isUnlimited ? 0.025 : 0.05),
        "\(pages) pages, seed \(seed): \(outcome.hitRate)")
      #expect(outcome.hitRate >= before, "a larger budget keeps less")
      before = outcome.hitRate
      #expect(outcome.mispredictedCount == 0)
      #expect(outcome.refusedCount == 0)
      // Each hit skips its prefill, and nothing else.
      #expect(outcome.hitPositions == 512 * outcome.hitPageCount)
      #expect(outcome.prefillPositions == outcome.promptPositions - outcome.hitPositions)
      #expect(isUnlimited || outcome.peakAllocatedBytes <= pages * layout.pageByteCount)
      #expect(isUnlimited == (outcome.evictedPageCount == 0))
    }
  }

  /// Hits by the hashes alone, with sets and no cache.
  @Test(arguments: [64, 256, 512]) func anUnlimitedPoolHitsWhatWasSeenBefore(_ page: Int) throws {
    var generator = WorkloadGenerator(profile: .conversation, seed: 21)
    let workload = generator.workload(count: 600)
    var seen: Set<UInt64> = []
    var longest: [UInt64: Int] = [:]
    var expected = 0
    for request in workload.requests {
      var positions = 0
      for (index, hash) in request.prefixHashes.enumerated() {
        guard seen.contains(hash) else { break }
        // Of a last hash that was not whole, as much as was there.
        positions = index * 512 + min(512, longest[hash] ?? 0)
        if longest[hash] ?? 0 < 512 { break }
      }
      expected += min(positions, request.inputCount - 1) / page
      for (index, hash) in request.prefixHashes.enumerated() {
        seen.insert(hash)
        longest[hash] = max(longest[hash] ?? 0, request.inputCount - index * 512)
      }
    }
    let layout = ReplayLayout.onDevice2025.layout(pagePositions: page)
    let outcome = try run(workload, pages: nil, layout: layout)
    #expect(outcome.hitPageCount == expected)
    #expect(outcome.mispredictedCount == 0)
  }

  @Test func requestsWithoutHashesShareNothing() throws {
    var generator = WorkloadGenerator(profile: .azureCode, seed: 1)
    let outcome = try run(generator.workload(count: 300), pages: nil)
    #expect(outcome.hitPageCount == 0)
    #expect(outcome.prefillPositions == outcome.promptPositions)
  }

  @Test func requestsThatLastHoldTheirPages() throws {
    var generator = WorkloadGenerator(profile: .azureConversation, seed: 1)
    let workload = generator.workload(count: 400)
    let alone = try run(workload, pages: nil)
    let together = try run(workload, pages: nil, secondsPerOutput: 0.05)
    #expect(together.peakHeldBytes > 3 * alone.peakHeldBytes)
    let pages = alone.peakHeldBytes / layout.pageByteCount
    let narrow = try run(workload, pages: pages, secondsPerOutput: 0.05)
    #expect(narrow.refusedCount > 0)
    #expect(narrow.peakAllocatedBytes <= pages * layout.pageByteCount)
    // Requests that come twice as fast are together more.
    let faster = try run(try workload.scaled(byTime: 0.5), pages: nil, secondsPerOutput: 0.05)
    #expect(faster.peakHeldBytes > together.peakHeldBytes)
  }

  @Test func aWindowGivesPagesBack() throws {
    var generator = WorkloadGenerator(profile: .conversation, seed: 2)
    let workload = generator.workload(count: 200)
    let layout = ReplayLayout.server.layout(pagePositions: 64)
    let outcome = try run(workload, pages: nil, layout: layout)
    #expect(outcome.mispredictedCount == 0)
    #expect(outcome.hitPageCount > 0)
  }

  @Test func aBudgetBelowAPageIsRefused() throws {
    var generator = WorkloadGenerator(profile: .azureCode, seed: 1)
    let workload = generator.workload(count: 2)
    let limit = layout.pageByteCount - 1
    #expect(
      throws: CacheError.budgetTooSmall(limitBytes: limit, neededBytes: layout.pageByteCount)
    ) {
      try CacheReplay.run(workload, CacheReplay.Options(layout: layout, byteBudget: limit))
    }
  }
}
