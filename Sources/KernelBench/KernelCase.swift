import KernelContract
import PackedFormats

/// One thing to measure: a kernel on a shape.
package struct KernelCase: Hashable, Sendable {
  /// Where the operands lie when a call begins.
  package enum Place: String, CaseIterable, Hashable, Sendable {
    /// The same operands in every call: in the caches, where they fit there.
    case cache
    /// Other weights in every call, more of them than the caches hold.
    case memory
  }

  package var operation: KernelOperation
  /// Nil where the operation reads no weights.
  package var weights: WeightFormat?
  /// Output channels of a product; 1 for a vector.
  package var rows: Int
  /// Input channels of a product; the length of a vector.
  package var columns: Int
  /// Tokens that a call works on.
  package var tokens: Int
  package var place: Place

  package init(
    operation: KernelOperation, weights: WeightFormat?, rows: Int, columns: Int, tokens: Int,
    place: Place
  ) {
    self.operation = operation
    self.weights = weights
    self.rows = rows
    self.columns = columns
    self.tokens = tokens
    self.place = place
  }

  /// For people: `gemv u2c 2048x2048, 1 token, memory`.
  package var label: String {
    let name = [operation.rawValue, weights?.name].compactMap { $0 }.joined(separator: " ")
    let tokens = "\(tokens) token\(tokens == 1 ? "" : "s")"
    return "\(name) \(rows)x\(columns), \(tokens), \(place.rawValue)"
  }

  /// Multiplications and additions of a call; nil for what is not counted in them.
  package var operationCount: Int? {
    switch operation {
    case .gemv, .gemm: 2 * rows * columns * tokens
    default: nil
    }
  }

  /// Operations that this command measures: products, and what works on one vector.
  package static let operations: [KernelOperation] = [
    .gemv, .gemm, .quantizePerToken, .quantizePerChunk, .quantizePerBlock, .rmsNorm, .headNorm,
    .swiglu, .add, .multiply, .scale,
    .softmax, .convertToF16, .convertFromF16, .convertToS8, .argMax, .topK,
  ]

  /// Formats whose products there are kernels for.
  package static func formats(of operation: KernelOperation) -> [WeightFormat?] {
    switch operation {
    case .gemv, .gemm: KernelWeights.formats
    default: [nil]
    }
  }
}
