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
  /// Floats of scratch that a token needs: its A · x and its B · (A · x).
  var scratchCount: Int { a.rows + b.rows }

  /// Adds the product of the inputs to output rows of `b.rows` elements, contiguous.
  @unsafe func add(_ inputs: LayerInputs, to output: UnsafeMutablePointer<Float>) {
    let tokens = inputs.tokens
    let rows = b.rows
    // The inputs have room for scratchCount floats a token: two parts, one after the other.
    let inner = unsafe inputs.scratch(floatCount: tokens * scratchCount)
    let outer = unsafe inner + tokens * rank
    unsafe a.multiply(inputs.rows, tokens: tokens, into: inner, compute: compute)
    unsafe b.multiply(inner, tokens: tokens, into: outer, compute: compute)
    let vectors = compute.vectors
    compute.forEachRow(tokens) { token in
      // Both have `rows` elements a token.
      let row = unsafe output + token * rows
      unsafe vectors.add(row, outer + token * rows, output: row, count: rows)
    }
  }
}
