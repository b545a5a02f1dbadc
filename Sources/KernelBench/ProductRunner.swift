import CPlatform
import KernelContract
import PackedFormats
import QuantKernels
import TensorCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A product of weights and tokens.
package final class ProductRunner: KernelRunner {
  private let platform: KernelPlatform
  private let weights: KernelWeights
  private let what: KernelCase
  private let activations: Activations
  /// Tokens × columns floats, as long as this lives.
  private let input: AlignedStorage
  /// Tokens × rows floats.
  private let output: AlignedStorage
  private let quantizes: Bool
  private var turn = 0
  package let byteCount: Int
  package let kernelName: String

  /// - Parameter weights: of the case's shape and format.
  init(_ what: KernelCase, _ weights: KernelWeights, quantizes: Bool, on platform: KernelPlatform) {
    let format = weights.format
    self.what = what
    self.platform = platform
    self.quantizes = quantizes
    self.weights = weights
    input = AlignedStorage(byteCount: what.tokens * what.columns * 4)
    output = AlignedStorage(byteCount: what.tokens * what.rows * 4)
    // As many floats as the storage was made for.
    let values = unsafe input.baseAddress.assumingMemoryBound(to: Float.self)
    for (index, value) in ProductOperands.input(count: what.tokens * what.columns).enumerated() {
      unsafe values[index] = value
    }
    activations = Activations(
      tokenCapacity: what.tokens, columnCapacity: what.columns,
      threadCapacity: platform.pool.threadCount)
    let names =
      PackedMatrix.supports(format)
      ? platform.library.selectedKernelNames : platform.vectors.kernelNames
    let kernelFormat = format == .u2t ? .u2c : format
    kernelName =
      names.first {
        $0.hasPrefix(what.operation.rawValue + "_") && $0.contains("_\(kernelFormat.name)_")
      } ?? what.operation.rawValue
    byteCount = weights.byteCount + what.tokens * (what.columns + what.rows * 4)
    if PackedMatrix.supports(format) { quantize(for: format) }
  }

  /// Bytes of one copy of the weights.
  package var weightByteCount: Int { weights.byteCount }

  package var workingByteCount: Int { activations.byteCount }

  package func run(callCount: Int) {
    for _ in 0..<callCount { call() }
  }

  package func rest() {
    // A pool's threads wait spinning for less than that.
    if platform.pool.threadCount > 1 { usleep(2000) }
  }

  private func quantize(for format: WeightFormat) {
    unsafe activations.quantize(
      input.baseAddress.assumingMemoryBound(to: Float.self), tokenCount: what.tokens,
      columnCount: what.columns, for: .required(by: format), using: platform.library,
      pool: platform.pool)
  }

  private func call() {
    let copy = weights.copies[turn]
    turn = turn + 1 == weights.copies.count ? 0 : turn + 1
    // Room for tokens × rows.
    let output = unsafe output.baseAddress.assumingMemoryBound(to: Float.self)
    switch copy {
    case .packed(let matrix):
      if quantizes { quantize(for: matrix.format) }
      unsafe platform.library.multiply(
        matrix, activations, by: what.operation, into: output, pool: platform.pool)
    case .float(let memory):
      let (vectors, what) = (platform.vectors, what)
      let input = unsafe input.baseAddress.assumingMemoryBound(to: Float.self)
      platform.pool.runRanges(what.rows) { rows, _ in
        unsafe vectors.floatProduct(
          weights: memory.address, of: what.weights == .f16 ? .f16 : .f32,
          weightStride: what.columns, rows: rows, columns: what.columns, activations: input,
          activationStride: what.columns, tokens: what.tokens, output: output,
          outputStride: what.rows)
      }
    }
  }

  /// Runs the product once, and says how far it is from the f32 product of its dequantized weights;
  /// nil for float weights.
  package func relativeError() -> Double? {
    guard case .packed(let matrix) = weights.copies[0] else { return nil }
    call()
    // As many floats as the storages were made for; the call has written the output.
    func floats(_ storage: borrowing AlignedStorage) -> UnsafeBufferPointer<Float> {
      unsafe UnsafeBufferPointer(
        start: storage.baseAddress.assumingMemoryBound(to: Float.self),
        count: storage.byteCount / 4)
    }
    let (input, output) = unsafe (floats(input), floats(output))
    return unsafe ProductCheck.relativeError(
      of: ProductShape(rows: what.rows, columns: what.columns), tokens: what.tokens,
      input: input.span, output: output.span
    ) { matrix.dequantizeRow($0, into: &$1) }
  }
}
