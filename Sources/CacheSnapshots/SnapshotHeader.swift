import Files
import KVCache
import TensorCore

/// What stands before the compressed pages of a snapshot: whose they are, and their shape.
///
/// The fields in their order are those of the page *Snapshots* in KVCache's documentation.
struct SnapshotHeader: Hashable {
  var identity: PrefixIdentity
  var layout: CacheLayout
  var positionCount: Int
  var tokenCount: Int
  /// Bytes of the zstd frame.
  var frameByteCount = 0
  /// XXH64 of the frame's bytes.
  var frameDigest: UInt64 = 0

  static let magic: [UInt8] = Array("AFMCACHE".utf8)
  static let version: UInt32 = 2
  /// Magic, version, header byte count, digest.
  static let prologueByteCount = 24
  /// What a header may hold at most: names and layers of any model, and far below any memory.
  static let byteCountLimit = 1 << 20

  /// Bytes that the frame inflates to.
  var contentByteCount: Int {
    4 * tokenCount + CacheSequence.imageByteCount(layout: layout, positions: positionCount)
  }

  // MARK: - Bytes

  /// Prologue and header.
  var bytes: [UInt8] {
    var fields = SnapshotBytes()
    fields.append(identity.model)
    fields.append(identity.adapter)
    fields.append(UInt32(layout.pagePositions))
    fields.append(UInt32(layout.groups.count))
    for group in layout.groups {
      let geometry = group.geometry
      for count in [geometry.storeCount, geometry.headCount, geometry.headDimension] {
        fields.append(UInt32(count))
      }
      fields.append(geometry.keyElement.rawValue)
      fields.append(geometry.valueElement.rawValue)
      fields.append(UInt64(group.window ?? 0))
      let scales = group.staticScales
      fields.append(UInt32(scales == nil ? 0 : geometry.storeCount))
      for scale in (scales?.keys ?? []) + (scales?.values ?? []) {
        fields.append(scale.bitPattern)
      }
    }
    fields.append(UInt32(layout.layers.count))
    for place in layout.layers {
      fields.append(UInt32(place.group))
      fields.append(UInt32(place.store))
    }
    fields.append(UInt64(positionCount))
    fields.append(UInt64(tokenCount))
    fields.append(UInt64(frameByteCount))
    fields.append(frameDigest)
    var prologue = SnapshotBytes()
    prologue.bytes = Self.magic
    prologue.append(Self.version)
    prologue.append(UInt32(fields.bytes.count))
    prologue.append(XXH64.hash(prologue.bytes + fields.bytes))
    return prologue.bytes + fields.bytes
  }
}

/// Little-endian fields, one after another.
struct SnapshotBytes {
  var bytes: [UInt8] = []

  mutating func append<T: FixedWidthInteger & UnsignedInteger>(_ value: T) {
    for shift in stride(from: 0, to: T.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> T(shift)))
    }
  }

  /// A byte count of 32 bits and UTF-8.
  mutating func append(_ text: String) {
    append(UInt32(text.utf8.count))
    bytes += text.utf8
  }
}
