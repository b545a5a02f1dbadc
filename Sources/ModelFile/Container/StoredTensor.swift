import PackedFormats
import TensorCore

/// A tensor of a `.afmw` file as its directory describes it; its bytes stay in the file.
public struct StoredTensor: Hashable, Sendable {
  /// The tensor's name, unique in its file.
  public let name: String
  /// The dimensions, outermost first.
  public let shape: TensorShape
  /// How its elements are packed.
  public let format: WeightFormat
  /// How its planes are arranged.
  public let layout: WeightLayout
  /// The planes that format and layout have, in file order.
  public let planes: [StoredPlane]

  /// Bytes in memory: all planes together.
  public var byteCount: Int { planes.reduce(0) { $0 + $1.byteCount } }

  /// Bytes in the file: the frames of all planes.
  public var storedByteCount: Int { planes.reduce(0) { $0 + $1.storedByteCount } }

  /// Bits of codes (of values, for f32 and f16) per element.
  public var payloadBitsPerWeight: Double {
    bitsPerWeight(planes.first { $0.plane == .codes }?.byteCount ?? 0)
  }

  /// Bits of codes, scales and minimums per element, before zstd.
  public var totalBitsPerWeight: Double { bitsPerWeight(byteCount) }

  /// Bits in the file per element.
  public var storedBitsPerWeight: Double { bitsPerWeight(storedByteCount) }

  private func bitsPerWeight(_ bytes: Int) -> Double {
    Double(bytes) * 8 / Double(shape.elementCount)
  }

  /// Where the bytes of a plane are.
  public func stored(_ plane: Plane) -> StoredPlane? { planes.first { $0.plane == plane } }
}

/// One plane of a stored tensor: where its bytes are and what they must hash to.
public struct StoredPlane: Hashable, Sendable {
  /// Which plane.
  public let plane: Plane
  /// How its bytes lie in the file.
  public let storage: PlaneStorage
  /// Bytes of the plane itself, as `WeightLayout.byteCount(of:format:rows:columns:)` tells.
  public let byteCount: Int
  /// The offset of the plane's first frame in the file.
  public let fileOffset: Int
  /// Bytes of its frames in the file.
  public let storedByteCount: Int
  /// The digest of the plane's bytes: the XXH64 of the XXH64s of its chunks of 1 MiB.
  public let digest: UInt64
  /// Which entries of the frame table are the plane's.
  let frames: Range<Int>
}
