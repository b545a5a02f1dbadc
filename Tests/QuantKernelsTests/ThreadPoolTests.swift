import QuantKernels
import Synchronization
import Testing

/// Fork and join.
struct ThreadPoolTests {
  /// Counts how often each part is performed, and a thread that is in two parts at a time as 1000.
  private final class Count: Sendable {
    let parts: Mutex<[Int]>
    let busy = Mutex<Set<Int>>([])
    init(_ partCount: Int) { parts = Mutex([Int](repeating: 0, count: partCount)) }
  }

  private struct Counting: ThreadPoolWork {
    let count: Count
    /// Rounds of arithmetic in parts of even number, so that threads come to help each other.
    let rounds: Int

    func perform(part: Int, of partCount: Int, thread: Int) {
      let isAlone = count.busy.withLock { $0.insert(thread).inserted }
      var value = UInt64(part) + 1 << 40
      if part % 2 == 0 {
        for _ in 0..<rounds { value = value &* 6_364_136_223_846_793_005 &+ 1 }
      }
      let isHit = isAlone && value != 3
      count.parts.withLock { $0[part] += isHit ? 1 : 1000 }
      count.busy.withLock { _ = $0.remove(thread) }
    }
  }

  @Test(arguments: [1, 2, 3, 5], [ThreadPool.Waiting.spinning, .polite])
  func everyPartIsPerformedOncePerRun(_ threads: Int, _ waiting: ThreadPool.Waiting) {
    let pool = ThreadPool(threadCount: threads, allowOversubscription: true, waiting: waiting)
    #expect(pool.threadCount == threads)
    for parts in [1, 2, 7] {
      let count = Count(threads * parts)
      for _ in 0..<200 {
        pool.run(Counting(count: count, rounds: parts == 7 ? 2000 : 0), partsPerThread: parts)
      }
      #expect(count.parts.withLock { $0 } == [Int](repeating: 200, count: threads * parts))
    }
  }

  @Test func rangesCoverEverythingOnceInOrder() {
    let pool = ThreadPool(threadCount: 3, allowOversubscription: true)
    for count in [0, 1, 2, 3, 4, 100] {
      let seen = Mutex<[Int: Range<Int>]>([:])
      pool.runRanges(count) { range, index in seen.withLock { $0[index] = range } }
      let ranges = seen.withLock { $0 }.sorted { $0.key < $1.key }.map(\.value)
      #expect(ranges.flatMap { Array($0) } == Array(0..<count))
      let counts: [Int] = ranges.map(\.count)
      let spread = (counts.max() ?? 0) - (counts.min() ?? 0)
      #expect(spread <= 1)
    }
  }

  @Test func neverMoreThreadsThanCoresWithoutBeingTold() {
    let cores = ThreadPool.availableCoreCount
    #expect(ThreadPool(threadCount: cores + 7).threadCount <= cores)
    #expect(ThreadPool().threadCount <= cores)
    #expect(ThreadPool(threadCount: 0).threadCount == 1)
  }

  @Test func twoPoolsDoNotDisturbEachOther() {
    let first = ThreadPool(threadCount: 2, allowOversubscription: true)
    let second = ThreadPool(threadCount: 2, allowOversubscription: true)
    let total = Atomic<Int>(0)
    for _ in 0..<100 {
      first.run { _, _ in total.add(1, ordering: .relaxed) }
      second.run { _, _ in total.add(1000, ordering: .relaxed) }
    }
    #expect(total.load(ordering: .relaxed) == 200 * 1001)
  }
}
