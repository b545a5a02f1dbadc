import Files
import KVCache
import TensorCore

extension CacheSequence {
  /// Writes the sequence to a file: its model's identity, layout, tokens and pages, compressed and
  /// with digests over every bit. The file appears whole or not at all.
  ///
  /// Two sequences of equal content make equal files (with the same release of zstd).
  public func writeSnapshot(
    to path: String, identity: PrefixIdentity, compressionLevel: Int = 1
  ) throws(SnapshotError) {
    var header = SnapshotHeader(
      identity: identity, layout: layout, positionCount: positionCount, tokenCount: tokens.count)
    do throws(FileError) {
      var file = try OutputFile(creating: path)
      // Its place; what it says is known at the end.
      try file.append(header.bytes)
      let start = file.byteCount
      var frame = SnapshotFrame(
        level: compressionLevel, contentByteCount: header.contentByteCount)
      var tokenBytes = SnapshotBytes()
      for token in tokens { tokenBytes.append(UInt32(bitPattern: token)) }
      try frame.append(tokenBytes.bytes, to: &file)
      // The images' storage lives through each call.
      try forEachPageImage { (image) throws(FileError) in try frame.append(image, to: &file) }
      try frame.end(&file)
      header.frameByteCount = file.byteCount - start
      header.frameDigest = frame.digest
      let bytes = header.bytes
      // Bytes have no padding.
      try unsafe file.write(bytes.span.bytes, at: 0)
      try file.commit()
    } catch {
      throw .output(error.description)
    }
  }

  /// Makes the sequence what it was when the snapshot was written, in place of what it holds now.
  ///
  /// Nothing is touched until the file has been read, checked and compared: a file that is cut off,
  /// has flipped bits, or is of another model, adapter or layout, and a pool or sequence without
  /// room, are errors that leave the sequence as it was. Needs as much memory again as the pages.
  public func restoreSnapshot(
    from path: String, identity: PrefixIdentity
  ) throws(SnapshotError) {
    let snapshot = try SnapshotReader(opening: path)
    let header = try snapshot.header(identity: identity, layout: layout)
    guard header.positionCount <= maximumPositions else {
      throw .cache(
        .contextExceeded(
          limitPositions: maximumPositions, neededPositions: header.positionCount))
    }
    let content = try snapshot.content(of: header)
    let bytes = content.bytes
    let tokenByteCount = 4 * header.tokenCount
    let tokens = (0..<header.tokenCount).map {
      // Tokens are the first bytes of the content.
      unsafe Int32(
        littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 4 * $0, as: Int32.self))
    }
    do throws(CacheError) {
      try replace(
        positions: header.positionCount, tokens: tokens,
        images: bytes.extracting(tokenByteCount..<bytes.byteCount))
    } catch {
      throw .cache(error)
    }
  }
}

extension OutputFile {
  mutating func append(_ bytes: [UInt8]) throws(FileError) {
    // Bytes have no padding.
    try unsafe append(bytes.span.bytes)
  }
}
