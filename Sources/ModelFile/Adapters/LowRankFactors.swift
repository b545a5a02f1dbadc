import PackedFormats
import TensorCore

/// A matrix of low rank in two factors, in binary16: B · A, with B [rows, rank] and
/// A [rank, columns], both row-major.
package struct LowRankFactors: Hashable, Sendable {
  package let rowCount: Int
  package let columnCount: Int
  package let rank: Int
  /// A's elements as binary16 bits.
  package let a: [UInt16]
  /// B's elements as binary16 bits.
  package let b: [UInt16]

  /// Rounds factors to binary16; nil where an element is not finite there.
  package init?(a: [Float], b: [Float], rowCount: Int, columnCount: Int, rank: Int) {
    precondition(rank > 0 && a.count == rank * columnCount && b.count == rowCount * rank)
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.rank = rank
    self.a = a.map { HalfPrecision.bits($0) }
    self.b = b.map { HalfPrecision.bits($0) }
    func isFinite(_ bits: UInt16) -> Bool { bits & 0x7C00 != 0x7C00 }
    guard self.a.allSatisfy(isFinite), self.b.allSatisfy(isFinite) else { return nil }
  }

  /// Subtracts the product's rows from values of those rows: Σ over the rank in ascending order,
  /// each term rounded to binary32.
  func subtract(rows: Range<Int>, from values: inout MutableSpan<Float>) {
    precondition(values.count == rows.count * columnCount, "values of other rows")
    let factor = a.map { HalfPrecision.float(bits: $0) }
    var sum = [Float](repeating: 0, count: columnCount)
    for row in rows {
      for column in 0..<columnCount { sum[column] = 0 }
      for index in 0..<rank {
        let weight = HalfPrecision.float(bits: b[row * rank + index])
        let start = index * columnCount
        for column in 0..<columnCount { sum[column] += weight * factor[start + column] }
      }
      let start = (row - rows.lowerBound) * columnCount
      for column in 0..<columnCount { values[start + column] -= sum[column] }
    }
  }
}

/// Finds the product of low rank that is nearest to a matrix.
package protocol LowRankApproximation: Sendable {
  /// The factors of `rank` that leave the least Σ importance[column] · (W − B · A)², or all columns
  /// alike without an importance.
  ///
  /// `weights` are finite, row-major; `rank` is at most rows and columns; importance is positive.
  func factors(
    of weights: Span<Float>, rowCount: Int, columnCount: Int, rank: Int, importance: [Float]?
  ) throws(LowRankFailure) -> LowRankFactors
}

/// Why a matrix has no factors.
package struct LowRankFailure: Error, Hashable, Sendable {
  /// One line.
  package var reason: String
  package init(_ reason: String) { self.reason = reason }
}
