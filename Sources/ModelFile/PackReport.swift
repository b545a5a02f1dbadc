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
    /// Root mean squared difference to the source's values over their root mean square.
    package var relativeError: Double
  }

  /// In file order.
  package var tensors: [Tensor]
  /// Bytes of the whole file.
  package var fileByteCount: Int

  init(file: AFMWFile, source: [SourceTensor], errors: [Double]) {
    fileByteCount = file.byteCount
    tensors = zip(file.tensors, zip(source, errors)).map { stored, origin in
      Tensor(
        stored: stored, sourceTypeName: origin.0.typeName, sourceByteCount: origin.0.byteCount,
        relativeError: origin.1)
    }
  }

  package var elementCount: Int { tensors.reduce(0) { $0 + $1.stored.shape.elementCount } }
  /// Bytes of all planes in memory.
  package var byteCount: Int { tensors.reduce(0) { $0 + $1.stored.byteCount } }
  /// Bits of codes per element, over all tensors.
  package var payloadBitsPerWeight: Double {
    let bytes = tensors.reduce(0) { $0 + ($1.stored.stored(.codes)?.byteCount ?? 0) }
    return Double(bytes) * 8 / Double(max(1, elementCount))
  }
  /// Bits of all planes per element, over all tensors.
  package var totalBitsPerWeight: Double {
    Double(byteCount) * 8 / Double(max(1, elementCount))
  }
  /// Bits of the whole file per element.
  package var fileBitsPerWeight: Double {
    Double(fileByteCount) * 8 / Double(max(1, elementCount))
  }
}
