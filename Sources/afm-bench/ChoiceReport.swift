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
  }

  var isa: String
  var rows: [Row] = []
  /// As `AFM_GEMM_TOKENS` takes it; formats that were not measured are as before.
  var gemm_tokens: String

  private let means: [(format: WeightFormat, ratios: [Double])]
  private let choice: PackedProductChoice

  private enum CodingKeys: String, CodingKey { case isa, rows, gemm_tokens }

  init(_ measurements: [ChoiceMeasurement], isa: InstructionSet) {
    self.isa = isa.rawValue
    for one in measurements {
      for (tokens, ratio) in zip(ChoiceMeasurement.tokenCounts, one.ratios) {
        rows.append(
          Row(
            weights: one.format.name, rows: one.shape.rows, columns: one.shape.columns,
            in: one.place.rawValue, threads: one.threads, tokens: tokens, ratio: ratio))
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

  var text: String {
    var table = TextTable(
      [.init("weights", .left)] + ChoiceMeasurement.tokenCounts.map { .init("\($0) tokens") }
        + [.init("GEMM from")])
    for (format, ratios) in means {
      table.append(
        [format.name] + ratios.map { String(format: "%.2f", $0) } + ["\(choice[format])"])
    }
    return """
      Time of GEMV over GEMM at level \(isa), means over shapes and threads:

      \(table.text)
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
