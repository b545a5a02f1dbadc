import KernelContract

/// The scalar twin of `QuantizationFunction` for one token: slow, obvious, allocating.
package struct QuantizedToken: Sendable {
  package var grouping: ActivationGrouping
  package var activations: [Int8]
  /// One, or one a chunk of 64 or 36 columns.
  package var scales: [Float]
  /// Sums of 32 columns each, or of 36 that share a scale; the last group may be shorter.
  package var groupSums: [Float]

  package init(_ values: [Float], _ grouping: ActivationGrouping) {
    let length = grouping == .perToken ? values.count : grouping.chunkColumns
    var activations: [Int8] = []
    var scales: [Float] = []
    for begin in stride(from: 0, to: values.count, by: length) {
      let part = Self.quantized(values[begin..<min(begin + length, values.count)])
      activations += part.activations
      scales.append(part.scale)
    }
    self.init(activations: activations, scales: scales, grouping)
  }

  /// Values that share a scale.
  private static func quantized(
    _ values: ArraySlice<Float>
  ) -> (activations: [Int8], scale: Float) {
    var magnitude: Float = 0
    var isFinite = true
    for value in values {
      if !value.isFinite { isFinite = false }
      if value.magnitude > magnitude { magnitude = value.magnitude }
    }
    let zeros = [Int8](repeating: 0, count: values.count)
    if !isFinite { return (zeros, .nan) }
    if magnitude < 0x1p-110 { return (zeros, 0) }
    let factor = 127 / magnitude
    return (values.map { Int8(($0 * factor).rounded(.toNearestOrEven)) }, magnitude / 127)
  }

  /// A token that is quantized already.
  package init(activations: [Int8], scales: [Float], _ grouping: ActivationGrouping) {
    self.grouping = grouping
    self.activations = activations
    self.scales = scales
    let length = grouping == .perBlock ? grouping.chunkColumns : 32
    groupSums = stride(from: 0, to: activations.count, by: length).map { begin in
      let end = min(begin + length, activations.count)
      return Float(activations[begin..<end].reduce(0) { $0 + Int32($1) })
    }
  }

  /// The sum of all activations.
  package var sum: Int32 { activations.reduce(0) { $0 + Int32($1) } }
}
