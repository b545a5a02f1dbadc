import BenchCore

/// Numbers as the tables show them.
enum Figure {
  /// What stands where there is no figure.
  static let missing = "–"

  static func integer(_ value: Int?) -> String { value.map { "\($0)" } ?? missing }

  /// Nanoseconds as milliseconds with three significant digits or more.
  static func milliseconds(_ nanoseconds: Double) -> String {
    let value = nanoseconds / 1e6
    return DecimalText.fixed(value, value.magnitude < 10 ? 3 : value.magnitude < 100 ? 2 : 1)
  }

  static func rate(_ value: Double?, at frontier: Int?) -> String {
    guard let value else { return missing }
    return "\(DecimalText.fixed(value, 1)) @ \(integer(frontier))"
  }

  static func percent(_ share: Double?) -> String {
    share.map { DecimalText.fixed($0 * 100, 1) + " %" } ?? missing
  }

  static func mebibytes(_ bytes: Int, decimals: Int) -> String {
    DecimalText.fixed(Double(bytes) / 1_048_576, decimals)
  }

  /// As llama-bench: `138.20 MiB`, `4.11 GiB`.
  static func binarySize(_ bytes: Int) -> String {
    let value = Double(bytes)
    return value < 1_073_741_824
      ? DecimalText.fixed(value / 1_048_576, 2) + " MiB"
      : DecimalText.fixed(value / 1_073_741_824, 2) + " GiB"
  }

  /// As llama-bench: `134.52 M`, `8.03 B`.
  static func count(_ count: Int) -> String {
    let value = Double(count)
    return value < 1e9
      ? DecimalText.fixed(value / 1e6, 2) + " M" : DecimalText.fixed(value / 1e9, 2) + " B"
  }
}
