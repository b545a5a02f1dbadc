import BenchCore
import KernelBench
import KernelContract
import PackedFormats
import QuantKernels

/// Measures our kernels and another library's on one shape, all of them in turns.
struct Comparison {
  /// A product of ours or of theirs.
  struct Contestant {
    var name: String
    var bitsPerWeight: Double
    /// Medians over the repetitions.
    var gigabytesPerSecond: Double
    var gigaoperationsPerSecond: Double
    var share: Double
    var relativeError: Double
  }

  /// One of ours beside one of theirs.
  struct Pair {
    var what: KernelCase
    var threads: Int
    var ours: Contestant
    var peer: Contestant
    /// The peer's time over ours, the median of the repetitions: how many times as fast we are.
    var ratio: Double
    var interval: Interval?
    var roofGigabytesPerSecond: Double
    var roofGigaoperationsPerSecond: Double?
  }

  let platform: KernelPlatform
  let benchmark: KernelBenchmark
  let threads: PeerThreads
  let formats: [WeightFormat]
  let types: [String]
  /// Says what is not measured and why.
  let note: (String) -> Void

  /// Pairs are made of what stores about as many bits: up to this factor more or fewer.
  static let bitsFactor = 1.75

  func measure(_ shape: ProductShape, tokens: Int, in place: KernelCase.Place) throws -> [Pair] {
    func what(_ format: WeightFormat) -> KernelCase {
      KernelCase(
        operation: tokens == 1 ? .gemv : .gemm, weights: format, rows: shape.rows,
        columns: shape.columns, tokens: tokens, place: place)
    }
    let ours = try formats.map { try benchmark.product(of: what($0), quantizes: true) }
    let peers = types.compactMap { type -> PeerRunner? in
      let first = what(formats[0])
      let runner = PeerRunner(
        type, of: first, totalByteCount: benchmark.totalByteCount(of: first), on: threads)
      if runner == nil { note("\(type) has no products of \(shape.columns) columns") }
      return runner
    }
    // Nobody is timed at computing something else.
    let errors = ours.map { $0.relativeError() ?? 0 } + peers.map { $0.relativeError() }
    let runners: [any KernelRunner] = ours + peers
    for (runner, error) in zip(runners, errors) where !(error <= ProductCheck.tolerance) {
      throw PeerLibrary.Failure(
        description: "\(runner.kernelName) is wrong on \(shape), \(tokens) tokens: its product is "
          + "\(error) off that of its dequantized weights")
    }
    let samples = benchmark.takeTurns(runners, on: what(formats[0]))
    let weightBytes = ours.map(\.weightByteCount) + peers.map(\.weightByteCount)
    let contestants = runners.indices.map { index in
      contestant(
        runners[index], index, samples, weightByteCount: weightBytes[index],
        what: what(formats[0]), error: errors[index])
    }
    return pairs(
      contestants, of: formats.map(what), samples, ourCount: ours.count)
  }

  private func contestant(
    _ runner: any KernelRunner, _ index: Int, _ samples: TurnSamples, weightByteCount: Int,
    what: KernelCase, error: Double
  ) -> Contestant {
    let seconds = Statistics.median(samples.seconds[index]) ?? 0
    let operationCount = 2 * what.rows * what.columns * what.tokens
    return Contestant(
      name: runner.kernelName,
      bitsPerWeight: Double(weightByteCount * 8) / Double(what.rows * what.columns),
      gigabytesPerSecond: Double(weightByteCount) / seconds / 1e9,
      gigaoperationsPerSecond: Double(operationCount) / seconds / 1e9,
      share: Statistics.median(
        samples.shares(of: index, byteCount: runner.byteCount, operationCount: operationCount))
        ?? 0,
      relativeError: error)
  }

  private func pairs(
    _ contestants: [Contestant], of cases: [KernelCase], _ samples: TurnSamples, ourCount: Int
  ) -> [Pair] {
    var pairs: [Pair] = []
    for our in 0..<ourCount {
      for peer in ourCount..<contestants.count {
        let bits = contestants[peer].bitsPerWeight / contestants[our].bitsPerWeight
        guard bits <= Self.bitsFactor, bits >= 1 / Self.bitsFactor else { continue }
        let ratios = samples.ratios(of: peer, over: our)
        pairs.append(
          Pair(
            what: cases[our], threads: platform.pool.threadCount, ours: contestants[our],
            peer: contestants[peer], ratio: Statistics.median(ratios) ?? 0,
            interval: Statistics.medianInterval(ratios, seed: 1),
            roofGigabytesPerSecond: (Statistics.median(samples.readRoofs) ?? 0) / 1e9,
            roofGigaoperationsPerSecond: Statistics.median(samples.operationRoofs).map {
              $0 / 1e9
            }))
      }
    }
    return pairs
  }
}
