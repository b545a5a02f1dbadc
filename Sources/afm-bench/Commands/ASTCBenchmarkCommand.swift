import ArgumentParser
import EngineInterface
import Foundation
import PackedFormats
import RandomNumbers
import TensorCore

extension ASTCCommand {
  /// The figures on the page of the encoder, again:
  ///
  ///     ldr, effort medium, 1536 x 1536: relative RMS 0.1849, 1.84 million weights/s, 0 clipped
  struct Benchmark: FileUsingCommand {
    static let configuration = CommandConfiguration(
      commandName: "benchmark",
      abstract: "Quantizes a standard normal matrix and reports error and speed on one core.",
      usage: "afm-bench astc benchmark [<options>]",
      discussion: """
        Speed is in weights per second of the thread's user time. A planted weight in each row makes \
        the range that the row needs; it counts in neither side of the relative error.

        Example: afm-bench astc benchmark --effort fast --rows 256 --planted 5
        """)

    @Option(help: ArgumentHelp("The profile.", valueName: "profile"))
    var profile: Profile = .ldr

    @Option(help: ArgumentHelp("How long to search; by default each.", valueName: "effort"))
    var effort: QuantizationOptions.Effort?

    @Option(help: ArgumentHelp("Rows, 1 to 65536.", valueName: "count"))
    var rows = 1536

    @Option(help: ArgumentHelp("Columns, 1 to 65536.", valueName: "count"))
    var columns = 1536

    @Option(
      help: ArgumentHelp(
        "A weight of so many standard deviations in each row.", valueName: "sigmas"))
    var planted: Float?

    @Option(
      help: ArgumentHelp(
        "Clips at so many root mean squares of the row (ldr).", valueName: "sigmas"))
    var clipping: Float?

    @Option(help: ArgumentHelp("The most partitions of a block, 1 to 3.", valueName: "count"))
    var partitionLimit: Int?

    @Option(help: ArgumentHelp("The seed of the weights.", valueName: "number"))
    var seed: UInt64 = 1

    @Flag(help: "Prints one JSON object.")
    var json = false

    struct Row: Encodable {
      var profile: String
      var effort: String
      var rows: Int
      var columns: Int
      var relative_rms: Double
      var weights_per_second: Double
      var clipped: Int

      var text: String {
        let figures = String(
          format: "relative RMS %.4f, %.2f million weights/s", relative_rms,
          weights_per_second / 1e6)
        return "\(profile), effort \(effort), \(rows) x \(columns): \(figures), \(clipped) clipped"
      }
    }

    struct Report: Encodable { var results: [Row] }

    func validate() throws {
      let sides = 1...65536
      guard sides ~= rows, sides ~= columns else {
        throw ValidationError("--rows and --columns must be in 1...65536")
      }
      for (name, value) in [("--planted", planted), ("--clipping", clipping)] {
        guard value.map({ 0.5...10000 ~= $0 }) ?? true else {
          throw ValidationError("\(name) must be in 0.5...10000")
        }
      }
      guard partitionLimit.map({ 1...3 ~= $0 }) ?? true else {
        throw ValidationError("--partition-limit must be in 1...3")
      }
      guard clipping == nil || profile == .ldr else {
        throw ValidationError("--clipping is for ldr")
      }
    }

    var files: CommandFiles { [] }

    func run() throws {
      var weights = NormalNumbers(seed: seed).prefix(rows * columns)
      if let planted {
        for row in 0..<rows { weights[row * columns + plantedColumn(row)] = planted }
      }
      var results: [Row] = []
      for effort in effort.map({ [$0] }) ?? QuantizationOptions.Effort.allCases {
        results.append(try measure(weights, effort: effort))
        Console.progress(results.last?.text ?? "")
      }
      Console.progress("")
      let report = Report(results: results)
      try Console.report(
        json ? Console.json(report) : results.map(\.text).joined(separator: "\n"))
    }

    private func plantedColumn(_ row: Int) -> Int { row * 37 % columns }

    private func measure(_ weights: [Float], effort: QuantizationOptions.Effort) throws -> Row {
      let format: WeightFormat = profile == .ldr ? .astc6x6LDR : .astc6x6HDR
      func storage(_ plane: Plane) -> AlignedStorage {
        AlignedStorage(
          byteCount: format.byteCount(of: plane, rows: rows, columns: columns) ?? 0)
      }
      var codes = storage(.codes)
      var scales = storage(.scales)
      var minimums = storage(.minimums)
      let options = QuantizationOptions(
        effort: effort, clipping: clipping, partitionLimit: partitionLimit)
      let start = Self.userSeconds()
      var spans = MutablePackedPlanes(
        codes: codes.mutableBytes, scales: scales.mutableBytes, minimums: minimums.mutableBytes)
      let outcome = try format.quantize(
        weights.span, rowCount: rows, columnCount: columns, options: options, into: &spans)
      let seconds = Self.userSeconds() - start
      var values = [Float](repeating: 0, count: weights.count)
      var output = values.mutableSpan
      format.dequantize(
        PackedPlanes(codes: codes.bytes, scales: scales.bytes, minimums: minimums.bytes),
        rowCount: rows, columnCount: columns, into: &output)
      return Row(
        profile: profile.rawValue, effort: effort.rawValue, rows: rows, columns: columns,
        relative_rms: relativeError(weights, values),
        weights_per_second: Double(weights.count) / max(seconds, 1e-6),
        clipped: outcome.clippedCount)
    }

    private func relativeError(_ weights: [Float], _ values: [Float]) -> Double {
      var squares = 0.0
      var whole = 0.0
      for row in 0..<rows {
        for column in 0..<columns where planted == nil || column != plantedColumn(row) {
          let weight = Double(weights[row * columns + column])
          let distance = weight - Double(values[row * columns + column])
          squares += distance * distance
          whole += weight * weight
        }
      }
      return whole > 0 ? (squares / whole).squareRoot() : 0
    }

    private static func userSeconds() -> Double {
      var usage = rusage()
      // The structure lives for the call; 1 is this thread.
      _ = unsafe getrusage(1, &usage)
      return Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) * 1e-6
    }
  }
}

/// Standard normal numbers from a seed, by Marsaglia's polar method.
private struct NormalNumbers {
  private var generator: SplitMix64

  init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  func prefix(_ count: Int) -> [Float] {
    var numbers = self
    return (0..<count).map { _ in numbers.next() }
  }

  /// From −1 to 1.
  private mutating func uniform() -> Double {
    Double(generator.next() >> 11) * 0x1p-52 - 1
  }

  private mutating func next() -> Float {
    while true {
      let (x, y) = (uniform(), uniform())
      let r = x * x + y * y
      guard r > 0, r < 1 else { continue }
      return Float(x * (-2 * log(r) / r).squareRoot())
    }
  }
}
