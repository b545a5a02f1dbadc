import Files
import Foundation
import ModelFile
import TestSupport
import Testing

@Suite struct ContainerHashTests {
  /// Values of the reference implementation (`xxhsum -H1`, PyPI xxhash): of the bytes
  /// (i · 7 + 3) mod 256 for i in 0..<count.
  static let known: [(count: Int, seed: UInt64, hash: UInt64)] = [
    (0, 0x0, 0xEF46DB3751D8E999),
    (0, 0x9E3779B185EBCA8D, 0x0B303D920EC349DF),
    (1, 0x0, 0x1F25C8D0BC1F4BB6),
    (3, 0x0, 0x31D2363F52E564C9),
    (4, 0x0, 0x9BB64B7D66EE9FDA),
    (5, 0x0, 0xC7608EFDDB7051FE),
    (7, 0x0, 0x9A7B149959CE60D8),
    (8, 0x0, 0xDAB99D95C6F90092),
    (9, 0x0, 0x170BB6BF975B4C02),
    (12, 0x0, 0xD52E407833AF5133),
    (15, 0x0, 0x1B47CB8243CC8E32),
    (16, 0x0, 0x434850232B787BE2),
    (31, 0x0, 0xA2AA5F33CC4A6119),
    (32, 0x0, 0x23C3C17EF790FD97),
    (32, 0x9E3779B185EBCA8D, 0x01B323691AFEF034),
    (33, 0x0, 0x50A7CFC7BA588784),
    (33, 0x9E3779B185EBCA8D, 0x527F3CAEFF0C9292),
    (40, 0x0, 0xB620306B253D76B6),
    (47, 0x0, 0xA7C5465CC5AD205E),
    (63, 0x0, 0x5E3E54B431C7493C),
    (64, 0x0, 0x0EB64B3EF6EEB01F),
    (65, 0x0, 0xA383B724B2BD12F1),
    (96, 0x0, 0x3101A958DE582E18),
    (127, 0x0, 0x0C2B3713C3EDBEB3),
    (1000, 0x0, 0x5F235FA033F1A3FB),
    (1000, 0x9E3779B185EBCA8D, 0x536C1E1BF0F9CB01),
  ]

  static func sample(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 3) }
  }

  @Test(arguments: known.indices)
  func equalsTheReference(index: Int) {
    let (count, seed, hash) = Self.known[index]
    // Bytes have no padding.
    let found = unsafe XXH64.hash(Self.sample(count).span.bytes, seed: seed)
    #expect(found == hash)
  }

  @Test func piecesGiveTheSameHash() {
    var generator = SeededGenerator(seed: 11)
    let bytes = Self.sample(1000)
    for _ in 0..<200 {
      var hash = XXH64()
      var position = 0
      while position < bytes.count {
        let end = min(bytes.count, position + Int.random(in: 0...70, using: &generator))
        unsafe hash.update(bytes.span.bytes.extracting(position..<end))
        position = end
      }
      #expect(hash.value == XXH64.hash(bytes))
    }
  }

  @Test func digestsAreHashesOfChunkHashes() {
    let chunk = ContentDigest.chunkByteCount
    for count in [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 2 * chunk + 5] {
      let bytes = Self.sample(count)
      var hashes: [UInt8] = []
      for start in stride(from: 0, to: count, by: chunk) {
        let hash = XXH64.hash(Array(bytes[start..<min(start + chunk, count)]))
        for shift in stride(from: 0, to: 64, by: 8) {
          hashes.append(UInt8(truncatingIfNeeded: hash >> UInt64(shift)))
        }
      }
      #expect(ContentDigest.of(bytes[...]) == XXH64.hash(hashes))
      var pieces = ContentDigest()
      for start in stride(from: 0, to: count, by: 333_333) {
        unsafe pieces.update(bytes.span.bytes.extracting(start..<min(start + 333_333, count)))
      }
      #expect(pieces.finish() == XXH64.hash(hashes))
    }
  }
}
