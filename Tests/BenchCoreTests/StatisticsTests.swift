import BenchCore
import TestSupport
import Testing

@Suite struct StatisticsTests {
  @Test func knownValues() {
    let values = [2.0, 4, 4, 4, 5, 5, 7, 9]
    #expect(Statistics.median(values) == 4.5)
    #expect(Statistics.median([3, 1, 2]) == 2)
    #expect(Statistics.mean(values) == 5)
    // Σ(x − 5)² = 32, over n − 1 = 7.
    #expect(Statistics.standardDeviation(values) == (32.0 / 7).squareRoot())
    #expect(Statistics.standardDeviation([3]) == 0)
    #expect(Statistics.scaledMedianDeviation([1, 2, 3, 4, 100]) == 1.482602218505602)
    #expect(Statistics.outlierShare([1, 2, 3, 4, 100]) == 0.2)
  }

  @Test func nothingHasNoEstimate() {
    #expect(Statistics.median([]) == nil)
    #expect(Statistics.mean([]) == nil)
    #expect(Statistics.standardDeviation([]) == nil)
    #expect(Statistics.nearestRank(0.5, of: []) == nil)
    #expect(Statistics.scaledMedianDeviation([]) == nil)
    #expect(Statistics.medianInterval([], seed: 1) == nil)
    #expect(Statistics.percentile(0.9, ofClusters: [[], []]).value == nil)
  }

  @Test(arguments: 1...99)
  func nearestRankOfHundred(percent: Int) {
    // Of 1…100 the p-th percentile is p: products such as 0.07 · 100 > 7 must not round up.
    let values = (1...100).map(Double.init).reversed()
    #expect(Statistics.nearestRank(Double(percent) / 100, of: Array(values)) == Double(percent))
  }

  @Test func driftNeedsSeparateHalves() {
    #expect(Statistics.drift([10, 10, 10, 11, 11, 11]) == 1 / 10.5)
    #expect(Statistics.drift([11, 11, 11, 10, 10, 10]) == -1 / 10.5)
    #expect(Statistics.drift([10, 11, 10, 11, 10, 11]) == 0)
    #expect(Statistics.drift([10, 10, 20, 20]) == nil)
  }

  // MARK: - LoadGen's rule

  /// 64 and 662 are the figures of MLPerf's inference rules; the rest follows from the formula.
  @Test(arguments: [(0.90, 64), (0.99, 662), (0.50, 11), (0.95, 130), (0.999, 6636)])
  func minimumCounts(fraction: Double, count: Int) {
    #expect(PercentileRule.minimumCount(fraction) == count)
  }

  @Test func aPercentileOfTooFewIsRefused() {
    let values = (1...64).map(Double.init)
    let singles = values.map { [$0] }
    #expect(Statistics.percentile(0.9, ofClusters: singles) == .value(58))
    let refused = Statistics.percentile(0.9, ofClusters: Array(singles.dropLast()))
    #expect(refused == .refused("needs 64 values, has 63"))
    #expect(
      Statistics.percentile(0.9, ofClusters: [values])
        == .refused("all 64 values are of one request, so not independent"))
  }

  @Test func clustersCountForLess() {
    // Four requests, each with one gap length of its own: as good as four values.
    let alike = (1...4).map { [Double](repeating: Double($0), count: 100) }
    #expect(
      Statistics.percentile(0.5, ofClusters: alike)
        == .refused("needs 11 values, and the 400 of 4 requests count as 4"))
    // The same values dealt out evenly: what request a gap is in says nothing.
    let mixed = (0..<4).map { _ in (0..<100).map { Double($0 % 4 + 1) } }
    #expect(Statistics.percentile(0.9, ofClusters: mixed) == .value(4))
  }

  // MARK: - The bootstrap

  @Test func sameSeedSameInterval() {
    var generator = SeededGenerator(seed: 7)
    let clusters = (0..<9).map { _ in
      (0..<20).map { _ in Double.random(in: 1...2, using: &generator) }
    }
    let interval = Statistics.medianInterval(ofClusters: clusters, seed: 3)
    #expect(interval != nil)
    #expect(interval == Statistics.medianInterval(ofClusters: clusters, seed: 3))
    #expect(interval != Statistics.medianInterval(ofClusters: clusters, seed: 4))
  }

  @Test func fewerThanSixHaveNoInterval() {
    #expect(Statistics.medianInterval([1, 2, 3, 4, 5], seed: 1) == nil)
    #expect(Statistics.medianInterval([1, 2, 3, 4, 5, 6], seed: 1) != nil)
    // Many gaps of few requests are few.
    let clusters = (0..<5).map { _ in (0..<100).map(Double.init) }
    #expect(Statistics.medianInterval(ofClusters: clusters, seed: 1) == nil)
  }

  @Test func resamplingRequestsIsWiderThanResamplingGaps() throws {
    // Requests differ, gaps within one do not: taking gaps for independent would claim too much.
    let clusters = (1...10).map { [Double](repeating: Double($0), count: 50) }
    let clustered = try #require(Statistics.medianInterval(ofClusters: clusters, seed: 1))
    let pooled = try #require(Statistics.medianInterval(clusters.flatMap { $0 }, seed: 1))
    #expect(clustered.high - clustered.low > 2 * (pooled.high - pooled.low))
  }

  @Test func coversTheTrueMedian() {
    // Of 200 samples of 25 values each from a known distribution, about 95 % of the intervals hold
    // the true median. Fewer than 178 would be a chance below 1 in 1,000 at 93 % coverage.
    var generator = SeededGenerator(seed: 11)
    let covered = (0..<200).count { trial in
      let values = (0..<25).map { _ in
        // The square of a uniform number: skewed, median 1/4.
        let uniform = Double.random(in: 0..<1, using: &generator)
        return uniform * uniform
      }
      let interval = Statistics.medianInterval(
        ofClusters: values.map { [$0] }, seed: UInt64(trial), resamples: 500)
      return interval.map { $0.low <= 0.25 && 0.25 <= $0.high } ?? false
    }
    #expect((178...200).contains(covered), "seed 11: \(covered) of 200")
  }
}
