import CAllocationCounter
import KVCache
import Testing

/// After a sequence is made, appending to it asks the heap for nothing.
@Suite struct AppendAllocationTests {
  @Test(.enabled(if: ac_is_available())) func appendingAllocatesNothing() async {
    // A process of its own, where nothing else allocates at the same time.
    await #expect(processExitsWith: .success) {
      ac_start()
      _ = Array(repeating: 1, count: Int.random(in: 9...10))
      #expect(ac_stop() > 0)
      try Self.append()
    }
  }

  /// Appends to two sequences of every element until pages come from prefixes that are given up.
  private static func append() throws {
    let scales = StaticScales(keys: [1, 1, 1, 1], values: [1, 1, 1, 1])
    for element in CacheElement.allCases {
      let layout = CacheLayout(
        layerCount: 4, localCount: 3, window: 64, headCount: 1, headDimension: 32,
        pagePositions: 16, element: element, layerScales: element == .s8Static ? scales : nil)
      // Small enough that cached prefixes are given up on the way.
      let pool = try PagePool(layout: layout, byteBudget: 40 * layout.pageByteCount)
      let identity = PrefixIdentity(model: "m")
      let vector = Array(repeating: Float(0.5), count: 32)
      let token: [Int32] = [7]
      for round in 0..<3 {
        let sequences = (0..<2).map { _ in
          CacheSequence(pool: pool, maximumPositions: 300, identity: identity)
        }
        let other: [Int32] = [Int32(round)]
        ac_start()
        for step in 0..<256 {
          try pool.reserve(1, in: sequences)
          for sequence in sequences {
            let position = sequence.positionCount
            for (group, store) in [(0, 0), (1, 2)] {
              sequence.storeKey(
                vector.span, group: group, store: store, head: 0, position: position)
              sequence.storeValue(
                vector.span, group: group, store: store, head: 0, position: position)
            }
            sequence.advance(step < 64 ? token[...] : other[...])
          }
          for sequence in sequences where step % 50 == 49 {
            sequence.truncate(to: max(sequence.earliestPosition, sequence.positionCount - 3))
          }
        }
        let count = ac_stop()
        #expect(count == 0, "\(element), round \(round)")
      }
      #expect(pool.evictedPageCount > 0)
    }
  }
}
