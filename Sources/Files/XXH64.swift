/// The 64-bit xxHash of a byte sequence, as its specification (version 0.1.1) defines it.
///
/// Every step is a bijection of the eight bytes that it takes in, so a change confined to one
/// aligned group of eight bytes, and with it any single flipped bit, always changes the result.
/// Bytes may come in pieces. Not a cryptographic hash: it finds accidents, not attacks.
package struct XXH64 {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  private var lane1: UInt64
  private var lane2: UInt64
  private var lane3: UInt64
  private var lane4: UInt64
  /// Bytes that do not fill a stripe of 32 yet.
  private var tail: InlineArray<32, UInt8> = .init(repeating: 0)
  private var tailByteCount = 0
  private var byteCount: UInt64 = 0
  private let seed: UInt64

  package init(seed: UInt64 = 0) {
    self.seed = seed
    lane1 = seed &+ Self.prime1 &+ Self.prime2
    lane2 = seed &+ Self.prime2
    lane3 = seed
    lane4 = seed &- Self.prime1
  }

  /// The hash of those bytes alone.
  package static func hash(_ bytes: RawSpan, seed: UInt64 = 0) -> UInt64 {
    var hash = XXH64(seed: seed)
    hash.update(bytes)
    return hash.value
  }

  /// The hash of those bytes alone.
  package static func hash(_ bytes: [UInt8]) -> UInt64 {
    let span = bytes.span
    // Bytes have no padding.
    return unsafe hash(span.bytes)
  }

  /// Takes in more bytes.
  package mutating func update(_ bytes: RawSpan) {
    byteCount &+= UInt64(bytes.byteCount)
    // Every access below stays under `buffer.count`.
    unsafe bytes.withUnsafeBytes { buffer in
      var start = 0
      if tailByteCount > 0 {
        while tailByteCount < 32, start < buffer.count {
          tail[tailByteCount] = unsafe buffer[start]
          tailByteCount += 1
          start += 1
        }
        guard tailByteCount == 32 else { return }
        let stripe = tail
        let span = stripe.span
        unsafe span.withUnsafeBytes { unsafe stripes($0, from: 0, count: 1) }
        tailByteCount = 0
      }
      let stripeCount = (buffer.count - start) / 32
      unsafe stripes(buffer, from: start, count: stripeCount)
      start += stripeCount * 32
      while start < buffer.count {
        tail[tailByteCount] = unsafe buffer[start]
        tailByteCount += 1
        start += 1
      }
    }
  }

  /// The caller guarantees 32 · count bytes from `start` on.
  private mutating func stripes(_ bytes: UnsafeRawBufferPointer, from start: Int, count: Int) {
    var (a, b, c, d) = (lane1, lane2, lane3, lane4)
    var offset = start
    for _ in 0..<count {
      a = Self.round(a, unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      b = Self.round(b, unsafe bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
      c = Self.round(c, unsafe bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
      d = Self.round(d, unsafe bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self))
      offset += 32
    }
    (lane1, lane2, lane3, lane4) = (a, b, c, d)
  }

  /// The hash of the bytes so far.
  package var value: UInt64 {
    var hash: UInt64
    if byteCount >= 32 {
      hash =
        Self.rotated(lane1, 1) &+ Self.rotated(lane2, 7) &+ Self.rotated(lane3, 12)
        &+ Self.rotated(lane4, 18)
      for lane in [lane1, lane2, lane3, lane4] {
        hash = (hash ^ Self.round(0, lane)) &* Self.prime1 &+ Self.prime4
      }
    } else {
      hash = seed &+ Self.prime5
    }
    hash &+= byteCount
    var index = 0
    while index + 8 <= tailByteCount {
      hash = Self.rotated(hash ^ Self.round(0, tailInteger(at: index, byteCount: 8)), 27)
      hash = hash &* Self.prime1 &+ Self.prime4
      index += 8
    }
    if index + 4 <= tailByteCount {
      hash ^= tailInteger(at: index, byteCount: 4) &* Self.prime1
      hash = Self.rotated(hash, 23) &* Self.prime2 &+ Self.prime3
      index += 4
    }
    while index < tailByteCount {
      hash = Self.rotated(hash ^ UInt64(tail[index]) &* Self.prime5, 11) &* Self.prime1
      index += 1
    }
    hash = (hash ^ hash >> 33) &* Self.prime2
    hash = (hash ^ hash >> 29) &* Self.prime3
    return hash ^ hash >> 32
  }

  private func tailInteger(at index: Int, byteCount: Int) -> UInt64 {
    (0..<byteCount).reduce(0) { $0 | UInt64(tail[index + $1]) << UInt64(8 * $1) }
  }

  @inline(__always)
  private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    rotated(lane &+ UInt64(littleEndian: input) &* prime2, 31) &* prime1
  }

  @inline(__always)
  private static func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value &<< count | value &>> (64 &- count)
  }
}
