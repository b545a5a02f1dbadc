import Synchronization

/// What happens where the system refuses memory that nothing can do without.
package enum MemoryRefusal {
  private static let handler = Mutex<(@Sendable (Int) -> Never)?>(nil)

  /// Has a program end in its own way, told how many bytes were refused; libraries leave it alone.
  package static func onRefusal(_ end: @escaping @Sendable (_ byteCount: Int) -> Never) {
    handler.withLock { $0 = end }
  }

  /// Ends the process.
  static func end(byteCount: Int) -> Never {
    if let end = handler.withLock({ $0 }) { end(byteCount) }
    fatalError("no memory for \(byteCount) bytes")
  }
}
