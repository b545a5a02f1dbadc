import KernelContract
import PackedFormats
import QuantKernels
import TensorCore

/// A weight matrix in the format of its file, with an optional bias; it runs as part of a
/// `LinearGroup`.
///
/// y[token][row] = Σ_column W[row, column] · x[token][column] + b[row], where W may be the matrix of
/// the file plus a low-rank product.
final class Linear: Sendable {
  /// The name of the weight's tensor.
  let name: String
  let rows: Int
  let columns: Int
  let format: WeightFormat
  private let weights: Weights
  /// Added to every output row.
  let bias: FloatVector?
  /// What is added to the matrix, where the file has it.
  let adapter: LowRankProduct?
  private let compute: Compute

  /// Codes for the integer kernels, or real numbers for the float ones.
  private enum Weights: Sendable {
    case packed(PackedMatrix)
    case float(FloatMatrix)
  }

  init(
    _ name: String, packed: PackedMatrix, bias: FloatVector?, adapter: LowRankProduct?,
    compute: Compute
  ) {
    self.name = name
    rows = packed.rowCount
    columns = packed.columnCount
    format = packed.format
    weights = .packed(packed)
    self.bias = bias
    self.adapter = adapter
    self.compute = compute
  }

  init(
    _ name: String, float: FloatMatrix, bias: FloatVector?, adapter: LowRankProduct?,
    compute: Compute
  ) {
    self.name = name
    rows = float.rows
    columns = float.columns
    format = float.format
    weights = .float(float)
    self.bias = bias
    self.adapter = adapter
    self.compute = compute
  }

  /// Bytes at run time, bias and adapter included.
  var byteCount: Int {
    let matrix =
      switch weights {
      case .packed(let matrix): matrix.byteCount
      case .float(let matrix): matrix.byteCount
      }
    return matrix + (bias?.count ?? 0) * 4 + (adapter?.byteCount ?? 0)
  }

  /// Parameters, the bias included; an adapter's are the matrix's own.
  var parameterCount: Int { rows * columns + (bias?.count ?? 0) }

  /// How the inputs must be quantized for this matrix; nil where it reads floats.
  var inputGrouping: ActivationGrouping? {
    if case .packed = weights { .required(by: format) } else { nil }
  }

  /// The matrix as codes; nil where it has real numbers.
  var packed: PackedMatrix? {
    if case .packed(let matrix) = weights { matrix } else { nil }
  }

  /// Writes W · x alone, without adapter and bias: one output row per input row, contiguous.
  @unsafe func multiply(_ inputs: LayerInputs, into output: UnsafeMutablePointer<Float>) {
    // The caller's output has room for inputs.tokens × rows elements.
    switch weights {
    case .packed(let matrix):
      unsafe compute.library.multiply(
        matrix, inputs.activations(.required(by: format)), into: output, pool: compute.pool)
    case .float(let matrix):
      unsafe matrix.multiply(
        inputs.rows, tokens: inputs.tokens, into: output, compute: compute)
    }
  }

  /// Writes one row's real values: an embedding look-up. A matrix that is looked up has no adapter.
  @unsafe func copyRow(_ row: Int, into output: UnsafeMutablePointer<Float>) {
    precondition(row >= 0 && row < rows, "a row outside the matrix")
    precondition(adapter == nil, "rows of a matrix with an adapter are not looked up")
    // The caller's output has room for `columns` elements.
    switch weights {
    case .packed(let matrix):
      unsafe matrix.dequantizeRow(row, into: output)
    case .float(let matrix):
      unsafe matrix.copyRow(row, into: output, vectors: compute.vectors)
    }
  }
}
