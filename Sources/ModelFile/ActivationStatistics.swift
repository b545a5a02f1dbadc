/// The mean squared activation of every input column of a model's matrices, by tensor name: what
/// the packer weights errors with.
///
/// An error of W[row, column] reaches the output multiplied by the activation of its column, so
/// that the expected squared error of an output is Σ error² · E[x²], if activations of different
/// columns did not correlate. Every token's activations are first scaled to a mean square of 1: what
/// counts is the error of an output relative to the token's own size. Without that the first tokens
/// of a sequence, thousands of times as large in some layers of some models, would be all that
/// counts there.
package struct ActivationStatistics: Hashable, Sendable {
  /// Mean of x² by column over tokens of mean square 1, for each matrix that read something; finite, none is negative.
  package private(set) var meanSquares: [String: [Float]]
  /// Tokens that were run.
  package var tokenCount: Int
  /// What was run, in words, for the provenance of a packed file.
  package var origin: String

  /// Statistics of `tokenCount` tokens. Every number must be finite and none negative.
  package init(meanSquares: [String: [Float]], tokenCount: Int, origin: String) {
    precondition(
      meanSquares.values.allSatisfy { $0.allSatisfy { $0 >= 0 && $0.isFinite } },
      "mean squares are finite and not negative")
    self.meanSquares = meanSquares
    self.tokenCount = tokenCount
    self.origin = origin
  }

  /// The share of the mean that a column counts at least, however little was seen of it.
  ///
  /// A column that calibration text leaves quiet must not be packed as if it were never used.
  package static let floorShare: Float = 0.1

  /// Weights of squared errors by column: mean squares over their mean, at least `floorShare`.
  /// All are positive and finite. nil for a tensor that was not seen, or saw only zeros.
  package func importance(ofTensor name: String) -> [Float]? {
    guard let squares = meanSquares[name], !squares.isEmpty else { return nil }
    let mean = squares.reduce(0.0) { $0 + Double($1) } / Double(squares.count)
    guard mean > 0 else { return nil }
    return squares.map { max(Float(Double($0) / mean), Self.floorShare) }
  }
}
