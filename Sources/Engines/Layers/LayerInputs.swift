import QuantKernels

/// The rows that the next linear layers read: floats, and their int8 form where one of them asks.
struct LayerInputs: ~Copyable {
  private(set) var rows: UnsafePointer<Float>
  private(set) var tokens = 0
  private(set) var columns = 0
  let activations: Activations
  private let compute: Compute
}
