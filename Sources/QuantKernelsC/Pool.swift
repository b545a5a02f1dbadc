import CPlatform
import CQuantKernels

/// What a pool's threads do together in one call.
enum PoolWork {
  case quantization(QuantizationWork)
  case product(ProductWork)

  func perform(thread: Int, threadCount: Int) {
    switch self {
    case .quantization(let work): work.perform(thread: thread, threadCount: threadCount)
    case .product(let work): work.perform(thread: thread, threadCount: threadCount)
    }
  }
}

/// What `afm_pool` is: threads that wait for work, spinning at first and then on a futex.
@unsafe struct Pool {
  /// The threads of a call, the caller included.
  var threadCount: Int
  /// Pauses before a waiting thread sleeps: about the time of a token.
  let spinCount: Int
  /// Words on cache lines of their own, 128 bytes apart, since neighbouring lines are fetched in
  /// pairs.
  private let words: UnsafeMutablePointer<UInt32>
  /// Handles of the threads that were started.
  fileprivate let handles: UnsafeMutablePointer<UInt>
  /// The work of this call. It lies with the caller until all threads are done.
  fileprivate var work: UnsafePointer<PoolWork>?
  fileprivate var isStopping = false

  private static var wordCount: Int { 5 * 32 }

  init(threadCount: Int, spinCount: Int) {
    unsafe self.threadCount = threadCount
    unsafe self.spinCount = spinCount
    unsafe words = UnsafeMutableRawPointer.allocate(
      byteCount: Self.wordCount * 4, alignment: 128
    ).initializeMemory(as: UInt32.self, repeating: 0, count: Self.wordCount)
    unsafe handles = .allocate(capacity: threadCount)
    unsafe work = nil
  }

  func deallocate() {
    unsafe words.deallocate()
    unsafe handles.deallocate()
  }

  /// Counts forks; workers wait for it to change.
  fileprivate var forks: UnsafeMutablePointer<UInt32> { unsafe words }
  /// Counts workers that are not done; the caller waits for zero.
  fileprivate var working: UnsafeMutablePointer<UInt32> { unsafe words + 32 }
  /// Count the threads that sleep on `forks`, and on `working`.
  fileprivate var sleepingWorkers: UnsafeMutablePointer<UInt32> { unsafe words + 64 }
  fileprivate var sleepingCaller: UnsafeMutablePointer<UInt32> { unsafe words + 96 }
  /// Counts callers.
  fileprivate var callers: UnsafeMutablePointer<UInt32> { unsafe words + 128 }

  /// Lets the workers begin; `work` or `isStopping` has been written.
  fileprivate func fork() {
    unsafe cp_store(working, UInt32(truncatingIfNeeded: threadCount - 1))
    _ = unsafe cp_fetch_add(forks, 1)
    // A worker counts itself as asleep before it looks at `forks` a last time: either it sees this
    // fork, or this sees it.
    if unsafe cp_load(sleepingWorkers) > 0 { unsafe cp_futex_wake(forks, Int32.max) }
  }

  /// One worker is done; the last one wakes the caller.
  fileprivate func finish() {
    let before = unsafe cp_fetch_add(working, UInt32.max)
    if unsafe before == 1 && cp_load(sleepingCaller) > 0 { unsafe cp_futex_wake(working, 1) }
  }

  /// Waits until a word satisfies the condition.
  fileprivate func wait(
    on word: UnsafeMutablePointer<UInt32>, counting sleepers: UnsafeMutablePointer<UInt32>,
    until condition: (UInt32) -> Bool
  ) {
    var spins = 0
    while unsafe spins < spinCount {
      if unsafe condition(cp_load_acquire(word)) { return }
      cp_pause()
      spins += 1
    }
    _ = unsafe cp_fetch_add(sleepers, 1)
    while true {
      let value = unsafe cp_load(word)
      if condition(value) { break }
      unsafe cp_futex_wait(word, value)
    }
    _ = unsafe cp_fetch_add(sleepers, UInt32.max)
  }
}

/// What a new thread is told; it frees it.
@unsafe private struct Beginning {
  let pool: UnsafeMutablePointer<Pool>
  let index: Int
}

