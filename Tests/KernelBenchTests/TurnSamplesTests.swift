import BenchCore
import KernelBench
import KernelContract
import PackedFormats
import QuantKernels
import Testing

/// What is computed from measured times; nothing here depends on how fast anything is.
@Suite struct TurnSamplesTests {
  @Test func ratiosAndSharesArePairedByRepetition() {
    var samples = TurnSamples(seconds: [[1, 2, 4], [2, 2, 2]])
    samples.readRoofs = [100, 50, 100]
    #expect(samples.ratios(of: 0, over: 1) == [0.5, 1, 2])
    // 40 bytes in 1, 2 and 4 seconds.
    #expect(samples.shares(of: 0, byteCount: 40, operationCount: nil) == [0.4, 0.4, 0.1])
    samples.operationRoofs = [10, 10, 10]
    // 8 operations are nearer their roof in the first and the last.
    #expect(samples.shares(of: 0, byteCount: 40, operationCount: 8) == [0.8, 0.4, 0.2])
  }

  @Test func gemmIsChosenFromWhereItCostsLeast() {
    let counts = ChoiceMeasurement.tokenCounts
    #expect(counts == counts.sorted() && counts[0] == 2)
    func choice(_ slower: Set<Int>) -> Int {
      ChoiceMeasurement.gemmTokenCount(counts.map { slower.contains($0) ? 0.9 : 1.1 })
    }
    #expect(choice([]) == 2)
    #expect(choice([2, 3]) == 4)
    #expect(choice(Set(counts)) == 17)
    // One that differs from its neighbours is noise.
    #expect(choice([2, 3, 12]) == 4)
    #expect(choice([2, 3, 5, 6, 8]) == 10)
  }

  @Test func measurementsAreAveragedAsRatios() {
    func one(_ ratio: Double) -> ChoiceMeasurement {
      ChoiceMeasurement(
        format: .u2c, shape: ProductShape(rows: 16, columns: 64), place: .cache, threads: 1,
        ratios: ChoiceMeasurement.tokenCounts.map { _ in ratio })
    }
    for mean in ChoiceMeasurement.means([one(0.5), one(2)]) { #expect(abs(mean - 1) < 1e-12) }
  }

  @Test func whatAnIntervalLeavesOpenIsCounted() {
    let count = ChoiceMeasurement.tokenCounts.count
    func one(_ intervals: [Interval?]?) -> Int {
      ChoiceMeasurement(
        format: .u2c, shape: ProductShape(rows: 16, columns: 64), place: .cache, threads: 1,
        ratios: ChoiceMeasurement.tokenCounts.map { _ in 1.5 }, intervals: intervals
      ).undecidedCount
    }
    #expect(one(nil) == count)
    #expect(one(Array(repeating: Interval(low: 1.2, high: 1.9), count: count)) == 0)
    #expect(one(Array(repeating: Interval(low: 0.9, high: 1.9), count: count)) == count)
    let first = [Interval(low: 0.4, high: 0.5), Interval(low: 0.8, high: 1.1)]
    let rest = Array(repeating: Interval(low: 2, high: 3), count: count - 2)
    #expect(one(first + rest) == 1)
  }

  @Test func runnersTakeTurnsOnEqualTerms() throws {
    let platform = KernelPlatform(library: try KernelLibrary(), pool: ThreadPool(threadCount: 1))
    let benchmark = KernelBenchmark(on: platform, repetitions: 3, lastCacheByteCount: nil)
    let cases = [KernelOperation.gemv, .gemm].map {
      KernelCase(operation: $0, weights: .u2c, rows: 48, columns: 100, tokens: 2, place: .cache)
    }
    let samples = benchmark.takeTurns(try benchmark.products(of: cases), on: cases[0])
    #expect(samples.seconds.count == 2 && samples.readRoofs.count == 3)
    #expect(samples.seconds.allSatisfy { $0.count == 3 && $0.allSatisfy { $0 > 0 } })
  }
}
