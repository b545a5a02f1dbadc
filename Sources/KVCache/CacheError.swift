/// Why the cache could not do what it was asked; nothing was overwritten.
public enum CacheError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The budget does not hold one page of every group.
  case budgetTooSmall(limitBytes: Int, neededBytes: Int)
  /// The system has no address space for a budget.
  case noMemory(neededBytes: Int)
  /// The pool has too few pages that nobody holds.
  case full(limitPositions: Int, neededPositions: Int)
  /// The sequence was made for fewer positions.
  case contextExceeded(limitPositions: Int, neededPositions: Int)

  /// One line with the limit and the need.
  public var description: String {
    switch self {
    case .budgetTooSmall(let limit, let need):
      "the cache budget of \(limit) bytes does not hold one page of \(need) bytes"
    case .noMemory(let need):
      "the system does not give the cache \(need) bytes"
    case .full(let limit, let need):
      "the cache is full: room for \(limit) positions, \(need) needed"
    case .contextExceeded(let limit, let need):
      "the sequence has room for \(limit) positions, \(need) needed"
    }
  }
}
