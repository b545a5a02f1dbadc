import CPlatform

/// What the threads of a pool share; it lives until all of them have been joined.
///
/// A run is over when all of its parts are done, whoever did them: nobody waits for a thread that
/// has not begun. So a thread may look in late, during a later run or between two. What keeps it
/// from harm: parts are taken by replacing a word that has the number of the run in it, and while a
/// taken part is not done, its run cannot end. What the run's work is, is read after that.
@unsafe package struct ForkJoinState {
  /// One run, as the word `current` has it.
  package struct Run {
    /// Counts runs, and wraps around.
    var number: UInt32
    /// 0 says that the pool is stopping.
    var partsPerThread: Int

    init(number: UInt32, partsPerThread: Int) {
      self.number = number
      self.partsPerThread = partsPerThread
    }

    init(word: UInt64) {
      number = UInt32(truncatingIfNeeded: word)
      partsPerThread = Int(truncatingIfNeeded: word &>> 32)
    }

    var word: UInt64 { UInt64(truncatingIfNeeded: partsPerThread) &<< 32 | UInt64(number) }
  }

  /// The work of a run, the function that performs its parts, and the number of threads.
  @unsafe private struct Assignment {
    var work: UnsafeRawPointer?
    var perform: ForkJoinPool.Part?
    var threadCount: Int
  }

  let spinCount: Int
  let isPinned: Bool
  /// 128 bytes a place, since neighbouring cache lines are fetched in pairs: four words, and then
  /// one for the parts of each thread.
  private let places: UnsafeMutableRawPointer
  /// That of the current run: the caller writes it before it forks, when no part is to be done.
  private let assignment: UnsafeMutablePointer<Assignment>

  package init(threadCount: Int, spinCount: Int, isPinned: Bool) {
    unsafe self.spinCount = spinCount
    unsafe self.isPinned = isPinned
    let byteCount = (4 + threadCount) * 128
    unsafe places = .allocate(byteCount: byteCount, alignment: 128)
    unsafe places.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    unsafe assignment = .allocate(capacity: 1)
    unsafe assignment.initialize(to: Assignment(work: nil, perform: nil, threadCount: threadCount))
  }

  package func deallocate() {
    unsafe places.deallocate()
    unsafe assignment.deinitialize(count: 1)
    unsafe assignment.deallocate()
  }

  /// The threads of a run. It may be lowered before the first run, as long as that is to come.
  var threadCount: Int {
    get { unsafe assignment.pointee.threadCount }
    nonmutating set { unsafe assignment.pointee.threadCount = newValue }
  }

  // All inside the allocation. The lower half of `current` is what sleeping workers wait on; the
  // byte order is little-endian wherever there are futexes that we run on.

  /// The run that has been forked last.
  private var current: UnsafeMutablePointer<UInt64> {
    unsafe places.assumingMemoryBound(to: UInt64.self)
  }
  private var currentNumber: UnsafeMutablePointer<UInt32> {
    unsafe places.assumingMemoryBound(to: UInt32.self)
  }
  /// Counts the current run's parts that are not done; the caller waits for zero.
  private var pending: UnsafeMutablePointer<UInt32> {
    unsafe (places + 128).assumingMemoryBound(to: UInt32.self)
  }
  /// Counts the threads that sleep on `current`, and on `pending`.
  private var sleepingWorkers: UnsafeMutablePointer<UInt32> {
    unsafe (places + 256).assumingMemoryBound(to: UInt32.self)
  }
  private var sleepingCaller: UnsafeMutablePointer<UInt32> {
    unsafe (places + 384).assumingMemoryBound(to: UInt32.self)
  }
  /// The parts of a thread's range that have been taken, behind the number of their run. An older
  /// number means that none has: all parts of an older run were taken, and that run is over.
  private func taken(_ thread: Int) -> UnsafeMutablePointer<UInt64> {
    unsafe (places + (4 &+ thread) &* 128).assumingMemoryBound(to: UInt64.self)
  }

  /// Lets the workers begin.
  package func fork(
    _ work: UnsafeRawPointer, _ perform: @escaping ForkJoinPool.Part, partsPerThread: Int
  ) -> Run {
    unsafe assignment.pointee.work = work
    unsafe assignment.pointee.perform = unsafe perform
    unsafe cp_store(pending, UInt32(truncatingIfNeeded: threadCount &* partsPerThread))
    return unsafe publish(partsPerThread: partsPerThread)
  }

  /// Ends the workers.
  func stop() { _ = unsafe publish(partsPerThread: 0) }

  private func publish(partsPerThread: Int) -> Run {
    let last = unsafe Run(word: cp_load64_acquire(current))
    let run = Run(number: last.number &+ 1, partsPerThread: partsPerThread)
    unsafe cp_store64(current, run.word)
    // A worker counts itself as asleep before it looks at `current` a last time: either it sees
    // this run, or this sees it.
    if unsafe cp_load(sleepingWorkers) > 0 { unsafe cp_futex_wake(currentNumber, Int32.max) }
    return run
  }

  /// Has thread 0 wait until every part is done.
  package func wait(for run: Run) {
    if unsafe cp_load_acquire(pending) == 0 { return }
    let done = unsafe spin(run, thread: 0) { unsafe cp_load_acquire(pending) == 0 }
    if done { return }
    _ = unsafe cp_fetch_add(sleepingCaller, 1)
    while true {
      let value = unsafe cp_load(pending)
      if value == 0 { break }
      unsafe cp_futex_wait(pending, value)
    }
    _ = unsafe cp_fetch_add(sleepingCaller, UInt32.max)
  }

  /// A worker's wait for another run than the last one that it has seen.
  func next(after last: Run, thread: Int) -> Run {
    @inline(__always) func isNew() -> Bool {
      unsafe Run(word: cp_load64_acquire(current)).number != last.number
    }
    if unsafe !spin(last, thread: thread, until: isNew) {
      _ = unsafe cp_fetch_add(sleepingWorkers, 1)
      while true {
        let number = unsafe cp_load(currentNumber)
        if number != last.number { break }
        unsafe cp_futex_wait(currentNumber, number)
      }
      _ = unsafe cp_fetch_add(sleepingWorkers, UInt32.max)
    }
    return unsafe Run(word: cp_load64_acquire(current))
  }

  /// Spins until the condition holds; false where it still did not at the end. Now and then it
  /// looks for parts of the run that nobody has begun, which in a quiet machine are none by then.
  private func spin(_ run: Run, thread: Int, until condition: () -> Bool) -> Bool {
    var spins = 0
    while unsafe spins < spinCount {
      if condition() { return true }
      cp_pause()
      spins &+= 1
      if spins & 63 == 0, unsafe cp_load_acquire(pending) > 0 {
        unsafe performOthers(run, thread: thread)
      }
    }
    unsafe performOthers(run, thread: thread)
    return condition()
  }

  /// Performs the parts of a thread's own range.
  package func performOwn(_ run: Run, thread: Int) {
    unsafe finish(perform(run, rangeOf: thread, thread: thread))
  }

  /// Performs what is left of other threads' ranges, beginning behind the own one.
  private func performOthers(_ run: Run, thread: Int) {
    var other = thread
    while true {
      other = unsafe other &+ 1 < threadCount ? other &+ 1 : 0
      if other == thread { return }
      unsafe finish(perform(run, rangeOf: other, thread: thread))
    }
  }

  /// Counts parts as done; the last one wakes the caller.
  private func finish(_ count: UInt32) {
    guard count > 0 else { return }
    let before = unsafe cp_fetch_add(pending, 0 &- count)
    if unsafe before == count && cp_load(sleepingCaller) > 0 { unsafe cp_futex_wake(pending, 1) }
  }

  /// Takes and performs the parts that are left of one thread's range; returns how many.
  private func perform(_ run: Run, rangeOf owner: Int, thread: Int) -> UInt32 {
    var count: UInt32 = 0
    while let index = unsafe take(run, from: owner) {
      // The part that has been taken keeps the run from ending: these are the run's own.
      let partsPerThread = run.partsPerThread
      if let work = unsafe assignment.pointee.work,
        let perform = unsafe assignment.pointee.perform
      {
        unsafe perform(
          work, owner &* partsPerThread &+ index, threadCount &* partsPerThread, thread)
      }
      count &+= 1
    }
    return count
  }

  /// The next part of a thread's range in a run; nil where there is none, or the run is over.
  private func take(_ run: Run, from owner: Int) -> Int? {
    let taken = unsafe taken(owner)
    while true {
      let word = unsafe cp_load64_acquire(taken)
      let age = Int32(bitPattern: UInt32(truncatingIfNeeded: word &>> 32) &- run.number)
      let index = age < 0 ? 0 : Int(truncatingIfNeeded: word & 0xFFFF_FFFF)
      guard age <= 0, index < run.partsPerThread else { return nil }
      let replacement =
        UInt64(run.number) &<< 32 | UInt64(truncatingIfNeeded: index &+ 1)
      if unsafe cp_replace64(taken, word, replacement) { return index }
    }
  }
}
