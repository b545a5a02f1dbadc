import Dispatch
import KVCache
import TestSupport
import Testing

/// Sequences of one pool on several threads, while accounts are taken.
@Suite struct ConcurrentSequenceTests {
  @Test func threadsShareAPool() throws {
    let layout = CacheLayout(
      layerCount: 3, localCount: 2, window: 8, headCount: 1, headDimension: 2, pagePositions: 4,
      element: .f32)
    let threads = 4
    let pool = try PagePool(layout: layout, byteBudget: 24 * layout.pageByteCount)
    let identity = PrefixIdentity(model: "m")
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      var generator = SeededGenerator(seed: UInt64(thread) + 60)
      var sequence = CacheSequence(pool: pool, maximumPositions: 64, identity: identity)
      for step in 0..<4_000 {
        let usage = pool.usage
        #expect(usage.allocatedBytes <= pool.byteBudget)
        #expect(usage.held.wastedBytes >= 0)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
          let position = Int.random(
            in: sequence.earliestPosition...sequence.positionCount, using: &generator)
          sequence.truncate(to: position)
        case 1: sequence = sequence.fork()
        case 2:
          sequence = CacheSequence(pool: pool, maximumPositions: 64, identity: identity)
          // All threads tell the same tokens, so they exchange pages all the time.
          sequence.adoptPrefix(of: (0..<64).map { Int32($0) }[...])
        default:
          let start = sequence.positionCount
          guard (try? sequence.reserve(3)) != nil else { continue }
          for position in start..<start + 3 {
            sequence.storeKey(
              [Float(position), 1].span, group: 0, store: 0, head: 0, position: position)
          }
          sequence.advance((start..<start + 3).map { Int32($0) }[...])
        }
        guard step % 16 == 0 else { continue }
        for position in 0..<sequence.positionCount {
          var values: [Float] = [0, 0]
          var span = values.mutableSpan
          sequence.readKey(into: &span, group: 0, store: 0, head: 0, position: position)
          #expect(values == [Float(position), 1], "thread \(thread), step \(step)")
        }
      }
    }
    #expect(pool.usage.held == CacheUsage())
    pool.evictCachedPrefixes()
    #expect(pool.allocatedBytes == 0)
  }
}
