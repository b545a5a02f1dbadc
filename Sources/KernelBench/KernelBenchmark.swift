import BenchCore
import CPlatform
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
  /// What one sample takes at least, in nanoseconds.
  private static let sampleNanoseconds: UInt64 = 3_000_000

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
    let runner: any KernelRunner =
      switch what.operation {
      case .gemv, .gemm:
        try ProductRunner(
          what, format: what.weights ?? .f32, partitionLimit: partitionLimit,
          memoryByteCount: memoryByteCount, on: platform)
      default: VectorRunner(what, memoryByteCount: memoryByteCount, on: platform)
      }
    let pool = platform.pool
    // As much as a call reads, or as much as no cache holds.
    let blockByteCount = what.place == .memory ? memoryByteCount : max(4096, runner.byteCount)
    let block = ReadBlock(byteCount: blockByteCount, pool: pool)
    let callCount = calibrate { runner.call() }
    let passCount = calibrate { _ = platform.roofs.readRate(block, pool: pool) }
    let stepCount = 100_000
    var seconds: [Double] = []
    var readRoofs: [Double] = []
    var operationRoofs: [Double] = []
    for _ in 0..<repetitionCount {
      readRoofs.append(platform.roofs.readRate(block, passCount: passCount, pool: pool))
      let start = cp_monotonic_nanoseconds()
      for _ in 0..<callCount { runner.call() }
      let elapsed = cp_monotonic_nanoseconds() &- start
      seconds.append(Double(max(1, elapsed)) * 1e-9 / Double(callCount))
      if let rate = operationRoof(what, stepCount: stepCount) { operationRoofs.append(rate) }
    }
    let shares = seconds.indices.map { index in
      let bytes = Double(runner.byteCount) / seconds[index] / readRoofs[index]
      guard let operations = what.operationCount, index < operationRoofs.count else { return bytes }
      return max(bytes, Double(operations) / seconds[index] / operationRoofs[index])
    }
    func median(_ values: [Double]) -> Double { Statistics.median(values) ?? 0 }
    let middle = median(seconds)
    return Measurement(
      kernel: runner.kernelName, what: what, threads: pool.threadCount, seconds: middle,
      bytesPerSecond: Double(runner.byteCount) / middle,
      operationsPerSecond: what.operationCount.map { Double($0) / middle },
      roofBytesPerSecond: median(readRoofs),
      roofOperationsPerSecond: operationRoofs.isEmpty ? nil : median(operationRoofs),
      shares: shares)
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

  /// How many calls a sample takes; warms up meanwhile.
  private func calibrate(_ body: () -> Void) -> Int {
    var count = 1
    while true {
      let start = cp_monotonic_nanoseconds()
      for _ in 0..<count { body() }
      let elapsed = cp_monotonic_nanoseconds() &- start
      if elapsed >= Self.sampleNanoseconds || count >= 1 << 22 { return count }
      count *= elapsed * 4 < Self.sampleNanoseconds ? 4 : 2
    }
  }
}