/// Starts a worker; nil where the system refuses.
private func startWorker(_ pool: UnsafeMutablePointer<Pool>, index: Int) -> UInt? {
  let beginning = UnsafeMutablePointer<Beginning>.allocate(capacity: 1)
  unsafe beginning.initialize(to: Beginning(pool: pool, index: index))
  var handle: UInt = 0
  let error = unsafe cp_thread_start(
    { argument in
      // The argument is the one below, and this thread its only user.
      guard let pointer = unsafe argument?.assumingMemoryBound(to: Beginning.self) else {
        return nil
      }
      let beginning = unsafe pointer.move()
      unsafe pointer.deallocate()
      unsafe live(beginning.pool, index: beginning.index)
      return nil
    }, beginning, &handle)
  if error == 0 { return handle }
  unsafe beginning.deinitialize(count: 1)
  unsafe beginning.deallocate()
  return nil
}

/// A worker's life. The work and the flag were written before the fork that it has seen.
private func live(_ pool: UnsafeMutablePointer<Pool>, index: Int) {
  var seen: UInt32 = 0
  while true {
    let last = seen
    unsafe pool.pointee.wait(on: pool.pointee.forks, counting: pool.pointee.sleepingWorkers) {
      $0 != last
    }
    // The next fork comes after this thread's finish: the count has grown by exactly one.
    seen = last &+ 1
    if unsafe pool.pointee.isStopping { return }
    if let work = unsafe pool.pointee.work {
      unsafe work.pointee.perform(thread: index, threadCount: pool.pointee.threadCount)
    }
    unsafe pool.pointee.finish()
  }
}

/// Has all threads of a pool, the caller's among them, perform their parts of the work.
func run(_ work: PoolWork, on pool: OpaquePointer) throws(CallError) {
  // The handle is one that `afm_pool_create` returned and nobody has destroyed.
  let pool = unsafe UnsafeMutablePointer<Pool>(pool)
  guard unsafe pool.pointee.threadCount > 1 else {
    return work.perform(thread: 0, threadCount: 1)
  }
  guard unsafe cp_fetch_add(pool.pointee.callers, 1) == 0 else {
    _ = unsafe cp_fetch_add(pool.pointee.callers, UInt32.max)
    throw .busy
  }
  // The work stays where it is until no worker is at it.
  unsafe withUnsafePointer(to: work) { pointer in
    unsafe pool.pointee.work = pointer
    unsafe pool.pointee.fork()
    unsafe work.perform(thread: 0, threadCount: pool.pointee.threadCount)
    unsafe pool.pointee.wait(on: pool.pointee.working, counting: pool.pointee.sleepingCaller) {
      $0 == 0
    }
    unsafe pool.pointee.work = nil
  }
  _ = unsafe cp_fetch_add(pool.pointee.callers, UInt32.max)
}

@c @implementation
package func afm_pool_create(
  _ threads: Int64, _ pool: UnsafeMutablePointer<OpaquePointer?>?
) -> afm_error {
  result { () throws(CallError) in
    guard let result = unsafe pool else { throw .null }
    unsafe result.pointee = nil
    let cores = Int(cp_available_core_count())
    let wanted = threads == 0 ? cores : try checked(threads, atMost: Limits.threads)
    // Threads that spin for each other's core are a thousand times slower.
    let count = min(wanted, cores, Limits.threads)
    let pool = UnsafeMutablePointer<Pool>.allocate(capacity: 1)
    unsafe pool.initialize(to: Pool(threadCount: count, spinCount: 20_000))
    var started = 1
    while started < count, let handle = unsafe startWorker(pool, index: started) {
      unsafe pool.pointee.handles[started] = handle
      started += 1
    }
    // Where the system refuses a thread, the pool is smaller; workers read the count at a call.
    unsafe pool.pointee.threadCount = started
    unsafe result.pointee = OpaquePointer(pool)
    if count > 1, started == 1 {
      unsafe afm_pool_destroy(result.pointee)
      unsafe result.pointee = nil
      throw .threads
    }
  }
}

@c @implementation
package func afm_pool_destroy(_ pool: OpaquePointer?) {
  guard let handle = unsafe pool else { return }
  let pool = unsafe UnsafeMutablePointer<Pool>(handle)
  unsafe pool.pointee.isStopping = true
  unsafe pool.pointee.fork()
  for index in unsafe 1..<pool.pointee.threadCount {
    unsafe cp_thread_join(pool.pointee.handles[index])
  }
  unsafe pool.pointee.deallocate()
  unsafe pool.deinitialize(count: 1)
  unsafe pool.deallocate()
}

@c @implementation
package func afm_pool_threads(_ pool: OpaquePointer?) -> Int64 {
  guard let pool = unsafe pool else { return 1 }
  return unsafe Int64(UnsafePointer<Pool>(pool).pointee.threadCount)
}
