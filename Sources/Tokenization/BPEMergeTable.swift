/// Which pairs of adjacent tokens become one, how much each is preferred, and what it becomes.
struct BPEMergeTable: Sendable {
  /// A rank that no merge has: the pair does not merge.
  static let noRank = UInt32.max

  private struct Entry: Sendable {
    var left: UInt32
    var right: UInt32
    var rank: UInt32
    var result: UInt32
  }

  private var entries: [Entry]
  private let seed = UInt64.random(in: .min ... .max)
  /// The token of every single byte; -1 where the vocabulary has none.
  let baseTokens: [Int32]

  /// Checks the merges of a description against its vocabulary.
  init(
    _ merges: [TokenizerDescription.Merge], vocabulary: BPEVocabulary
  ) throws(TokenizerError) {
    baseTokens = (0...255).map { byte in
      guard let id = vocabulary.id(of: [UInt8(byte)]), !vocabulary.isSpecial(id) else { return -1 }
      return Int32(id)
    }
    var capacity = 16
    while capacity < merges.count * 2 { capacity *= 2 }
    let free = Entry(left: .max, right: .max, rank: Self.noRank, result: 0)
    entries = Array(repeating: free, count: capacity)
    var joined: [UInt8] = []
    for (rank, merge) in merges.enumerated() {
      for token in [merge.left, merge.right] where token >= UInt32(vocabulary.count) {
        throw .mergeOutsideVocabulary(merge: rank, token: token)
      }
      joined.removeAll(keepingCapacity: true)
      joined += vocabulary.bytes(of: Int(merge.left))
      joined += vocabulary.bytes(of: Int(merge.right))
      guard let result = vocabulary.id(of: joined[...]) else {
        throw .mergeWithoutResult(merge: rank)
      }
      let place = place(of: merge.left, merge.right)
      guard entries[place].rank == Self.noRank else {
        throw .duplicateMerge(rank, first: Int(entries[place].rank))
      }
      entries[place] = Entry(
        left: merge.left, right: merge.right, rank: UInt32(rank), result: UInt32(result))
    }
  }

  /// The rank of a pair and the token that it becomes; `noRank` where it does not merge.
  @inline(__always)
  func lookUp(_ left: UInt32, _ right: UInt32) -> (rank: UInt32, result: UInt32) {
    let entry = entries[place(of: left, right)]
    return (entry.rank, entry.result)
  }

  /// Where a pair stands, or the free place where it would. The seed keeps a file from choosing
  /// pairs that collide.
  @inline(__always)
  private func place(of left: UInt32, _ right: UInt32) -> Int {
    let mask = entries.count - 1
    let product = (UInt64(left) << 32 | UInt64(right) ^ seed).multipliedFullWidth(
      by: 0x9E37_79B9_7F4A_7C15)
    var place = Int(truncatingIfNeeded: product.high ^ product.low) & mask
    while entries[place].rank != Self.noRank
      && (entries[place].left != left || entries[place].right != right)
    {
      place = (place + 1) & mask
    }
    return place
  }
}
