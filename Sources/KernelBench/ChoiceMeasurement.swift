import BenchCore
import KernelContract
import PackedFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// GEMV against GEMM at few tokens, of one format on one shape.
package struct ChoiceMeasurement: Sendable {
  /// Where one overtakes the other.
  package static let tokenCounts = [2, 3, 4, 5, 6, 8, 10, 12, 16]

  package var format: WeightFormat
  package var shape: ProductShape
  package var place: KernelCase.Place
  package var threads: Int
  /// GEMV's time over GEMM's, the median over the repetitions, for each number of tokens.
  package var ratios: [Double]
  /// 95 % of each ratio; nil with too few repetitions.
  package var intervals: [Interval?]

  package init(
    format: WeightFormat, shape: ProductShape, place: KernelCase.Place, threads: Int,
    ratios: [Double], intervals: [Interval?]? = nil
  ) {
    precondition(ratios.count == Self.tokenCounts.count, "a ratio for each number of tokens")
    self.intervals = intervals ?? ratios.map { _ in nil }
    self.format = format
    self.shape = shape
    self.place = place
    self.threads = threads
    self.ratios = ratios
  }

  /// How many ratios leave open which of the two is faster: their interval has 1 in it, or there is
  /// none.
  package var undecidedCount: Int {
    intervals.count { interval in interval.map { $0.low <= 1 && 1 <= $0.high } ?? true }
  }

  /// The geometric mean of several measurements' ratios, for each number of tokens.
  package static func means(_ measurements: [ChoiceMeasurement]) -> [Double] {
    tokenCounts.indices.map { index in
      exp(measurements.reduce(0) { $0 + log($1.ratios[index]) } / Double(measurements.count))
    }
  }

  /// The tokens from which on GEMM costs least: of all numbers the one with the least product of
  /// what is lost below it to GEMV and from it on to GEMM. A number at which one of them happened to
  /// win against its neighbours changes little. One more than was measured, where GEMV always wins.
  package static func gemmTokenCount(_ ratios: [Double]) -> Int {
    precondition(ratios.count == tokenCounts.count, "a ratio for each number of tokens")
    let losses = (0...ratios.count).map { first in
      ratios[..<first].reduce(0) { $0 + max(0, log($1)) }
        + ratios[first...].reduce(0) { $0 + max(0, -log($1)) }
    }
    // The first of the least.
    let best = losses.indices.min { losses[$0] < losses[$1] } ?? 0
    return best < tokenCounts.count ? tokenCounts[best] : tokenCounts[best - 1] + 1
  }
}

extension KernelBenchmark {
  /// Measures GEMV and GEMM at a few tokens, all of them in turns.
  package func measureChoice(
    _ format: WeightFormat, on shape: ProductShape, in place: KernelCase.Place
  ) throws -> ChoiceMeasurement {
    func what(_ operation: KernelOperation, _ tokens: Int) -> KernelCase {
      KernelCase(
        operation: operation, weights: format, rows: shape.rows, columns: shape.columns,
        tokens: tokens, place: place)
    }
    let cases = ChoiceMeasurement.tokenCounts.flatMap { [what(.gemv, $0), what(.gemm, $0)] }
    let samples = takeTurns(try products(of: cases), on: cases[0])
    let ratios = ChoiceMeasurement.tokenCounts.indices.map {
      samples.ratios(of: 2 * $0, over: 2 * $0 + 1)
    }
    return ChoiceMeasurement(
      format: format, shape: shape, place: place, threads: threadCount,
      ratios: ratios.map { Statistics.median($0) ?? 1 },
      intervals: ratios.map { Statistics.medianInterval($0, seed: 1) })
  }
}
