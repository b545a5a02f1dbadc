import ModelFile
import PackedFormats
import QuantKernels
import TensorCore

/// A weight matrix of real numbers, row-major: f32, or f16 that is converted as it is read.
@safe
final class FloatMatrix: Sendable {
  let rows: Int
  let columns: Int
  let format: WeightFormat
  private let values: Values

  private enum Values: ~Copyable {
    case tensor(LoadedTensor)
    case storage(AlignedStorage)
  }

  /// Whether a format is one of real numbers.
  static func runs(_ format: WeightFormat) -> Bool { format == .f32 || format == .f16 }

  /// Keeps a loaded tensor's own memory.
  init(_ tensor: LoadedTensor, rows: Int, columns: Int) {
    precondition(Self.runs(tensor.format), "a packed tensor is no float matrix")
    precondition(tensor.shape.elementCount == rows * columns, "a tensor of another shape")
    self.rows = rows
    self.columns = columns
    format = tensor.format
    values = .tensor(tensor)
  }

  /// Takes rows × columns values, of float32 unless told otherwise.
  init(
    _ storage: consuming AlignedStorage, rows: Int, columns: Int, format: WeightFormat = .f32
  ) {
    precondition(Self.runs(format), "a packed matrix is no float matrix")
    let elementBytes = format == .f32 ? 4 : 2
    precondition(storage.byteCount == rows * columns * elementBytes, "storage of another shape")
    self.rows = rows
    self.columns = columns
    self.format = format
    values = .storage(storage)
  }

  var byteCount: Int { rows * columns * element.byteCount }

  /// Of its bytes.
  var digest: UInt64 {
    // All of the matrix, which lives through the call.
    unsafe ContentDigest.of(RawSpan(_unsafeStart: baseAddress, byteCount: byteCount))
  }

  private var element: FloatWeight { format == .f32 ? .f32 : .f16 }

  /// The first element; valid as long as this object.
  @unsafe private var baseAddress: UnsafeRawPointer {
    switch values {
    case .tensor(let tensor):
      unsafe tensor.codes.withUnsafeBytes { bytes in
        // The tensor keeps its memory in place as long as it lives, and this object keeps it.
        guard let base = bytes.baseAddress else { preconditionFailure("an empty tensor") }
        return unsafe base
      }
    case .storage(let storage): unsafe UnsafeRawPointer(storage.baseAddress)
    }
  }

  /// output[token][row] = Σ W[row, column] · input[token][column]; rows split over the threads.
  @unsafe func multiply(
    _ input: UnsafePointer<Float>, tokens: Int, into output: UnsafeMutablePointer<Float>,
    compute: Compute
  ) {
    if tokens > 1, format == .f32, let openBLAS = compute.openBLAS {
      unsafe openBLAS.multiply(
        weights: baseAddress.assumingMemoryBound(to: Float.self), rows: rows, columns: columns,
        activations: input, activationStride: columns, tokens: tokens, output: output,
        outputStride: rows
      ) { count, body in compute.pool.runRanges(count) { range, _ in body(range) } }
      return
    }
    compute.pool.run(
      unsafe FloatWork(
        matrix: self, input: input, tokens: tokens, output: output, vectors: compute.vectors))
  }

  /// The same for some of the rows, by the calling thread; tokens are `outputStride` floats apart.
  @unsafe func multiply(
    _ range: Range<Int>, _ input: UnsafePointer<Float>, tokens: Int,
    into output: UnsafeMutablePointer<Float>, outputStride: Int, vectors: VectorKernels
  ) {
    // Rows of `columns` elements; the caller's output holds the range's rows of every token.
    unsafe vectors.floatProduct(
      weights: baseAddress, of: element, weightStride: columns, rows: range, columns: columns,
      activations: input, activationStride: columns, tokens: tokens, output: output,
      outputStride: outputStride)
  }

  /// Writes one row as float32.
  @unsafe func copyRow(
    _ row: Int, into output: UnsafeMutablePointer<Float>, vectors: VectorKernels
  ) {
    precondition(row >= 0 && row < rows, "a row outside the matrix")
    let source = unsafe baseAddress + row * columns * element.byteCount
    switch element {
    case .f32:
      unsafe UnsafeMutableRawPointer(output).copyMemory(from: source, byteCount: columns * 4)
    case .f16: unsafe vectors.convert(fromF16: source, to: output, count: columns)
    }
  }
}

/// One product on all threads of a pool. Addresses are the caller's of `multiply`.
@safe private struct FloatWork: ThreadPoolWork {
  // Both outlive the run, and threads that copy the work retain nothing.
  unowned(unsafe) let matrix: FloatMatrix
  unowned(unsafe) let vectors: VectorKernels
  let input: UnsafePointer<Float>
  let tokens: Int
  let output: UnsafeMutablePointer<Float>

  init(
    matrix: FloatMatrix, input: UnsafePointer<Float>, tokens: Int,
    output: UnsafeMutablePointer<Float>, vectors: VectorKernels
  ) {
    unsafe self.matrix = matrix
    unsafe self.vectors = vectors
    unsafe self.input = input
    self.tokens = tokens
    unsafe self.output = output
  }

  func perform(part: Int, of partCount: Int, thread: Int) {
    let rows = unsafe ThreadPool.share(of: matrix.rows, part: part, partCount: partCount)
    guard !rows.isEmpty else { return }
    unsafe matrix.multiply(
      rows, input, tokens: tokens, into: output, outputStride: matrix.rows, vectors: vectors)
  }
}

extension FloatWeight {
  fileprivate var byteCount: Int { self == .f32 ? 4 : 2 }
}
