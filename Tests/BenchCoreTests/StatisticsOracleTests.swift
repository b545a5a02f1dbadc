import BenchCore
import TestSupport
import Testing

/// tools/oracles/statistics_oracle.py answers the same questions with NumPy and SciPy.
@Suite(.needs(.python)) struct StatisticsOracleTests {
  private struct Request: Encodable {
    var values: [Double]
    var fractions = [0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999]
    var tails = [
      [0, 10, 0.5], [1, 64, 0.1], [1, 662, 0.01], [7, 30, 0.2], [50, 100_000, 0.001],
    ]
    var counts = [[0.5, 0.99], [0.9, 0.99], [0.95, 0.99], [0.97, 0.95], [0.99, 0.99]]
  }

  private struct Answer: Decodable {
    var median: Double
    var mean: Double
    var deviation: Double
    var scaledMedianDeviation: Double
    var percentiles: [Double]
    var tails: [Double]
    var counts: [Int]
    var interval: [Double]
  }

  @Test(arguments: [7, 9, 25, 101])
  func agreesWithNumPyAndSciPy(count: Int) throws {
    var generator = SeededGenerator(seed: UInt64(count))
    let values = (0..<count).map { _ in Double.random(in: 0.5...20, using: &generator) }
    let request = Request(values: values)
    let answer = try Oracle.ask("statistics_oracle.py", request, as: Answer.self)
    func close(_ a: Double?, _ b: Double) -> Bool {
      a.map { abs($0 - b) <= 1e-10 * abs(b) } ?? false
    }

    #expect(Statistics.median(values) == answer.median, "seed \(count)")
    #expect(close(Statistics.mean(values), answer.mean), "seed \(count)")
    #expect(close(Statistics.standardDeviation(values), answer.deviation), "seed \(count)")
    #expect(close(Statistics.scaledMedianDeviation(values), answer.scaledMedianDeviation))
    #expect(request.fractions.map { Statistics.nearestRank($0, of: values) } == answer.percentiles)
    for (tail, expected) in zip(request.tails, answer.tails) {
      let ours = PercentileRule.binomialTail(
        atMost: Int(tail[0]), of: Int(tail[1]), probability: tail[2])
      #expect(abs(ours - expected) <= 1e-9 * expected, "\(tail)")
    }
    #expect(
      request.counts.map { PercentileRule.minimumCount($0[0], confidence: $0[1]) } == answer.counts)
    // Both ends are order statistics; enough resamples find the exact ones.
    let interval = Statistics.medianInterval(
      ofClusters: values.map { [$0] }, seed: 5, resamples: 200_000)
    #expect(interval.map { [$0.low, $0.high] } == answer.interval, "seed \(count)")
  }
}
