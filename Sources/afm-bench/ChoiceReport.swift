import Foundation
import KernelBench
import KernelContract
import PackedFormats
import QuantKernels
import Report

/// What `kernels --tune` prints.
struct ChoiceReport: Encodable {
  struct Row: Encodable {
    var weights: String
    var rows: Int
    var columns: Int
    var `in`: String
    var threads: Int
    var tokens: Int
    /// GEMV's time over GEMM's.
    var ratio: Double
    /// 95 % of it, with six repetitions or more.
    var ratio_low: Double?
    var ratio_high: Double?
  }

  var isa: String
  var rows: [Row] = []
  /// As `AFM_GEMM_TOKENS` takes it; formats that were not measured are as before.
  var gemm_tokens: String

  private let measurements: [ChoiceMeasurement]
  private let means: [(format: WeightFormat, ratios: [Double])]
  private let choice: PackedProductChoice

  private enum CodingKeys: String, CodingKey { case isa, rows, gemm_tokens }

  init(_ measurements: [ChoiceMeasurement], isa: InstructionSet) {
    self.isa = isa.rawValue
    self.measurements = measurements
    for one in measurements {
      for (index, tokens) in ChoiceMeasurement.tokenCounts.enumerated() {
        rows.append(
          Row(
            weights: one.format.name, rows: one.shape.rows, columns: one.shape.columns,
            in: one.place.rawValue, threads: one.threads, tokens: tokens,
            ratio: one.ratios[index], ratio_low: one.intervals[index]?.low,
            ratio_high: one.intervals[index]?.high))
      }
    }
    means = PackedProductChoice.formats.compactMap { format in
      let own = measurements.filter { $0.format == format }
      return own.isEmpty ? nil : (format, ChoiceMeasurement.means(own))
    }
    var choice = PackedProductChoice.measured(isa)
    for (format, ratios) in means { choice[format] = ChoiceMeasurement.gemmTokenCount(ratios) }
    self.choice = choice
    gemm_tokens = choice.text
  }

  /// How sure the number for a format is: whether its single measurements say the same, and how many
  /// of their ratios leave open which kernel is faster.
  private func certainty(_ format: WeightFormat) -> String {
    let own = measurements.filter { $0.format == format }
    let counts = own.map { ChoiceMeasurement.gemmTokenCount($0.ratios) }
    let undecided = own.reduce(0) { $0 + $1.undecidedCount }
    let range = "\(counts.min() ?? 0) to \(counts.max() ?? 0)"
    let total = own.count * ChoiceMeasurement.tokenCounts.count
    return "\(format.name): GEMM from \(choice[format]); alone, the measurements say \(range); "
      + "\(undecided) of \(total) ratios are undecided (their 95 % have 1 in them)"
  }

  var text: String {
    var table = TextTable(
      [.init("weights", .left)] + ChoiceMeasurement.tokenCounts.map { .init("\($0)") }
        + [.init("GEMM from")])
    for (format, ratios) in means {
      table.append(
        [format.name] + ratios.map { String(format: "%.2f", $0) } + ["\(choice[format])"])
    }
    return """
      Time of GEMV over GEMM at level \(isa) by the number of tokens, means over shapes and threads:

      \(table.text)
      \(means.map { certainty($0.format) }.joined(separator: "\n"))

      AFM_GEMM_TOKENS=\(gemm_tokens)

      Sources/KernelContract/PackedProductChoice+Measured.swift:
          case .\(isa):
      \(choice.source(indent: 6))
      """
  }
}

extension PackedProductChoice {
  /// The initialiser that makes it.
  fileprivate func source(indent: Int) -> String {
    let space = String(repeating: " ", count: indent)
    let labels = Self.formats.map { format in
      let label = format.name.replacingOccurrences(of: "-ldr", with: "LDR")
        .replacingOccurrences(of: "-hdr", with: "HDR")
      return "\(label): \(self[format])"
    }
    return "\(space)PackedProductChoice(\n\(space)  \(labels.joined(separator: ", ")))"
  }
}
