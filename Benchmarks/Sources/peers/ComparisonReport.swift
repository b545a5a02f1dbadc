import BenchCore
import Foundation
import Report

/// What `peers` prints: its rows are pairs of kernels.
struct ComparisonReport: Encodable {
  struct Row: Encodable {
    var kernel: String
    var weights: String
    var peer: String
    var rows: Int
    var columns: Int
    var tokens: Int
    var threads: Int
    var `in`: String
    var bits_per_weight: Double
    var peer_bits_per_weight: Double
    /// 10⁹ bytes of packed weights a second.
    var gb_per_s: Double
    var peer_gb_per_s: Double
    var gop_per_s: Double
    var peer_gop_per_s: Double
    /// The peer's time over ours.
    var ratio: Double
    /// 95 % of it, with six repetitions or more.
    var ratio_low: Double?
    var ratio_high: Double?
    /// Of the nearer roof, 0…1.
    var share_of_roof: Double
    var peer_share_of_roof: Double
    var roof_gb_per_s: Double
    var roof_gop_per_s: Double?
    /// From the f32 product of the own dequantized weights.
    var relative_error: Double
    var peer_relative_error: Double

    init(_ pair: Comparison.Pair) {
      kernel = pair.ours.name
      weights = pair.what.weights?.name ?? ""
      peer = pair.peer.name
      rows = pair.what.rows
      columns = pair.what.columns
      tokens = pair.what.tokens
      threads = pair.threads
      self.in = pair.what.place.rawValue
      bits_per_weight = pair.ours.bitsPerWeight
      peer_bits_per_weight = pair.peer.bitsPerWeight
      gb_per_s = pair.ours.gigabytesPerSecond
      peer_gb_per_s = pair.peer.gigabytesPerSecond
      gop_per_s = pair.ours.gigaoperationsPerSecond
      peer_gop_per_s = pair.peer.gigaoperationsPerSecond
      ratio = pair.ratio
      ratio_low = pair.interval?.low
      ratio_high = pair.interval?.high
      share_of_roof = pair.ours.share
      peer_share_of_roof = pair.peer.share
      roof_gb_per_s = pair.roofGigabytesPerSecond
      roof_gop_per_s = pair.roofGigaoperationsPerSecond
      relative_error = pair.ours.relativeError
      peer_relative_error = pair.peer.relativeError
    }
  }

  /// The other library, its version.
  var library: String
  var isa: String
  var rows: [Row]

  /// What counts as one class beside one kernel of ours: 2, 3, 4 bits or more a weight.
  private func bitClass(_ row: Row) -> Int {
    [2.75, 3.75, 5.25].firstIndex { row.peer_bits_per_weight < $0 } ?? 3
  }

  /// The rows whose peer is the fastest of its class, in their order.
  private var fastest: [Row] {
    func key(_ row: Row) -> String {
      "\(row.kernel) \(row.rows) \(row.columns) \(row.tokens) \(row.threads) \(row.in) "
        + String(bitClass(row))
    }
    let best = Dictionary(rows.map { (key($0), $0.ratio) }, uniquingKeysWith: min)
    return rows.filter { best[key($0)] == $0.ratio }
  }

  /// A table of all pairs, or of those whose peer is the fastest of its class.
  func text(all: Bool) -> String {
    var table = TextTable([
      .init("kernel", .left), .init("beside", .left), .init("shape"), .init("tokens"), .init("t"),
      .init("in", .left), .init("bits", .left), .init("GB/s", .left), .init("GOP/s", .left),
      .init("of the roof", .left), .init("times as fast"), .init("95 %"),
    ])
    func format(_ value: Double, _ digits: Int) -> String {
      String(format: "%.\(digits)f", value)
    }
    func both(_ ours: Double, _ peer: Double, _ digits: Int) -> String {
      "\(format(ours, digits)) : \(format(peer, digits))"
    }
    for row in all ? rows : fastest {
      let interval = row.ratio_low.flatMap { low in
        row.ratio_high.map { "\(format(low, 2))–\(format($0, 2))" }
      }
      table.append([
        row.kernel, row.peer, "\(row.rows)x\(row.columns)", String(row.tokens),
        String(row.threads), row.in, both(row.bits_per_weight, row.peer_bits_per_weight, 2),
        both(row.gb_per_s, row.peer_gb_per_s, 1), both(row.gop_per_s, row.peer_gop_per_s, 0),
        both(100 * row.share_of_roof, 100 * row.peer_share_of_roof, 0) + " %",
        format(row.ratio, 2), interval ?? "–",
      ])
    }
    return "\(isa) kernels of ours : \(library)\n\n\(table.text)"
  }
}
