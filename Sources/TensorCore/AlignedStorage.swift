/// A block of aligned, zero-filled memory with one owner.
///
/// Every long-lived buffer of the project (weights, cache pages, scratch) is one of these, so that
/// its bytes are counted in one place and its lifetime is the owner's. Allocation is O(byteCount);
/// reading and writing go through spans, which cost nothing against raw pointers.
public struct AlignedStorage: ~Copyable, @unchecked Sendable {
  /// The first byte, aligned as asked for. Valid as long as this value lives.
  package let baseAddress: UnsafeMutableRawPointer

  /// The number of usable bytes.
  public let byteCount: Int

  /// Allocates `byteCount` zero bytes at an address that `alignment` (a power of two) divides.
  public init(byteCount: Int, alignment: Int = 64) {
    precondition(byteCount >= 0, "a negative byte count")
    self.byteCount = byteCount
    unsafe baseAddress = UnsafeMutableRawPointer.allocate(
      byteCount: Swift.max(byteCount, 1), alignment: alignment)
    unsafe baseAddress.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
  }

  deinit { unsafe baseAddress.deallocate() }

  /// The bytes, to read.
  public var bytes: RawSpan {
    @_lifetime(borrow self) get {
      // The storage outlives the span: it is bound to the borrow of `self`.
      let span = unsafe RawSpan(_unsafeStart: baseAddress, byteCount: byteCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The bytes, to write.
  public var mutableBytes: MutableRawSpan {
    @_lifetime(&self) mutating get {
      // Exclusive for as long as the mutation of `self` lasts.
      let span = unsafe MutableRawSpan(_unsafeStart: baseAddress, byteCount: byteCount)
      return unsafe _overrideLifetime(span, mutating: &self)
    }
  }
}
