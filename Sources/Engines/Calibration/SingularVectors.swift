import FloatBaseline
import KernelContract
import ModelFile

/// Low-rank adapters from leading singular vectors, through LAPACK.
///
/// The best approximation of rank r in squared error is the sum of the r leading singular triples
/// (Eckart and Young 1936). With importance h the matrix is W · diag(√h), and A is divided by √h
/// again. Singular values are shared between the factors, √σ each, so that both fit binary16.
///
/// Its last bits depend on the kernels that LAPACK chooses for the CPU.
package struct SingularVectors: LowRankApproximation {
  private let lapack: LAPACK

  /// Loads LAPACK, or fails where it is not installed.
  package init() throws(FloatBaselineError) { lapack = try LAPACK() }

  package func factors(
    of weights: Span<Float>, rowCount: Int, columnCount: Int, rank: Int, importance: [Float]?
  ) throws(LowRankFailure) -> LowRankFactors {
    let roots = importance?.map { Double($0).squareRoot() }
    var matrix = [Double](repeating: 0, count: weights.count)
    for row in 0..<rowCount {
      for column in 0..<columnCount {
        let index = row * columnCount + column
        matrix[index] = Double(weights[index]) * (roots?[column] ?? 1)
      }
    }
    guard
      let subspace = lapack.leadingSubspace(
        of: matrix, rowCount: rowCount, columnCount: columnCount, count: rank)
    else { throw LowRankFailure("its singular vectors were not found") }
    var a = [Double](repeating: 0, count: rank * columnCount)
    var b = [Double](repeating: 0, count: rowCount * rank)
    for index in 0..<rank {
      // σ = √eigenvalue, and the factors take √σ each.
      let root = subspace.eigenvalues[index].squareRoot().squareRoot()
      guard root > 0 else { continue }
      if rowCount <= columnCount {
        for row in 0..<rowCount {
          let element = subspace.vectors[index * rowCount + row]
          b[row * rank + index] = element * root
          for column in 0..<columnCount {
            a[index * columnCount + column] += element / root * matrix[row * columnCount + column]
          }
        }
      } else {
        for column in 0..<columnCount {
          a[index * columnCount + column] =
            subspace.vectors[index * columnCount + column] * root
        }
        for row in 0..<rowCount {
          var sum = 0.0
          for column in 0..<columnCount {
            sum +=
              subspace.vectors[index * columnCount + column] * matrix[row * columnCount + column]
          }
          b[row * rank + index] = sum / root
        }
      }
    }
    if let roots {
      for index in a.indices { a[index] /= roots[index % columnCount] }
    }
    guard
      let factors = LowRankFactors(
        a: a.map { Float($0) }, b: b.map { Float($0) }, rowCount: rowCount,
        columnCount: columnCount, rank: rank)
    else { throw LowRankFailure("its singular vectors are too large for binary16") }
    return factors
  }
}
