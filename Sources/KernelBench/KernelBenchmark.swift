import BenchCore
import KernelContract
import PackedFormats
import QuantKernels

/// Measures cases and the machine's roofs in turns, so that what slows the machine slows both.
package struct KernelBenchmark {
  private let platform: KernelPlatform
  private let repetitionCount: Int
  /// The most partitions of an ASTC block; nil leaves it to the encoder.
  private let partitionLimit: Int?
  /// Bytes that no cache of the machine holds.
  private let memoryByteCount: Int

  /// - Parameter lastCacheByteCount: the largest cache's bytes, nil where they are not known.
  package init(
    on platform: KernelPlatform, repetitions: Int, lastCacheByteCount: Int?,
    partitionLimit: Int? = nil
  ) {
    precondition(repetitions > 0, "nothing to measure")
    self.platform = platform
    repetitionCount = repetitions
    self.partitionLimit = partitionLimit
    memoryByteCount = max(128 << 20, min(4 * (lastCacheByteCount ?? 0), 2 << 30))
  }

  /// The threads that work on a call.
  var threadCount: Int { platform.pool.threadCount }

  /// What was measured of one case.
  package struct Measurement: Sendable {
    package var kernel: String
    package var what: KernelCase
    package var threads: Int
    /// Medians over the repetitions.
    package var seconds: Double
    package var bytesPerSecond: Double
    package var operationsPerSecond: Double?
    package var roofBytesPerSecond: Double
    package var roofOperationsPerSecond: Double?
    /// Of every repetition: the case's rate over the roof's beside it, of bytes or of operations,
    /// whichever is nearer its roof.
    package var shares: [Double]
  }

  /// Measures one case. Packs its weights first.
  package func measure(_ what: KernelCase) throws -> Measurement {
    let runner = try runner(of: what)
    let samples = takeTurns([runner], on: what)
    func median(_ values: [Double]) -> Double { Statistics.median(values) ?? 0 }
    let middle = median(samples.seconds[0])
    return Measurement(
      kernel: runner.kernelName, what: what, threads: platform.pool.threadCount, seconds: middle,
      bytesPerSecond: Double(runner.byteCount) / middle,
      operationsPerSecond: what.operationCount.map { Double($0) / middle },
      roofBytesPerSecond: median(samples.readRoofs),
      roofOperationsPerSecond: samples.operationRoofs.isEmpty
        ? nil : median(samples.operationRoofs),
      shares: samples.shares(
        of: 0, byteCount: runner.byteCount, operationCount: what.operationCount))
  }

  /// What runs a case. Packs its weights.
  package func runner(of what: KernelCase) throws -> any KernelRunner {
    switch what.operation {
    case .gemv, .gemm: try product(of: what)
    default: VectorRunner(what, memoryByteCount: memoryByteCount, on: platform)
    }
  }

  /// What runs a product. Packs its weights.
  ///
  /// - Parameter quantizes: every call begins with the activations in f32.
  package func product(of what: KernelCase, quantizes: Bool = false) throws -> ProductRunner {
    ProductRunner(what, try weights(of: what), quantizes: quantizes, on: platform)
  }

  /// What runs cases that differ in operation and tokens alone, on the same weights.
  package func products(of cases: [KernelCase]) throws -> [ProductRunner] {
    guard let first = cases.first else { return [] }
    precondition(
      cases.allSatisfy {
        $0.weights == first.weights && $0.rows == first.rows && $0.columns == first.columns
          && $0.place == first.place
      }, "the cases have different weights")
    let weights = try weights(of: first)
    return cases.map { ProductRunner($0, weights, quantizes: false, on: platform) }
  }

  private func weights(of what: KernelCase) throws -> KernelWeights {
    try KernelWeights(
      what.weights ?? .f32, rows: what.rows, columns: what.columns, partitionLimit: partitionLimit,
      totalByteCount: totalByteCount(of: what), pool: platform.pool)
  }

  /// Bytes that the copies of a case's weights take together: no cache holds them where the case
  /// is about memory.
  package func totalByteCount(of what: KernelCase) -> Int {
    what.place == .memory ? memoryByteCount : 1
  }

  /// Copies of a case's weights that are laid out at most. Their bookkeeping would else be more
  /// than they are: of one weight a copy, 128 MiB are 33,554,432 copies.
  package static var copyLimit: Int { 1 << 16 }

  /// Copies of a product's weights that no cache holds together; 1 for other cases.
  package func copyCount(of what: KernelCase) -> Int {
    guard let format = what.weights, what.place == .memory else { return 1 }
    let byteCount = Plane.allCases.reduce(0) { total, plane in
      total + (format.byteCount(of: plane, rows: what.rows, columns: what.columns) ?? 0)
    }
    return memoryByteCount / max(1, byteCount) + 1
  }

  /// Measures several ways to do one thing in turns, beside the roofs that it runs into.
  package func takeTurns(_ runners: [any KernelRunner], on what: KernelCase) -> TurnSamples {
    let pool = platform.pool
    // As much as a call reads, or as much as no cache holds.
    let most = runners.map(\.byteCount).max() ?? 0
    let block = ReadBlock(
      byteCount: what.place == .memory ? memoryByteCount : max(4096, most), pool: pool)
    let passCount = TurnTaking.callCount { count in
      for _ in 0..<count { _ = platform.roofs.readRate(block, pool: pool) }
    }
    let turns = TurnTaking(
      runners: runners,
      readRoof: { platform.roofs.readRate(block, passCount: passCount, pool: pool) },
      operationRoof: { operationRoof(what, stepCount: 100_000) })
    return turns.measure(repetitions: repetitionCount)
  }

  /// The roof of arithmetic that a product runs into; nil for what only moves bytes.
  private func operationRoof(_ what: KernelCase, stepCount: Int) -> Double? {
    switch what.operation {
    case .gemv, .gemm:
      what.weights == .f32 || what.weights == .f16
        ? platform.roofs.floatRate(stepCount: stepCount, pool: platform.pool)
        : platform.roofs.int8Rate(stepCount: stepCount, pool: platform.pool)
    default: nil
    }
  }
}
