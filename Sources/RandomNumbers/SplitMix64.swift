/// Random numbers that are the same on every machine (SplitMix64: Steele, Lea, Flood 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// What the state grows by at every number: 2^64 over the golden ratio.
  package static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// 64 random bits.
  @inline(__always)
  package mutating func next() -> UInt64 {
    state &+= Self.increment
    return Self.mix(state)
  }

  /// A number of [0, 1) with 53 random bits.
  package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Spreads every bit of a word over all of them, one to one.
  @inline(__always)
  package static func mix(_ word: UInt64) -> UInt64 {
    var z = word
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
