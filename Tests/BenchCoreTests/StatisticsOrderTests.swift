import BenchCore
import TestSupport
import Testing

@Suite struct StatisticsOrderTests {
  /// The ranks of the published tables (two-sided, 95 %): n, and the rank of the lower end.
  @Test(arguments: [
    (6, 1), (7, 1), (8, 1), (9, 2), (11, 2), (12, 3), (15, 4), (17, 5), (20, 6), (25, 8), (50, 18),
  ])
  func medianIntervals(count: Int, rank: Int) throws {
    let values = (1...count).reversed().map { Double($0) }
    let interval = try #require(Statistics.medianOrderInterval(values))
    #expect(interval == Interval(low: Double(rank), high: Double(count + 1 - rank)))
  }

  @Test func tooFewValuesHaveNoInterval() {
    #expect(Statistics.medianOrderInterval([]) == nil)
    #expect(Statistics.medianOrderInterval([1, 2, 3, 4, 5]) == nil)
    #expect(Statistics.medianOrderInterval([1, 2, 3, 4, 5], confidence: 0.9) != nil)
  }

  /// The interval leaves out as many quotients on each side as U's critical value in the published
  /// tables (two-sided, 95 %).
  @Test(arguments: [
    (4, 4, 0), (4, 5, 1), (5, 5, 2), (6, 6, 5), (6, 8, 8), (8, 8, 13), (10, 10, 23), (20, 20, 127),
  ])
  func ratioIntervals(m: Int, n: Int, critical: Int) throws {
    // Powers of two: every quotient is exact, and their order is known.
    let above = (0..<m).map { Double(sign: .plus, exponent: 21 * $0, significand: 1) }
    let below = (0..<n).map { Double(sign: .plus, exponent: $0, significand: 1) }
    let quotients = above.flatMap { a in below.map { a / $0 } }.sorted()
    let estimate = try #require(Statistics.ratio(of: above, to: below))
    #expect(abs(estimate.interval.low / quotients[critical] - 1) < 1e-9)
    #expect(abs(estimate.interval.high / quotients[m * n - 1 - critical] - 1) < 1e-9)
    #expect(estimate.numeratorCount == m && estimate.denominatorCount == n)
  }

  @Test func aRatioThatCannotBeToldIsNot() throws {
    #expect(Statistics.ratio(of: [1, 2, 3], to: [1, 2, 3]) == nil)
    #expect(Statistics.ratio(of: [], to: [1, 2, 3, 4]) == nil)
    #expect(Statistics.ratio(of: [1, 2, 3, 0], to: [1, 2, 3, 4]) == nil)
    let same = try #require(Statistics.ratio(of: [1, 2, 3, 4], to: [1, 2, 3, 4]))
    #expect(same.ratio == 1 && !same.isDecided)
    let double = try #require(
      Statistics.ratio(of: [200, 202, 204, 206], to: [100, 101, 102, 103]))
    #expect(double.isDecided && abs(double.ratio - 2) < 0.02)
    let half = try #require(Statistics.ratio(of: [100, 101, 102, 103], to: [200, 202, 204, 206]))
    #expect(half.isDecided && abs(half.ratio - 0.5) < 0.005)
  }

  /// Large samples take the normal approximation, and thinned ones more than a thousand values.
  @Test func manyValues() throws {
    let below = (0..<3_000).map { 100 + Double(($0 * 7919) % 101) }
    let estimate = try #require(Statistics.ratio(of: below.map { $0 * 1.5 }, to: below))
    #expect(abs(estimate.ratio - 1.5) < 0.02)
    #expect(estimate.interval.low > 1.4 && estimate.interval.high < 1.6)
    #expect(estimate.numeratorCount == 3_000)
  }

  /// What says 95 % holds the truth in 95 % of 2,000 samples of six, but for what chance does to
  /// such a share (three standard errors).
  @Test func theyCoverWhatTheySay() {
    var generator = SeededGenerator(seed: 5)
    func sample() -> [Double] {
      (0..<6).map { _ in
        // Skewed, as times are; the median is 3/4.
        let uniform = Double.random(in: 0..<1, using: &generator)
        return 0.5 + uniform * uniform
      }
    }
    let median = 0.75
    var medians = 0
    var ratios = 0
    for _ in 0..<2_000 {
      let (a, b) = (sample(), sample())
      if let interval = Statistics.medianOrderInterval(a), interval.low <= median,
        median <= interval.high
      {
        medians += 1
      }
      if let estimate = Statistics.ratio(of: a.map { 3 * $0 }, to: b),
        estimate.interval.low <= 3, 3 <= estimate.interval.high
      {
        ratios += 1
      }
    }
    #expect(medians >= 1_871, "\(medians)")
    #expect(ratios >= 1_871, "\(ratios)")
  }
}
