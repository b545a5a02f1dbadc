import ModelFile

/// A low-rank addition to a matrix: y[token] += scale · B · (A · x[token]).
///
/// Its factors are f16 or f32 and read float activations, whatever the matrix itself reads.
final class LowRankProduct: Sendable {
  /// rank × columns.
  private let a: FloatMatrix
  /// rows × rank.
  private let b: FloatMatrix
  private let scale: Float
  private let compute: Compute

  init(a: FloatMatrix, b: FloatMatrix, scale: Float = 1, compute: Compute) {
    precondition(a.rows == b.columns, "factors of different ranks")
    self.a = a
    self.b = b
    self.scale = scale
    self.compute = compute
  }

  var rank: Int { a.rows }
  var byteCount: Int { a.byteCount + b.byteCount }

  /// Some rows of scale · A · x for every token, into [tokens][rank].
  @unsafe func multiplyInner(
    _ rows: Range<Int>, _ input: UnsafePointer<Float>, tokens: Int,
    into inner: UnsafeMutablePointer<Float>
  ) {
    unsafe a.multiply(
      rows, input, tokens: tokens, into: inner, outputStride: rank, vectors: compute.vectors)
    guard scale != 1 else { return }
    for token in 0..<tokens {
      // The rows that were written just now.
      unsafe compute.vectors.scale(
        inner + token * rank + rows.lowerBound, by: scale, count: rows.count)
    }
  }

  /// Some rows of B · (A · x) for every token, from [tokens][rank] into rows `outputStride` floats
  /// apart; `output` is where the first of the rows goes.
  @unsafe func multiplyOuter(
    _ rows: Range<Int>, _ inner: UnsafePointer<Float>, tokens: Int,
    into output: UnsafeMutablePointer<Float>, outputStride: Int
  ) {
    // The product writes row r of its range at r.
    unsafe b.multiply(
      rows, inner, tokens: tokens, into: output - rows.lowerBound, outputStride: outputStride,
      vectors: compute.vectors)
  }
}
