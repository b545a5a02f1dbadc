import KernelContract

/// The scalar twin of `QuantizationFunction` for one token: slow, obvious, allocating.
package struct QuantizedToken: Sendable {
  package var activations: [Int8]
  package var scale: Float
  package var sum: Int32
  /// Sums of 32 columns each; the last group may be shorter.
  package var groupSums: [Float]

  package init(_ values: [Float]) {
    var magnitude: Float = 0
    var isFinite = true
    for value in values {
      if !value.isFinite { isFinite = false }
      if value.magnitude > magnitude { magnitude = value.magnitude }
    }
    let zeros = [Int8](repeating: 0, count: values.count)
    if !isFinite {
      self.init(activations: zeros, scale: .nan)
    } else if magnitude < 0x1p-110 {
      self.init(activations: zeros, scale: 0)
    } else {
      let factor = 127 / magnitude
      self.init(
        activations: values.map { Int8(($0 * factor).rounded(.toNearestOrEven)) },
        scale: magnitude / 127)
    }
  }

  /// A token that is quantized already.
  package init(activations: [Int8], scale: Float) {
    self.activations = activations
    self.scale = scale
    sum = activations.reduce(0) { $0 + Int32($1) }
    groupSums = stride(from: 0, to: activations.count, by: 32).map { begin in
      Float(activations[begin..<min(begin + 32, activations.count)].reduce(0) { $0 + Int32($1) })
    }
  }
}
