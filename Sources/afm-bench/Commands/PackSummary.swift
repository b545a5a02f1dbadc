import Foundation
import ModelFile
import PackedFormats

/// What `pack` prints.
struct PackSummary: Encodable {
  var file: String
  var bytes: Int
  var source_bytes: Int
  var weights: String
  var embedding: String
  var payload_bpw: Double
  var total_bpw: Double
  var file_bpw: Double
  /// Bits per weight of the linear layers alone, adapters included.
  var linear_payload_bpw: Double
  var linear_total_bpw: Double
  /// Weights moved to the edge of the range that --clip asked for.
  var clipped: Int
  var effort: String
  var fit: String?
  var clip: Float?
  var adapter_rank: Int
  var calibration: String?
  var calibration_tokens: Int?
  var calibration_seconds: Double
  var pack_seconds: Double
  var tensors: [Tensor]

  struct Tensor: Encodable {
    var name: String
    var source_type: String
    var format: String
    var relative_rms_error: Double
    /// With each square times the importance of its column; only with calibration.
    var weighted_relative_rms_error: Double?
    var clipped: Int
    var adapter_rank: Int
  }

  init(
    _ report: PackReport, file: String, sourceByteCount: Int, packer: ModelPacker,
    calibrationSeconds: Double, packSeconds: Double
  ) {
    self.file = file
    bytes = report.fileByteCount
    source_bytes = sourceByteCount
    weights = packer.weights.name
    embedding = packer.embedding.name
    payload_bpw = report.payloadBitsPerWeight
    total_bpw = report.totalBitsPerWeight
    file_bpw = report.fileBitsPerWeight
    (linear_payload_bpw, linear_total_bpw) = report.linearBitsPerWeight
    clipped = report.clippedCount
    effort = packer.options.effort.rawValue
    fit = packer.options.scaleFit?.rawValue
    clip = packer.options.clipping
    adapter_rank = packer.adapterRank
    calibration = packer.statistics?.origin
    calibration_tokens = packer.statistics?.tokenCount
    calibration_seconds = calibrationSeconds
    pack_seconds = packSeconds
    tensors = report.tensors.map {
      Tensor(
        name: $0.stored.name, source_type: $0.sourceTypeName, format: $0.stored.format.name,
        relative_rms_error: $0.relativeError,
        weighted_relative_rms_error: $0.weightedRelativeError, clipped: $0.clippedCount,
        adapter_rank: $0.adapterRank)
    }
  }

  /// The same as lines.
  var text: String {
    func megabytes(_ count: Int) -> String { String(format: "%.1f MB", Double(count) / 1e6) }
    var lines = [
      "\(file): \(megabytes(bytes)) from \(megabytes(source_bytes)) in "
        + String(format: "%.1f s", calibration_seconds + pack_seconds),
      String(
        format: "bits per weight: %.2f of codes, %.2f with scales and minimums as in memory, "
          + "%.2f in the compressed file", payload_bpw, total_bpw, file_bpw),
      String(
        format: "linear layers alone: %.2f of codes, %.2f with scales and minimums",
        linear_payload_bpw, linear_total_bpw),
    ]
    if let calibration {
      lines.append(
        "calibrated with \(calibration)" + String(format: " in %.1f s", calibration_seconds))
    }
    for format in WeightFormat.allCases.map(\.name) {
      let tensors = tensors.filter { $0.format == format }
      guard !tensors.isEmpty else { continue }
      let worst = tensors.map(\.relative_rms_error).max() ?? 0
      var line =
        "\(format): \(tensors.count) tensors, largest relative RMS error "
        + String(format: "%.4f", worst)
      if let weighted = tensors.compactMap(\.weighted_relative_rms_error).max() {
        line += String(format: ", weighted %.4f", weighted)
      }
      lines.append(line)
    }
    if let clip { lines.append("clipped at \(clip) times the RMS of a row: \(clipped) weights") }
    if adapter_rank > 0 { lines.append("low-rank adapters: rank \(adapter_rank), f16") }
    if ["u2t", "u2c", "u2g64"].contains(weights) {
      lines.append(
        "2-bit weights made without training: a model this is done to answers badly, if at all")
    }
    return lines.joined(separator: "\n")
  }
}
