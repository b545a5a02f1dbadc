/// Numbers and buffers as callers pass them, checked before anything is done with them.

/// The largest numbers that are accepted: with them no byte count overflows.
enum Limits {
  static var rows: Int { 1 << 31 }
  /// The most columns whose integer sums are exact.
  static var columns: Int { 1 << 17 }
  static var tokens: Int { 1 << 24 }
  static var threads: Int { 1 << 12 }
}

/// A positive number that is not beyond a limit.
func checked(_ number: Int64, atMost limit: Int) throws(CallError) -> Int {
  guard number > 0 else { throw .notPositive }
  guard number <= limit else { throw .tooLarge }
  return Int(truncatingIfNeeded: number)
}

/// The bytes of memory that a call reads or writes.
@safe struct MemoryRange {
  let base: UnsafeRawPointer
  let byteCount: Int

  /// The first `needed` bytes of a caller's buffer.
  init(
    _ pointer: UnsafeRawPointer?, byteCount: Int, needed: Int, alignment: UInt
  ) throws(CallError) {
    guard let pointer = unsafe pointer else { throw .null }
    // C's sizes have no sign.
    guard UInt(bitPattern: byteCount) >= UInt(bitPattern: needed) else { throw .shortBuffer }
    guard UInt(bitPattern: pointer) % alignment == 0 else { throw .alignment }
    unsafe base = pointer
    self.byteCount = needed
  }

  /// Throws where a byte belongs to both.
  func requireDisjoint(from other: MemoryRange) throws(CallError) {
    let (a, b) = unsafe (UInt(bitPattern: base), UInt(bitPattern: other.base))
    guard a &+ UInt(bitPattern: byteCount) <= b || b &+ UInt(bitPattern: other.byteCount) <= a
    else { throw .overlap }
  }

  /// The same memory, to write to: the caller lent it for that.
  var mutableBase: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(mutating: base) }
}

/// The bytes of rows of floats that begin every `stride` floats, without what follows the last row.
func floatRowBytes(_ rows: Int, of columns: Int, stride: Int64) throws(CallError) -> Int {
  guard stride > 0 else { throw .notPositive }
  guard let stride = Int(exactly: stride) else { throw .tooLarge }
  guard stride >= columns else { throw .shortBuffer }
  let (before, isTooLong) = stride.multipliedReportingOverflow(by: rows - 1)
  let (floats, isTooLarge) = before.addingReportingOverflow(columns)
  let (bytes, isTooMuch) = floats.multipliedReportingOverflow(by: 4)
  guard !isTooLong, !isTooLarge, !isTooMuch else { throw .tooLarge }
  return bytes
}

/// The next multiple of 64.
func roundedToLine(_ byteCount: Int) -> Int { (byteCount + 63) & ~63 }
