/// A name for a prompt's tokens, so that two results are known to be of the same work.
package enum PromptHash {
  /// `fnv1a64:` and 16 hexadecimal digits: FNV-1a (Fowler, Noll, Vo) over the little-endian bytes
  /// of the ids. It tells prompts apart; it does not withstand somebody who wants two alike.
  package static func text(of tokens: [Int32]) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for token in tokens {
      for shift in [0, 8, 16, 24] as [UInt32] {
        hash ^= UInt64(UInt32(bitPattern: token) >> shift & 0xFF)
        hash &*= 0x100_0000_01B3
      }
    }
    let digits = String(hash, radix: 16)
    return "fnv1a64:" + String(repeating: "0", count: 16 - digits.count) + digits
  }
}
