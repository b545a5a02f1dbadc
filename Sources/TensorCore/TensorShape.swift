/// The dimensions of a tensor, outermost first, so that the last one is contiguous (row-major).
public struct TensorShape: Hashable, Sendable, CustomStringConvertible {
  /// The counts along each axis, outermost first; never negative.
  public let dimensions: [Int]

  /// The product of the dimensions; 1 for a scalar.
  public let elementCount: Int

  /// Nil where a dimension is negative or the product does not fit an `Int`.
  public init?(_ dimensions: [Int]) {
    var product = 1
    for dimension in dimensions {
      guard dimension >= 0 else { return nil }
      let (next, overflow) = product.multipliedReportingOverflow(by: dimension)
      guard !overflow else { return nil }
      product = next
    }
    self.dimensions = dimensions
    elementCount = product
  }

  /// The length of the contiguous axis: the columns of a weight matrix. 1 for a scalar.
  public var columnCount: Int { dimensions.last ?? 1 }

  /// The product of all axes but the last: the rows of a weight matrix.
  public var rowCount: Int { dimensions.dropLast().reduce(1, *) }

  /// Like `576x1536`.
  public var description: String { dimensions.map(String.init).joined(separator: "x") }
}
