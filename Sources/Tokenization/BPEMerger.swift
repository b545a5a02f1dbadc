/// Merges the tokens of one pre-token: again and again the pair of the lowest rank, the leftmost of
/// equals first.
///
/// Short pre-tokens scan for the lowest rank; long ones keep a heap, so that the time is
/// O(n log n) whatever the text. The scratch is kept from one pre-token to the next.
struct BPEMerger: ~Copyable {
  /// Longer than any word; above it the heap wins.
  private static let longestScanned = 48

  private let table: BPEMergeTable
  /// The tokens, of which `next` skips those that have merged into their left neighbour.
  private var tokens: [UInt32] = []
  /// The rank of the pair that begins at each token.
  private var ranks: [UInt32] = []
  private var next: [Int] = []
  private var previous: [Int] = []
  private var heap: [Candidate] = []

  private struct Candidate: Comparable {
    var rank: UInt32
    var position: Int

    static func < (a: Candidate, b: Candidate) -> Bool {
      a.rank != b.rank ? a.rank < b.rank : a.position < b.position
    }
  }

  init(_ table: BPEMergeTable) { self.table = table }

  /// Appends the ids of some bytes; a byte without a token is left out.
  mutating func append(_ bytes: ArraySlice<UInt8>, to ids: inout [Int32]) {
    tokens.removeAll(keepingCapacity: true)
    for byte in bytes {
      let token = table.baseTokens[Int(byte)]
      if token >= 0 { tokens.append(UInt32(token)) }
    }
    if tokens.count > Self.longestScanned {
      mergeByHeap()
      var position = 0
      while position < tokens.count {
        ids.append(Int32(tokens[position]))
        position = next[position]
      }
    } else {
      if tokens.count > 1 { mergeByScan() }
      for token in tokens { ids.append(Int32(token)) }
    }
  }

  private mutating func rankPairs() {
    ranks.removeAll(keepingCapacity: true)
    for position in 0..<tokens.count - 1 {
      ranks.append(table.lookUp(tokens[position], tokens[position + 1]).rank)
    }
    ranks.append(BPEMergeTable.noRank)
  }

  private mutating func mergeByScan() {
    rankPairs()
    while true {
      var lowest = BPEMergeTable.noRank
      var position = 0
      for index in ranks.indices where ranks[index] < lowest {
        lowest = ranks[index]
        position = index
      }
      guard lowest != BPEMergeTable.noRank else { return }
      tokens[position] = table.lookUp(tokens[position], tokens[position + 1]).result
      tokens.remove(at: position + 1)
      ranks.remove(at: position + 1)
      if position > 0 {
        ranks[position - 1] = table.lookUp(tokens[position - 1], tokens[position]).rank
      }
      let isLast = position + 1 == tokens.count
      ranks[position] =
        isLast
        ? BPEMergeTable.noRank : table.lookUp(tokens[position], tokens[position + 1]).rank
    }
  }

  private mutating func mergeByHeap() {
    rankPairs()
    next = Array(1...tokens.count)
    previous = Array(-1..<tokens.count - 1)
    heap.removeAll(keepingCapacity: true)
    for position in tokens.indices { push(position) }
    while let candidate = popLowest() {
      let position = candidate.position
      // A pair that has changed since it was pushed stands elsewhere in the heap, or merged.
      guard ranks[position] == candidate.rank else { continue }
      let right = next[position]
      tokens[position] = table.lookUp(tokens[position], tokens[right]).result
      ranks[right] = BPEMergeTable.noRank
      next[position] = next[right]
      if next[position] < tokens.count { previous[next[position]] = position }
      rank(position)
      if previous[position] >= 0 { rank(previous[position]) }
    }
  }

  /// Ranks the pair at a position anew and pushes it if it merges.
  private mutating func rank(_ position: Int) {
    let right = next[position]
    ranks[position] =
      right < tokens.count
      ? table.lookUp(tokens[position], tokens[right]).rank : BPEMergeTable.noRank
    push(position)
  }

  private mutating func push(_ position: Int) {
    guard ranks[position] != BPEMergeTable.noRank else { return }
    heap.append(Candidate(rank: ranks[position], position: position))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child] < heap[parent] else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func popLowest() -> Candidate? {
    guard let last = heap.popLast() else { return nil }
    guard let lowest = heap.first else { return last }
    heap[0] = last
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
      guard heap[child] < heap[parent] else { break }
      heap.swapAt(child, parent)
      parent = child
    }
    return lowest
  }
}
