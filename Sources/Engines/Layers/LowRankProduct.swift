import ModelFile

/// A low-rank addition to a matrix: y[token] += B · (A · x[token]).
///
/// Its factors are f16 or f32 and read float activations, whatever the matrix itself reads.
final class LowRankProduct: Sendable {
  /// rank × columns.
  private let a: FloatMatrix
  /// rows × rank.
  private let b: FloatMatrix
  private let compute: Compute

  init(a: FloatMatrix, b: FloatMatrix, compute: Compute) {
    precondition(a.rows == b.columns, "factors of different ranks")
    self.a = a
    self.b = b
    self.compute = compute
  }

  var rank: Int { a.rows }
  var byteCount: Int { a.byteCount + b.byteCount }

  /// Some rows of A · x for every token, into [tokens][rank].
  @unsafe func multiplyInner(
    _ rows: Range<Int>, _ input: UnsafePointer<Float>, tokens: Int,
    into inner: UnsafeMutablePointer<Float>
  ) {
    unsafe a.multiply(
      rows, input, tokens: tokens, into: inner, outputStride: rank, vectors: compute.vectors)
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
