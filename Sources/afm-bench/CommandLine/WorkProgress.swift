/// How far long work has come, with the time that is left by what its part so far took.
enum WorkProgress {
  /// Shows `37 %  blk.7.ffn_up.weight`, and how long the rest takes where that can be told.
  static func show(
    _ what: String, done: Int, total: Int, since start: ContinuousClock.Instant
  ) {
    let share = Double(done) / Double(max(total, 1))
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    // A hundredth of the work, or a second of it, says little about the rest.
    let left = share >= 0.01 && elapsed >= 1 ? elapsed * (1 - share) / share : nil
    Console.progress("\(Int(share * 100)) %  \(what)", secondsLeft: left)
  }
}
