import CPlatform
import CQuantKernels
import ForkJoin

/// What a pool's threads do together in one call.
enum PoolWork {
  case quantization(QuantizationWork)
  case product(ProductWork)

  func perform(part: Int, of partCount: Int, thread: Int) {
    switch self {
    case .quantization(let work): work.perform(part: part, of: partCount)
    case .product(let work): work.perform(part: part, of: partCount, thread: thread)
    }
  }

  func partsPerThread(threadCount: Int) -> Int {
    switch self {
    case .quantization: 1
    case .product(let work):
      ForkJoinPool.partsPerThread(
        codeBytes: work.codeBytes, tokenCount: work.tokenCount, threadCount: threadCount)
    }
  }
}

/// One part of the work at an address.
private func perform(_ work: UnsafeRawPointer, part: Int, partCount: Int, thread: Int) {
  unsafe work.assumingMemoryBound(to: PoolWork.self).pointee
    .perform(part: part, of: partCount, thread: thread)
}

/// What `afm_pool` is: threads, and the count of those who call.
@safe struct Pool {
  let threads: ForkJoinPool
  /// Counts callers.
  var callers: UInt32 = 0

  init(threads: ForkJoinPool) { self.threads = threads }
}

/// Has all threads of a pool, the caller's among them, perform their parts of the work.
func run(_ work: PoolWork, on pool: OpaquePointer) throws(CallError) {
  // The handle is one that `afm_pool_create` returned and nobody has destroyed.
  let pool = unsafe UnsafeMutablePointer<Pool>(pool)
  let threadCount = unsafe pool.pointee.threads.threadCount
  // A forked process has no threads, and may have copied a caller who will never be done.
  guard threadCount > 1 else { return work.perform(part: 0, of: 1, thread: 0) }
  guard unsafe cp_fetch_add(&pool.pointee.callers, 1) == 0 else {
    _ = unsafe cp_fetch_add(&pool.pointee.callers, UInt32.max)
    throw .busy
  }
  // The work stays where it is until all of its parts are done.
  unsafe withUnsafePointer(to: work) { pointer in
    _ = unsafe pool.pointee.threads.run(
      pointer, perform, partsPerThread: work.partsPerThread(threadCount: threadCount))
  }
  _ = unsafe cp_fetch_add(&pool.pointee.callers, UInt32.max)
}

/// A caller's options, checked.
private struct PoolOptions {
  var threads: Int64 = 0
  var isPolite = false
  var isOversubscribed = false
  var isPinned = false

  init(threads: Int64) { self.threads = threads }

  init(_ options: UnsafePointer<afm_pool_options>?) throws(CallError) {
    guard let options = unsafe options?.pointee else { return }
    threads = options.threads
    switch options.waiting {
    case 0: break
    case 1: isPolite = true
    default: throw .option
    }
    guard options.reserved == 0 else { throw .option }
    isOversubscribed = options.oversubscribe != 0
    isPinned = options.pin != 0
  }
}

/// Starts a pool and stores its handle.
private func createPool(
  _ options: PoolOptions, _ result: UnsafeMutablePointer<OpaquePointer?>
) throws(CallError) {
  let cores = Int(cp_available_core_count())
  let wanted = options.threads == 0 ? cores : try checked(options.threads, atMost: Limits.threads)
  let count = min(wanted, options.isOversubscribed ? Limits.threads : cores)
  // A spinning thread without a core of its own keeps the one that it waits for from running.
  let pauses =
    count > cores
    ? 0 : options.isPolite ? ForkJoinPool.politePauses : ForkJoinPool.spinningPauses
  let threads = ForkJoinPool(
    threadCount: count, spinCount: pauses, isPinned: options.isPinned)
  // Where the system refuses a thread, the pool is smaller.
  if count > 1, threads.threadCount == 1 {
    threads.end()
    throw .threads
  }
  let pool = UnsafeMutablePointer<Pool>.allocate(capacity: 1)
  unsafe pool.initialize(to: Pool(threads: threads))
  unsafe result.pointee = OpaquePointer(pool)
}

@c @implementation
package func afm_pool_create(
  _ threads: Int64, _ pool: UnsafeMutablePointer<OpaquePointer?>?
) -> afm_error {
  result { () throws(CallError) in
    guard let pool = unsafe pool else { throw .null }
    unsafe pool.pointee = nil
    try unsafe createPool(PoolOptions(threads: threads), pool)
  }
}

@c @implementation
package func afm_pool_create_with(
  _ options: UnsafePointer<afm_pool_options>?, _ pool: UnsafeMutablePointer<OpaquePointer?>?
) -> afm_error {
  result { () throws(CallError) in
    guard let pool = unsafe pool else { throw .null }
    unsafe pool.pointee = nil
    try unsafe createPool(PoolOptions(options), pool)
  }
}

@c @implementation
package func afm_pool_destroy(_ pool: OpaquePointer?) {
  guard let handle = unsafe pool else { return }
  let pool = unsafe UnsafeMutablePointer<Pool>(handle)
  unsafe pool.pointee.threads.end()
  unsafe pool.deinitialize(count: 1)
  unsafe pool.deallocate()
}

@c @implementation
package func afm_pool_threads(_ pool: OpaquePointer?) -> Int64 {
  guard let pool = unsafe pool else { return 1 }
  return unsafe Int64(UnsafePointer<Pool>(pool).pointee.threads.threadCount)
}
