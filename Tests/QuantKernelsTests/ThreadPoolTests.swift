import QuantKernels
import Synchronization
import Testing

/// Fork and join.
struct ThreadPoolTests {
  @Test(arguments: [1, 2, 3, 5], [0, 20_000])
  func everyThreadRunsOncePerRun(_ threads: Int, _ spins: Int) {
    let pool = ThreadPool(
      threadCount: threads, allowOversubscription: true, spinCount: spins)
    #expect(pool.threadCount == threads)
    let bits = Atomic<Int>(0)
    let calls = Atomic<Int>(0)
    for _ in 0..<200 {
      pool.run { thread, count in
        if count == threads { bits.bitwiseOr(1 << thread, ordering: .relaxed) }
        calls.add(1, ordering: .relaxed)
      }
    }
    #expect(bits.load(ordering: .relaxed) == (1 << threads) - 1)
    #expect(calls.load(ordering: .relaxed) == 200 * threads)
  }

  @Test func rangesCoverEverythingOnceInOrder() {
    let pool = ThreadPool(threadCount: 3, allowOversubscription: true)
    for count in [0, 1, 2, 3, 4, 100] {
      let seen = Mutex<[Int: Range<Int>]>([:])
      pool.runRanges(count) { range, thread in seen.withLock { $0[thread] = range } }
      let ranges = seen.withLock { $0 }.sorted { $0.key < $1.key }.map(\.value)
      #expect(ranges.flatMap { Array($0) } == Array(0..<count))
      #expect((ranges.map(\.count).max() ?? 0) - (ranges.map(\.count).min() ?? 0) <= 1)
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
