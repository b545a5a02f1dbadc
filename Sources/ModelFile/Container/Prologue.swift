import TensorCore

/// The first 64 bytes of a `.afmw` file: what it is, how long it is and where its index lies.
///
/// | offset | bytes | field |
/// | --- | --- | --- |
/// | 0 | 4 | frame magic 0x184D2A50 |
/// | 4 | 4 | payload byte count: 56 |
/// | 8 | 4 | `AFMW` |
/// | 12 | 4 | version: 1 |
/// | 16 | 8 | required features: none is defined |
/// | 24 | 8 | file byte count |
/// | 32 | 8 | index offset |
/// | 40 | 8 | index byte count |
/// | 48 | 8 | digest of the index frame |
/// | 56 | 8 | digest of bytes 0…55 |
struct Prologue: Hashable {
  var fileByteCount: Int
  var indexOffset: Int
  /// Bytes of the index frame, its header included.
  var indexByteCount: Int
  var indexDigest: UInt64

  init(fileByteCount: Int, indexOffset: Int, indexByteCount: Int, indexDigest: UInt64) {
    self.fileByteCount = fileByteCount
    self.indexOffset = indexOffset
    self.indexByteCount = indexByteCount
    self.indexDigest = indexDigest
  }

  /// Reads and checks the first bytes of a file of `actualByteCount` bytes.
  init(parsing bytes: [UInt8], actualByteCount: Int) throws(InputError) {
    var reader = IndexReader(bytes, base: 0, place: "prologue")
    let frameMagic = try reader.integer(UInt32.self, for: "the frame magic")
    let payload = try reader.integer(UInt32.self, for: "the payload byte count")
    let magic = try reader.take(4, for: "the magic")
    guard frameMagic == ContainerLayout.prologueFrameMagic,
      payload
        == UInt32(
          ContainerLayout.prologueByteCount - ContainerLayout.skippableHeaderByteCount),
      Array(bytes[magic]) == ContainerLayout.magic
    else { throw reader.error("not an .afmw file", at: 0) }
    let version = try reader.integer(UInt32.self, for: "the version")
    guard version == ContainerLayout.version else {
      throw reader.error("version \(version) is not supported; this reader knows 1", at: 12)
    }
    let features = try reader.integer(UInt64.self, for: "the required features")
    fileByteCount = try reader.count(for: "the file byte count")
    indexOffset = try reader.count(for: "the index offset")
    indexByteCount = try reader.count(for: "the index byte count")
    indexDigest = try reader.integer(UInt64.self, for: "the index digest")
    let digest = try reader.integer(UInt64.self, for: "the prologue digest")
    guard ContentDigest.of(bytes[..<56]) == digest else {
      throw reader.error("the prologue does not match its digest", at: 0)
    }
    guard features == 0 else {
      throw reader.error(
        "required feature bit \(features.trailingZeroBitCount) is not supported", at: 16)
    }
    guard fileByteCount == actualByteCount else {
      throw reader.error(
        "the file has \(actualByteCount) bytes instead of \(fileByteCount)", at: 24)
    }
    let (end, overflow) = indexOffset.addingReportingOverflow(indexByteCount)
    guard indexOffset >= ContainerLayout.prologueByteCount,
      indexByteCount >= ContainerLayout.skippableHeaderByteCount,
      !overflow, end <= fileByteCount
    else { throw reader.error("the index does not lie in the file", at: 32) }
  }

  /// The 64 bytes.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendLittleEndian(ContainerLayout.prologueFrameMagic)
    bytes.appendLittleEndian(UInt32(56))
    bytes += ContainerLayout.magic
    bytes.appendLittleEndian(ContainerLayout.version)
    bytes.appendLittleEndian(UInt64(0))
    bytes.appendLittleEndian(UInt64(fileByteCount))
    bytes.appendLittleEndian(UInt64(indexOffset))
    bytes.appendLittleEndian(UInt64(indexByteCount))
    bytes.appendLittleEndian(indexDigest)
    bytes.appendLittleEndian(ContentDigest.of(bytes[...]))
    return bytes
  }
}
