import FloatBaseline
import TestSupport
import Testing

@Suite(.serialized) struct LAPACKTests {
  @Test(
    OpenBLASTests.mayRun, arguments: [(1, 1, 1), (5, 3, 2), (3, 5, 3), (40, 90, 7), (90, 40, 40)])
  func theSubspaceIsThatOfTheFormula(rows: Int, columns: Int, count: Int) throws {
    let lapack = try LAPACK()
    var generator = SeededGenerator(seed: UInt64(rows * 100 + columns))
    let matrix = (0..<rows * columns).map { _ in Double.random(in: -1...1, using: &generator) }
    let found = try #require(
      lapack.leadingSubspace(of: matrix, rowCount: rows, columnCount: columns, count: count))
    let order = min(rows, columns)
    #expect(found.eigenvalues.count == count && found.vectors.count == count * order)
    func vector(_ index: Int) -> ArraySlice<Double> {
      found.vectors[index * order..<(index + 1) * order]
    }
    for i in 0..<count {
      #expect(i == 0 || found.eigenvalues[i] <= found.eigenvalues[i - 1])
      for j in 0..<count {
        var product = 0.0
        for (a, b) in zip(vector(i), vector(j)) { product += a * b }
        #expect(abs(product - (i == j ? 1 : 0)) < 1e-10)
      }
      // G · v = λ · v, with G = M · Mᵀ or Mᵀ · M.
      for row in 0..<order {
        var sum = 0.0
        for (column, element) in vector(i).enumerated() {
          for inner in 0..<max(rows, columns) {
            let (a, b) =
              rows <= columns
              ? (matrix[row * columns + inner], matrix[column * columns + inner])
              : (matrix[inner * columns + row], matrix[inner * columns + column])
            sum += a * b * element
          }
        }
        let expected = found.eigenvalues[i] * vector(i)[i * order + row]
        #expect(abs(sum - expected) < 1e-9 * Double(max(rows, columns)))
      }
    }
    // All of them hold all of the matrix.
    if count == order {
      let squares = matrix.reduce(0.0) { $0 + $1 * $1 }
      #expect(abs(found.eigenvalues.reduce(0.0, +) - squares) < 1e-10 * squares)
    }
  }

  @Test(OpenBLASTests.mayRun) func aMatrixOfLowerRankHasZeros() throws {
    let lapack = try LAPACK()
    let matrix = (0..<12).map { (index: Int) -> Double in
      let (row, column) = (index / 4 + 1, index % 4 + 1)
      return Double(row * column)
    }
    let found = try #require(
      lapack.leadingSubspace(of: matrix, rowCount: 3, columnCount: 4, count: 3))
    #expect(abs(found.eigenvalues[0] - 14 * 30) < 1e-9)
    #expect(found.eigenvalues[1...].allSatisfy { $0 >= 0 && $0 < 1e-9 })
  }

  @Test func aMissingLibraryIsATypedError() {
    #expect(throws: FloatBaselineError.self) { try LAPACK(path: "libno-such-library.so.0") }
    #expect(throws: FloatBaselineError.missingFunction("cblas_dsyrk")) {
      try LAPACK(path: "libc.so.6")
    }
  }
}
