import ModelFile

/// How long work takes yet, by how long its part so far has taken.
enum RemainingTime {
  /// `37 %  12 s left`; only the share where too little is done to tell.
  static func text(done: Int, total: Int, since start: ContinuousClock.Instant) -> String {
    let share = Double(done) / Double(max(total, 1))
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    guard share >= 0.01, elapsed >= 1 else { return "\(Int(share * 100)) %" }
    let left = Int((elapsed * (1 - share) / share).rounded())
    return "\(Int(share * 100)) %  \(left >= 120 ? "\(left / 60) min" : "\(left) s") left"
  }

  /// `37 %  12 s left  blk.7.ffn_up.weight`.
  static func line(
    _ progress: ModelPacker.Progress, since start: ContinuousClock.Instant
  ) -> String {
    text(done: progress.doneElementCount, total: progress.totalElementCount, since: start)
      + "  \(progress.tensor)"
  }
}
