import TensorCore

/// The frames between the prologue and the index, in file order: section `FRAM`.
///
/// A count (8 bytes), then for every frame
///
/// | offset | bytes | field |
/// | --- | --- | --- |
/// | 0 | 4 | compressed byte count: the whole frame as it lies in the file |
/// | 4 | 4 | content byte count; 0 for a stored frame |
/// | 8 | 4 | content checksum: low half of the content's XXH64 |
/// | 12 | 4 | kind |
/// | 16 | 8 | digest of the whole frame as it lies in the file |
struct FrameTable: Hashable, Sendable {
  /// What a frame is. The raw value is the number in the table.
  enum Kind: UInt32, Hashable, Sendable {
    /// A zstd frame with one piece of a plane.
    case data = 0
    /// A skippable frame with a plane as it is.
    case stored = 1
  }

  struct Frame: Hashable, Sendable {
    var offset: Int
    var compressedByteCount: Int
    var contentByteCount: Int
    var contentChecksum: UInt32
    var kind: Kind
    var digest: UInt64
  }

  var frames: [Frame] = []

  /// The offset behind the last frame.
  var endOffset: Int {
    frames.last.map { $0.offset + $0.compressedByteCount } ?? ContainerLayout.prologueByteCount
  }

  /// Reads the section; the frames must fill the file from the prologue to the index.
  init(parsing section: IndexReader, indexOffset: Int) throws(InputError) {
    var reader = section
    let count = try reader.count(
      for: "the frame count",
      limit: min(
        ContainerLayout.frameCountLimit, reader.remaining / ContainerLayout.frameEntryByteCount))
    guard reader.remaining == count * ContainerLayout.frameEntryByteCount else {
      throw reader.error("\(count) frames do not fill the section")
    }
    frames.reserveCapacity(count)
    var offset = ContainerLayout.prologueByteCount
    for index in 0..<count {
      reader.place = "frame \(index)"
      let frame = try Self.frame(&reader, offset: offset)
      // Both are at most 2^32 apart from a file offset, so the sum cannot overflow.
      guard frame.compressedByteCount <= indexOffset - offset else {
        throw reader.error("the frame reaches beyond the index at offset \(indexOffset)")
      }
      offset += frame.compressedByteCount
      frames.append(frame)
    }
    guard offset == indexOffset else {
      throw reader.error("the frames end at offset \(offset), the index is at \(indexOffset)")
    }
  }

  init() {}

  private static func frame(_ reader: inout IndexReader, offset: Int) throws(InputError) -> Frame {
    let start = reader.offset
    let compressed = Int(try reader.integer(UInt32.self, for: "the compressed byte count"))
    let content = Int(try reader.integer(UInt32.self, for: "the content byte count"))
    let checksum = try reader.integer(UInt32.self, for: "the content checksum")
    let kindNumber = try reader.integer(UInt32.self, for: "the kind")
    let digest = try reader.integer(UInt64.self, for: "the digest")
    guard let kind = Kind(rawValue: kindNumber) else {
      throw reader.error("frame kind \(kindNumber) is unknown", at: start + 12)
    }
    switch kind {
    case .data:
      guard content > 0, content <= ContainerLayout.contentLimit,
        compressed <= ContainerLayout.compressedLimit,
        content <= ContainerLayout.contentRatioLimit * compressed
      else {
        throw reader.error(
          "a frame of \(compressed) bytes cannot hold \(content) content bytes", at: start)
      }
    case .stored:
      guard content == 0, checksum == ContainerLayout.emptyChecksum,
        compressed > ContainerLayout.storedPlaneOffset(frameOffset: offset)
      else { throw reader.error("a stored frame of \(compressed) bytes is impossible", at: start) }
    }
    return Frame(
      offset: offset, compressedByteCount: compressed, contentByteCount: content,
      contentChecksum: checksum, kind: kind, digest: digest)
  }

  /// The payload of the section.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 + frames.count * ContainerLayout.frameEntryByteCount)
    bytes.appendLittleEndian(UInt64(frames.count))
    for frame in frames {
      bytes.appendLittleEndian(UInt32(frame.compressedByteCount))
      bytes.appendLittleEndian(UInt32(frame.contentByteCount))
      bytes.appendLittleEndian(frame.contentChecksum)
      bytes.appendLittleEndian(frame.kind.rawValue)
      bytes.appendLittleEndian(frame.digest)
    }
    return bytes
  }

  /// The seek table that follows the index: zstd's seekable format, checksums included.
  ///
  /// It lists every frame before it, so also the prologue and the index, which have no content.
  func seekTable(indexByteCount: Int) -> [UInt8] {
    let count = frames.count + 2
    var bytes: [UInt8] = []
    bytes.reserveCapacity(seekTableByteCount)
    bytes.appendLittleEndian(ContainerLayout.seekTableFrameMagic)
    bytes.appendLittleEndian(
      UInt32(seekTableByteCount - ContainerLayout.skippableHeaderByteCount))
    func entry(_ compressed: Int, _ content: Int, _ checksum: UInt32) {
      bytes.appendLittleEndian(UInt32(compressed))
      bytes.appendLittleEndian(UInt32(content))
      bytes.appendLittleEndian(checksum)
    }
    entry(ContainerLayout.prologueByteCount, 0, ContainerLayout.emptyChecksum)
    for frame in frames {
      entry(frame.compressedByteCount, frame.contentByteCount, frame.contentChecksum)
    }
    entry(indexByteCount, 0, ContainerLayout.emptyChecksum)
    bytes.appendLittleEndian(UInt32(count))
    bytes.append(0x80)
    bytes.appendLittleEndian(ContainerLayout.seekTableMagic)
    return bytes
  }

  var seekTableByteCount: Int {
    ContainerLayout.skippableHeaderByteCount
      + (frames.count + 2) * ContainerLayout.seekEntryByteCount
      + ContainerLayout.seekFooterByteCount
  }
}
