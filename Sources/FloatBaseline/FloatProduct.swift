/// Splits 0 ..< count among threads and calls the body with each part, such as a thread pool does;
/// returns when all have returned.
package typealias RangeRunner = (_ count: Int, _ body: (_ range: Range<Int>) -> Void) -> Void

extension OpenBLAS {
  /// output[t][r] = Σ weights[r][c] · activations[t][c], all f32 and row-major.
  ///
  /// One token goes through GEMV, more through GEMM; `runner` splits the rows, in units of 16, among
  /// threads. The range that a row falls in may change the order of its
  /// sum, so that results for different thread counts agree within
  /// columns · 2^-24 · Σ|w·x|, not bit for bit.
  ///
  /// - Precondition: the pointers hold rows · columns, tokens · activationStride and
  ///   tokens · outputStride floats, the output overlaps nothing, and every count and stride is
  ///   positive and below 2^31, OpenBLAS's integers.
  @unsafe package func multiply(
    weights: UnsafePointer<Float>, rows: Int, columns: Int,
    activations: UnsafePointer<Float>, activationStride: Int, tokens: Int,
    output: UnsafeMutablePointer<Float>, outputStride: Int, runner: RangeRunner
  ) {
    precondition(
      max(rows, columns, tokens, activationStride, outputStride) <= Int(Int32.max),
      "OpenBLAS counts in 32 bits")
    precondition(
      min(rows, columns, tokens) > 0 && activationStride >= columns && outputStride >= rows,
      "an empty product, or rows that overlap")
    let unit = 16
    runner((rows + unit - 1) / unit) { units in
      let first = units.lowerBound * unit
      let count = min(rows, units.upperBound * unit) - first
      if tokens == 1 {
        unsafe gemv(
          Self.rowMajor, Self.plain, Int32(count), Int32(columns), 1, weights + first * columns,
          Int32(columns), activations, 1, 0, output + first, 1)
      } else {
        unsafe gemm(
          Self.rowMajor, Self.plain, Self.transposed, Int32(tokens), Int32(count), Int32(columns),
          1, activations, Int32(activationStride), weights + first * columns, Int32(columns), 0,
          output + first, Int32(outputStride))
      }
    }
  }

  /// CBLAS's enumerations: CblasRowMajor, CblasNoTrans, CblasTrans.
  private static var rowMajor: Int32 { 101 }
  private static var plain: Int32 { 111 }
  private static var transposed: Int32 { 112 }
}
