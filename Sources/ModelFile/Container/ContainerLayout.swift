/// The constants of `.afmw` version 1. Their meaning stands in the specification
/// (`ModelFile.docc/Container.md`).
enum ContainerLayout {
  static let version: UInt32 = 1
  /// `AFMW`, at offset 8 of the file.
  static let magic: [UInt8] = Array("AFMW".utf8)

  static let dataFrameMagic: UInt32 = 0xFD2F_B528
  static let prologueFrameMagic: UInt32 = 0x184D_2A50
  static let storedFrameMagic: UInt32 = 0x184D_2A51
  static let indexFrameMagic: UInt32 = 0x184D_2A52
  static let seekTableFrameMagic: UInt32 = 0x184D_2A5E
  static let seekTableMagic: UInt32 = 0x8F92_EAB1
  /// The low half of the XXH64 of no bytes: the checksum of frames without content.
  static let emptyChecksum: UInt32 = 0x51D8_E999

  static let prologueByteCount = 64
  /// Magic and payload byte count of a skippable frame.
  static let skippableHeaderByteCount = 8
  /// What a frame of zstd data may hold at most, and holds exactly unless it ends a plane.
  static let contentLimit = ContentDigest.chunkByteCount
  /// Content bytes for one compressed byte, at most: a small file cannot ask for much memory.
  static let contentRatioLimit = 16
  /// The compressed form of `contentLimit` bytes is at most this long.
  static let compressedLimit = contentLimit + 4096
  /// The file offset of a stored plane is a multiple of this.
  static let storedAlignment = 4096
  static let sectionHeaderByteCount = 16
  static let directoryHeaderByteCount = 8
  static let tensorEntryByteCount = 8
  static let planeEntryByteCount = 32
  static let frameEntryByteCount = 24
  static let seekEntryByteCount = 12
  static let seekFooterByteCount = 9
  /// The format allows frames up to this number, as zstd's seekable format does.
  static let frameCountLimit = 0x0800_0000 - 2
  static let tensorCountLimit = 1 << 20
  static let nameByteLimit = 512
  static let rankLimit = 8
  static let tokenizerByteLimit = 1 << 30
  static let jsonByteLimit = 1 << 20
  static let jsonDepthLimit = 16

  /// The distance from the beginning of a stored frame at that file offset to its plane.
  static func storedPlaneOffset(frameOffset: Int) -> Int {
    let earliest = frameOffset + skippableHeaderByteCount
    return (earliest + storedAlignment - 1) / storedAlignment * storedAlignment - frameOffset
  }
}

/// How the bytes of a plane lie in the file. The raw value is the number in the directory.
public enum PlaneStorage: UInt8, CaseIterable, Hashable, Sendable {
  /// In zstd frames of their own, at most 1 MiB of plane bytes each.
  case compressed = 0
  /// As they are, at a multiple of 4,096 bytes, so that they can be mapped.
  case stored = 1
}
