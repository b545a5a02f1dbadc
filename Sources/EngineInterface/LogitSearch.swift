/// Finds the largest of many logits: an engine that has kernels for it lends them to the sampler.
package protocol LogitSearch {
  /// The index of the largest value, the lowest among equals; nil where there is a NaN.
  func largest(_ logits: Span<Float>) -> Int?

  /// The indices of the `places.count` largest values, at most as many as there are, largest first
  /// and the lower one first among equals (−0 equals 0); the logits have no NaN.
  ///
  /// - Parameter keys: working memory, as long as `places`.
  func findLargest(
    _ logits: Span<Float>, keys: inout [UInt64], places: inout [Int32])
}

/// The searches in plain Swift.
package struct PlainLogitSearch: LogitSearch {
  package init() {}

  package func largest(_ logits: Span<Float>) -> Int? {
    guard !logits.isEmpty else { return nil }
    var best = 0
    for index in logits.indices {
      if logits[index].isNaN { return nil }
      if logits[index] > logits[best] { best = index }
    }
    return best
  }

  /// A bounded heap of the best, the worst at its root; then sorted.
  package func findLargest(
    _ logits: Span<Float>, keys: inout [UInt64], places: inout [Int32]
  ) {
    for index in logits.indices {
      let key = Self.key(logits[index], index)
      if index < keys.count {
        keys[index] = key
        if index == keys.count - 1 {
          for parent in stride(from: index / 2, through: 0, by: -1) {
            Self.sink(&keys, from: parent, count: keys.count)
          }
        }
      } else if key > keys[0] {
        keys[0] = key
        Self.sink(&keys, from: 0, count: keys.count)
      }
    }
    for rest in stride(from: keys.count - 1, to: 0, by: -1) {
      keys.swapAt(0, rest)
      Self.sink(&keys, from: 0, count: rest)
    }
    for place in places.indices { places[place] = Int32(~UInt32(truncatingIfNeeded: keys[place])) }
  }

  /// A value and its place as one number, larger for what comes first.
  private static func key(_ value: Float, _ index: Int) -> UInt64 {
    let bits = value == 0 ? 0 : value.bitPattern
    let ordered = bits >> 31 == 0 ? bits | 0x8000_0000 : ~bits
    return UInt64(ordered) << 32 | UInt64(~UInt32(index))
  }

  private static func sink(_ keys: inout [UInt64], from start: Int, count: Int) {
    var parent = start
    while true {
      var child = 2 * parent + 1
      guard child < count else { return }
      if child + 1 < count && keys[child + 1] < keys[child] { child += 1 }
      guard keys[child] < keys[parent] else { return }
      keys.swapAt(parent, child)
      parent = child
    }
  }
}
