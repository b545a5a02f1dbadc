import EngineInterface
import RandomNumbers

extension Statistics {
  /// The fewest clusters for a 95 % interval of a median: all n values lie on one side of the true
  /// median with chance 2^(1 − n), which is below 5 % from n = 6 on. With fewer, no interval of
  /// that confidence can be read off the values, and a printed one would claim too much.
  package static let minimumIntervalCount = 6

  /// Resamples of a bootstrap: the ends of a 95 % interval then rest on 50 each.
  package static let resampleCount = 2_000

  /// The bootstrap percentile interval (Efron 1979) of the median of independent values.
  package static func medianInterval(
    _ values: [Double], seed: UInt64, confidence: Double = 0.95
  ) -> Interval? {
    medianInterval(ofClusters: values.map { [$0] }, seed: seed, confidence: confidence)
  }

  /// The bootstrap percentile interval of the median of all values, resampling whole clusters
  /// (requests), since values of one cluster are not independent. Nil below
  /// ``minimumIntervalCount`` clusters. The same seed gives the same interval on every machine.
  ///
  /// Sorts once; a resample then weighs clusters and walks the sorted values, so that n values
  /// cost O(n log n + n·resamples).
  package static func medianInterval(
    ofClusters clusters: [[Double]], seed: UInt64, confidence: Double = 0.95,
    resamples: Int = resampleCount
  ) -> Interval? {
    precondition(confidence > 0 && confidence < 1 && resamples > 0, "nothing to resample")
    let clusters = clusters.filter { !$0.isEmpty }
    guard clusters.count >= minimumIntervalCount else { return nil }
    let sorted = clusters.enumerated().flatMap { index, values in values.map { ($0, index) } }
      .sorted { $0.0 < $1.0 }
    var generator = SplitMix64(seed: seed)
    var weights = [Int](repeating: 0, count: clusters.count)
    var medians: [Double] = []
    medians.reserveCapacity(resamples)
    for _ in 0..<resamples {
      for index in weights.indices { weights[index] = 0 }
      var total = 0
      for _ in clusters.indices {
        let drawn = generator.index(below: clusters.count)
        weights[drawn] += 1
        total += clusters[drawn].count
      }
      medians.append(weightedMedian(sorted, weights: weights, total: total))
    }
    medians.sort()
    let tail = (1 - confidence) / 2
    return Interval(
      low: medians[rank(tail, ofCount: resamples) - 1],
      high: medians[rank(1 - tail, ofCount: resamples) - 1])
  }

  /// The median where every value stands as often as its cluster was drawn.
  private static func weightedMedian(
    _ sorted: [(Double, Int)], weights: [Int], total: Int
  ) -> Double {
    let lowerRank = (total + 1) / 2
    let upperRank = total / 2 + 1
    var seen = 0
    var lower: Double?
    for (value, cluster) in sorted {
      seen += weights[cluster]
      if lower == nil && seen >= lowerRank { lower = value }
      if let lower, seen >= upperRank { return (lower + value) / 2 }
    }
    preconditionFailure("the weights add up to the total")
  }
}

extension SplitMix64 {
  /// An index in 0..<count; the bias is below count / 2^64.
  mutating func index(below count: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(count)).high)
  }
}
