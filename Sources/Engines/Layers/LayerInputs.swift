import QuantKernels

/// The rows that the next linear layers read: floats, and their int8 form where one of them asks.
@safe
final class LayerInputs {
  private(set) var tokens = 0
  private(set) var columns = 0
  /// The int8 form; of these rows only if a layer they were set for wants it.
  let activations: Activations
  // [tokens][columns], owned by the caller of `set` and valid until its next call.
  private var source: UnsafePointer<Float>?
  private let compute: Compute

  init(compute: Compute, tokenCapacity: Int, columnCapacity: Int) {
    self.compute = compute
    activations = Activations(
      tokenCapacity: tokenCapacity, columnCapacity: columnCapacity,
      threadCapacity: compute.pool.threadCount)
  }

  /// Takes contiguous rows for some layers, and quantizes them once where any of those wants that.
  @unsafe func set(
    _ rows: UnsafePointer<Float>, tokens: Int, columns: Int, for layers: Linear...
  ) {
    unsafe source = rows
    self.tokens = tokens
    self.columns = columns
    guard layers.contains(where: \.wantsQuantizedInputs) else { return }
    unsafe activations.quantize(
      rows, tokenCount: tokens, columnCount: columns, using: compute.library, pool: compute.pool)
  }

  /// The rows as floats.
  @unsafe var rows: UnsafePointer<Float> {
    guard let source = unsafe source else { preconditionFailure("inputs before they are set") }
    return unsafe source
  }
}
