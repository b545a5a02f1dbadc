import Files

/// The digest that `.afmw` files use for everything: the XXH64 of the XXH64s of its chunks.
///
/// The bytes are cut into chunks of 1,048,576 bytes, the last one shorter; the digest is the XXH64
/// (seed 0) of the chunks' XXH64s (seed 0), eight little-endian bytes each, one after another. So
/// the chunks of a large plane can be hashed on all cores at once, and a plane's chunks are the
/// contents of its frames. Like XXH64 itself it changes with any single flipped bit.
package struct ContentDigest {
  package static let chunkByteCount = 1 << 20

  private var chunk = XXH64()
  private var chunkByteCount = 0
  private var outer = XXH64()

  package init() {}

  /// The digest of those bytes alone.
  package static func of(_ bytes: RawSpan) -> UInt64 {
    var digest = ContentDigest()
    digest.update(bytes)
    return digest.finish()
  }

  /// The digest of those bytes alone.
  package static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    let span = bytes.span
    // Bytes have no padding.
    return unsafe of(span.bytes)
  }

  /// The digest of a sequence whose chunks have those hashes.
  package static func of(chunkHashes: some Sequence<UInt64>) -> UInt64 {
    var outer = XXH64()
    for hash in chunkHashes { Self.append(hash, to: &outer) }
    return outer.value
  }

  /// Takes in more bytes.
  package mutating func update(_ bytes: RawSpan) {
    var start = 0
    while start < bytes.byteCount {
      let count = min(Self.chunkByteCount - chunkByteCount, bytes.byteCount - start)
      chunk.update(bytes.extracting(start..<start + count))
      chunkByteCount += count
      start += count
      if chunkByteCount == Self.chunkByteCount { endChunk() }
    }
  }

  /// The digest of the bytes so far; call it once.
  package consuming func finish() -> UInt64 {
    if chunkByteCount > 0 { endChunk() }
    return outer.value
  }

  private mutating func endChunk() {
    Self.append(chunk.value, to: &outer)
    chunk = XXH64()
    chunkByteCount = 0
  }

  private static func append(_ hash: UInt64, to outer: inout XXH64) {
    let word: InlineArray<1, UInt64> = [hash.littleEndian]
    let span = word.span
    // Integers have no padding: all eight bytes are initialised.
    unsafe outer.update(span.bytes)
  }
}
