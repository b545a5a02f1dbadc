import ArgumentParser

/// The most that a command line may ask for: far above what any model or machine here can do, and
/// far below where sums and buffers would overflow.
enum Limits {
  /// Tokens of a prompt, an answer, a budget, a batch or a depth; contexts end at 32,768.
  static let tokens = 1 << 20
  static let repetitions = 1_000_000
  static let threads = 1_024
  /// Sessions that are decoded together.
  static let sessions = 256
  /// Combinations of lengths and depths in one run.
  static let tests = 10_000

  /// Throws a usage error where `value` is outside 1…`limit`.
  static func check(_ value: Int, upTo limit: Int, option: String) throws {
    guard value >= 1 else { throw ValidationError("\(option) must be at least 1.") }
    guard value <= limit else { throw ValidationError("\(option) must be at most \(limit).") }
  }
}
