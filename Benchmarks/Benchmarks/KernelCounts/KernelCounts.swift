import Benchmark
import CAllocations
import KernelBench
import KernelContract
import QuantKernels

/// What a call of every kernel costs in things that can be counted, the same on every machine but
/// for instructions: ../../Thresholds holds them. Times are `afm-bench kernels`' business.
let benchmarks: @Sendable () -> Void = {
  do {
    for what in try cases() { add(what) }
  } catch { fatalError("\(error)") }
}

/// Everything that `afm-bench kernels` measures, on the shapes of Shapes/layers.txt.
private func cases() throws -> [KernelCase] {
  let shapes = try MeasuredShape.all()
  var cases: [KernelCase] = []
  for operation in KernelCase.operations {
    for format in KernelCase.formats(of: operation) {
      for shape in shapes {
        // One token is what GEMV is for; vectors have no rows.
        for tokens in shape.tokenCounts where format == nil || (operation == .gemv) == (tokens == 1)
        {
          cases.append(
            KernelCase(
              operation: operation, weights: format, rows: format == nil ? 1 : shape.shape.rows,
              columns: shape.shape.columns, tokens: tokens, place: .cache))
        }
      }
    }
  }
  var seen: Set<KernelCase> = []
  return cases.filter { seen.insert($0).inserted }
}

extension BenchmarkMetric {
  /// Of one call: weights, inputs and outputs.
  static let bytesMoved = BenchmarkMetric.custom("Bytes moved")
  /// What a call needs beside them, allocated once: quantized activations, scratch memory.
  static let workingBytes = BenchmarkMetric.custom("Working bytes")
  /// Of all calls after the first, on all threads.
  static let allocations = BenchmarkMetric.custom("Allocations")
}

/// One benchmark: calls of a kernel on two threads.
private func add(_ what: KernelCase) {
  let configuration = Benchmark.Configuration(
    metrics: [.bytesMoved, .workingBytes, .allocations, .instructions], warmupIterations: 1,
    maxIterations: 3)
  // A threshold's file is found by the name, which therefore has no spaces.
  let name = [
    what.operation.rawValue, what.weights?.name, "\(what.rows)x\(what.columns)", "t\(what.tokens)",
  ]
  Benchmark(
    name.compactMap { $0 }.joined(separator: "_"), configuration: configuration
  ) { benchmark in
    let platform = KernelPlatform(
      library: try KernelLibrary(), pool: ThreadPool(threadCount: 2, allowOversubscription: true))
    let runner = try KernelBenchmark(on: platform, repetitions: 1, lastCacheByteCount: nil)
      .runner(of: what)
    runner.run(callCount: 1)
    benchmark.startMeasurement()
    let before = allocation_count()
    runner.run(callCount: 10)
    let count = allocation_count() - before
    benchmark.stopMeasurement()
    benchmark.measurement(.allocations, Int(count))
    benchmark.measurement(.bytesMoved, runner.byteCount)
    benchmark.measurement(.workingBytes, runner.workingByteCount)
  }
}
