import PackedFormats
import TensorCore

/// What packing made of a model: bytes, bits per weight and error, by tensor and in total.
package struct PackReport: Sendable {
  package struct Tensor: Sendable {
    /// Name, shape, format, bytes in memory and in the file, bits per weight.
    package var stored: StoredTensor
    /// The source's own type name.
    package var sourceTypeName: String
    /// Bytes in the source file.
    package var sourceByteCount: Int
    /// Root mean squared difference to the source's values over their root mean square; an adapter
    /// counts as part of the packed values.
    package var relativeError: Double
    /// The same with each square times the importance of its column; nil without calibration.
    package var weightedRelativeError: Double?
    /// Weights that were moved to the edge of the range that was asked for.
    package var clippedCount: Int
    /// Rank of its adapter; 0 where it has none.
    package var adapterRank: Int
  }

  /// The model's tensors in file order, adapters' factors left out.
  package var tensors: [Tensor]
  /// The factors of adapters.
  package var adapterTensors: [StoredTensor]
  /// Bytes of the whole file.
  package var fileByteCount: Int

  /// The model's elements; an adapter's are not the model's.
  package var elementCount: Int { tensors.reduce(0) { $0 + $1.stored.shape.elementCount } }
  private var allStored: [StoredTensor] { tensors.map(\.stored) + adapterTensors }
  /// Bytes of all planes in memory, adapters included.
  package var byteCount: Int { allStored.reduce(0) { $0 + $1.byteCount } }
  /// Bits of codes per element, over all tensors and adapters.
  package var payloadBitsPerWeight: Double {
    let bytes = allStored.reduce(0) { $0 + ($1.stored(.codes)?.byteCount ?? 0) }
    return Double(bytes) * 8 / Double(max(1, elementCount))
  }
  /// Bits of all planes per element, over all tensors and adapters.
  package var totalBitsPerWeight: Double {
    Double(byteCount) * 8 / Double(max(1, elementCount))
  }
  /// Bits per element of the linear layers alone, with their adapters: of codes, and of all planes.
  package var linearBitsPerWeight: (payload: Double, total: Double) {
    let linear = tensors.map(\.stored).filter {
      $0.shape.dimensions.count == 2 && TensorRole(name: $0.name) == .linear
    }
    let elements = Double(max(1, linear.reduce(0) { $0 + $1.shape.elementCount }))
    let all = linear + adapterTensors
    let payload = all.reduce(0) { $0 + ($1.stored(.codes)?.byteCount ?? 0) }
    let total = all.reduce(0) { $0 + $1.byteCount }
    return (Double(payload) * 8 / elements, Double(total) * 8 / elements)
  }
  /// Bits of the whole file per element.
  package var fileBitsPerWeight: Double {
    Double(fileByteCount) * 8 / Double(max(1, elementCount))
  }
  /// Weights that were clipped, over all tensors.
  package var clippedCount: Int { tensors.reduce(0) { $0 + $1.clippedCount } }
}
