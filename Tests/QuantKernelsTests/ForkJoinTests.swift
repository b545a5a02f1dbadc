import ForkJoin
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What both faces of the kernels share of threads.
@Suite struct ForkJoinTests {
  /// Counts each part.
  private static func count(_ work: UnsafeRawPointer, part: Int, partCount: Int, thread: Int) {
    // The work is the array below, of `partCount` counts.
    let counts = unsafe UnsafeMutablePointer(
      mutating: work.assumingMemoryBound(to: UInt32.self))
    unsafe counts[part] += 1
  }

  /// Threads that never get a core are those that were never started.
  @Test(arguments: [1, 2, 7], [0, 100]) func aRunDoesNotWaitForThreadsWithoutACore(
    _ partsPerThread: Int, _ spinCount: Int
  ) {
    let state = unsafe ForkJoinState(threadCount: 4, spinCount: spinCount, isPinned: false)
    defer { unsafe state.deallocate() }
    var counts = [UInt32](repeating: 0, count: 4 * partsPerThread)
    for _ in 0..<10 {
      unsafe counts.withUnsafeMutableBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        let run = unsafe state.fork(
          UnsafeRawPointer(base),
          { unsafe ForkJoinTests.count($0, part: $1, partCount: $2, thread: $3) },
          partsPerThread: partsPerThread)
        unsafe state.performOwn(run, thread: 0)
        unsafe state.wait(for: run)
      }
    }
    #expect(counts == [UInt32](repeating: 10, count: 4 * partsPerThread))
  }

  @Test func partsOfAProductAreOfSomeMicroseconds() {
    #expect(ForkJoinPool.partsPerThread(codeBytes: 0, tokenCount: 1, threadCount: 2) == 1)
    #expect(ForkJoinPool.partsPerThread(codeBytes: 1 << 18, tokenCount: 1, threadCount: 2) == 4)
    #expect(ForkJoinPool.partsPerThread(codeBytes: 1 << 30, tokenCount: 1, threadCount: 2) == 8)
    // Sizes of the limits do not fit one another's product.
    #expect(
      ForkJoinPool.partsPerThread(codeBytes: 1 << 48, tokenCount: 1 << 24, threadCount: 2) == 8)
  }
}
