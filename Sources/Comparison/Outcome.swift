import BenchCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a comparison of B with A says of B.
package enum Outcome: String, CaseIterable, Codable, Sendable {
  case faster
  case slower
  /// The two differ by less than matters.
  case equal
  /// Neither a difference nor its absence is shown.
  case undecided
  /// The two did not measure the same thing; the reason says why.
  case notComparable = "not-comparable"
}

/// When a difference counts.
package struct DecisionRule: Sendable {
  /// The smallest relative effect that matters, such as 0.02.
  package var smallestEffect: Double
  /// The chance of calling equal things different, over all rows of a comparison.
  package var level = 0.05
  /// The confidence with which `equal` is said.
  package var equalityConfidence = 0.99

  package init(smallestEffect: Double) { self.smallestEffect = smallestEffect }

  /// How far the ratio may lie from 1, as a factor, where two things are called equal: half of the
  /// smallest effect, so that an effect of that half is called equal once in 200 cases at most.
  package var equalityFactor: Double { 1 + smallestEffect / 2 }

  /// Decides from a test on logarithms, and its probability after correction for other rows.
  ///
  /// `faster` and `slower` need a corrected probability below the level and a 95 % interval without 1.
  /// `equal` needs a 99 % interval of the ratio within half of the smallest effect.
  func outcome(of test: RankSumTest, corrected: Double, lowerIsBetter: Bool) -> Outcome {
    if corrected < level, let interval = test.interval(), interval.low > 0 || interval.high < 0 {
      return (interval.low > 0) == lowerIsBetter ? .slower : .faster
    }
    let bound = log(equalityFactor)
    if let interval = test.interval(confidence: equalityConfidence),
      interval.low > -bound && interval.high < bound
    {
      return .equal
    }
    return .undecided
  }
}
