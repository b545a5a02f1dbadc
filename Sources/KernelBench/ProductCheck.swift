/// Holds a product that was measured against the f32 product of its own dequantized weights, so
/// that nobody is timed at computing something else.
package enum ProductCheck {
  /// Above what quantizing activations to 8 bits leaves: 0.5 to 0.7 % on 2048x2048, of ours and of
  /// others.
  package static let tolerance = 0.02

  /// The root of the squared differences over that of the squared products, of three tokens (the
  /// first, one in the middle and the last) and all rows; NaN where an output is not a number.
  ///
  /// - Parameters:
  ///   - input: [tokens][columns].
  ///   - output: [tokens][rows].
  ///   - dequantize: fills the span with a row's values.
  package static func relativeError(
    of shape: ProductShape, tokens: Int, input: Span<Float>, output: Span<Float>,
    dequantize: (Int, inout MutableSpan<Float>) -> Void
  ) -> Double {
    var row = [Float](repeating: 0, count: shape.columns)
    var (difference, whole) = (0.0, 0.0)
    for index in 0..<shape.rows {
      var span = row.mutableSpan
      dequantize(index, &span)
      for token in Set([0, tokens / 2, tokens - 1]) {
        var sum = 0.0
        for column in 0..<shape.columns {
          sum += Double(row[column] * input[token * shape.columns + column])
        }
        let found = Double(output[token * shape.rows + index])
        difference += (found - sum) * (found - sum)
        whole += sum * sum
      }
    }
    return (difference / whole).squareRoot()
  }
}
