import CPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a new thread is told; it frees it.
@unsafe private struct Beginning {
  let state: UnsafeMutablePointer<ThreadPoolState>
  let index: Int
}

/// Starts a worker; nil where the system refuses.
func startWorker(_ state: UnsafeMutablePointer<ThreadPoolState>, index: Int) -> pthread_t? {
  let beginning = UnsafeMutablePointer<Beginning>.allocate(capacity: 1)
  unsafe beginning.initialize(to: Beginning(state: state, index: index))
  var thread = pthread_t()
  let error = unsafe pthread_create(
    &thread, nil,
    { argument in
      // The argument is the one below, and this thread its only user.
      guard let pointer = unsafe argument?.assumingMemoryBound(to: Beginning.self) else {
        return nil
      }
      let beginning = unsafe pointer.move()
      unsafe pointer.deallocate()
      unsafe live(beginning.state, index: beginning.index)
      return nil
    }, beginning)
  if error == 0 { return thread }
  unsafe beginning.deinitialize(count: 1)
  unsafe beginning.deallocate()
  return nil
}

/// A worker's life.
private func live(_ state: UnsafeMutablePointer<ThreadPoolState>, index: Int) {
  // A refused pinning costs speed only.
  if unsafe state.pointee.isPinned { _ = cp_pin_to_core(Int32(truncatingIfNeeded: index)) }
  // No run has this number: nothing to take part in, nothing seen.
  var run = ThreadPoolState.Run(number: 0, partsPerThread: 0)
  while true {
    unsafe run = state.pointee.next(after: run, thread: index)
    if run.partsPerThread == 0 { return }
    unsafe state.pointee.performOwn(run, thread: index)
  }
}
