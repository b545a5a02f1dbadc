/// What measured products are of: the same numbers from run to run, whoever multiplies them.
package enum ProductOperands {
  /// So many weights, row-major.
  package static func weights(count: Int) -> [Float] { values(count: count, seed: 1) }

  /// So many activations, token after token.
  package static func input(count: Int) -> [Float] { values(count: count, seed: 2) }

  /// About normal: sums of four uniform numbers, between −2 and 2.
  private static func values(count: Int, seed: UInt64) -> [Float] {
    var state = seed
    return (0..<count).map { _ in
      var sum: Float = 0
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      for shift in [16, 28, 40, 52] as [UInt64] { sum += Float(state >> shift & 0xFFF) }
      return (sum - 2 * 4095) / 4096
    }
  }
}

/// Rows × columns of a matrix of weights.
package struct ProductShape: Hashable, Sendable, CustomStringConvertible {
  package let rows, columns: Int

  /// What is measured where nobody says otherwise: a square layer, and both ways between it and a
  /// feed-forward layer.
  package static let usual = "2048x2048,6656x2048,2048x6656"

  /// What `init` takes, in words.
  package static let rule = "ROWSxCOLUMNS is needed, up to 1048576 x 131072 and 2^28 weights"

  /// The shape that a text such as `2048x6656` names; nil for any other text, and for shapes that
  /// are larger than any model's.
  package init?(_ text: some StringProtocol) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard sides.count == 2, let rows = sides[0], let columns = sides[1], rows > 0, columns > 0,
      rows <= 1 << 20, columns <= 1 << 17, rows * columns <= 1 << 28
    else { return nil }
    self.rows = rows
    self.columns = columns
  }

  package init(rows: Int, columns: Int) {
    self.rows = rows
    self.columns = columns
  }

  package var description: String { "\(rows)x\(columns)" }
}
