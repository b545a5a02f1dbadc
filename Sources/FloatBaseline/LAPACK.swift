import KernelContract

/// The eigenvectors of symmetric matrices, through the LAPACK in OpenBLAS, loaded at run time.
///
/// Used when a model is packed, never when it runs. It computes on the calling thread alone and may
/// be called from several at once.
@safe package struct LAPACK: Sendable {
  // C's cblas_dsyrk.
  typealias RankUpdate =
    @Sendable @convention(c) (
      Int32, Int32, Int32, Int32, Int32, Double, UnsafePointer<Double>, Int32, Double,
      UnsafeMutablePointer<Double>, Int32
    ) -> Void
  // Fortran's DSYEVR: everything by address, the lengths of the three strings at the end.
  typealias Eigenvectors =
    @Sendable @convention(c) (
      UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<Int32>,
      UnsafeMutablePointer<Double>, UnsafePointer<Int32>, UnsafePointer<Double>,
      UnsafePointer<Double>, UnsafePointer<Int32>, UnsafePointer<Int32>, UnsafePointer<Double>,
      UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Double>, UnsafeMutablePointer<Double>,
      UnsafePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Double>,
      UnsafePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafePointer<Int32>,
      UnsafeMutablePointer<Int32>, Int, Int, Int
    ) -> Void

  private let rankUpdate: RankUpdate
  private let eigenvectors: Eigenvectors

  /// Loads the library, or fails where it is not installed or lacks a function.
  ///
  /// Changes this process's environment: call it before there are threads that read it.
  package init(path: String = "libopenblas.so.0") throws(FloatBaselineError) {
    OpenBLAS.prepareEnvironment(
      for: InstructionSet.available(on: CPUFeatures.detect()).max() ?? .portable)
    let library = try SystemLibrary(path)
    // The types are those of OpenBLAS's cblas.h and LAPACK's dsyevr.f, with 32-bit integers, as
    // Debian builds them.
    unsafe rankUpdate = try unsafe unsafeBitCast(library.symbol("cblas_dsyrk"), to: RankUpdate.self)
    unsafe eigenvectors = try unsafe unsafeBitCast(library.symbol("dsyevr_"), to: Eigenvectors.self)
  }

  /// Eigenvectors of a Gram matrix with the largest eigenvalues.
  package struct Subspace {
    /// In descending order; those that rounding made negative are 0.
    package var eigenvalues: [Double]
    /// One after another, each of unit length, its element of largest magnitude positive.
    package var vectors: [Double]
  }

  /// The `count` leading eigenvectors of M · Mᵀ, or of Mᵀ · M where M has fewer columns than rows:
  /// M's singular vectors on its shorter side, the eigenvalues its squared singular values.
  ///
  /// O(rows · columns · min + min³) operations in binary64. nil where LAPACK does not converge.
  ///
  /// - Parameter matrix: rows × columns finite values, row-major.
  package func leadingSubspace(
    of matrix: [Double], rowCount: Int, columnCount: Int, count: Int
  ) -> Subspace? {
    precondition(matrix.count == rowCount * columnCount, "the values do not fill the matrix")
    let order = min(rowCount, columnCount)
    precondition(count >= 1 && count <= order, "more vectors than the matrix has")
    precondition(max(rowCount, columnCount) <= Int(Int32.max), "LAPACK counts in 32 bits")
    var gram = [Double](repeating: 0, count: order * order)
    // Row-major order (101), upper triangle (121), not transposed (111) or transposed (112); the
    // arrays have the counts that the call names.
    unsafe rankUpdate(
      101, 121, rowCount <= columnCount ? 111 : 112, Int32(order),
      Int32(max(rowCount, columnCount)), 1, matrix, Int32(columnCount), 0, &gram, Int32(order))
    guard let (values, vectors) = largestEigenvectors(of: &gram, order: order, count: count) else {
      return nil
    }
    var result = Subspace(eigenvalues: [], vectors: [])
    for index in (0..<count).reversed() {
      result.eigenvalues.append(max(0, values[index]))
      let vector = vectors[index * order..<(index + 1) * order]
      let largest = vector.max { $0.magnitude < $1.magnitude } ?? 0
      result.vectors += vector.map { largest < 0 ? -$0 : $0 }
    }
    return result
  }

  /// Ascending eigenvalues and their vectors; destroys the matrix, whose row-major upper triangle
  /// (column-major lower) is read.
  private func largestEigenvectors(
    of matrix: inout [Double], order: Int, count: Int
  ) -> (values: [Double], vectors: [Double])? {
    let n = Int32(order)
    let (first, last) = (Int32(order - count + 1), n)
    let zero = 0.0
    var found: Int32 = 0
    var values = [Double](repeating: 0, count: order)
    var vectors = [Double](repeating: 0, count: order * count)
    var support = [Int32](repeating: 0, count: 2 * count)
    // As large as DSYEVR advises for blocks of up to 64 columns.
    var work = [Double](repeating: 0, count: 70 * order)
    var integers = [Int32](repeating: 0, count: 10 * order)
    let (workCount, integerCount) = (Int32(work.count), Int32(integers.count))
    var status: Int32 = 0
    // Vectors, by index range, lower triangle. Every array has the count that is passed with it.
    unsafe eigenvectors(
      "V", "I", "L", [n], &matrix, [n], [zero], [zero], [first], [last], [zero], &found, &values,
      &vectors, [n], &support, &work, [workCount], &integers, [integerCount], &status, 1, 1, 1)
    guard status == 0, Int(found) == count else { return nil }
    return (Array(values.prefix(count)), vectors)
  }
}
