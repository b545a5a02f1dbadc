#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A block of aligned, zero-filled memory with one owner.
///
/// Every long-lived buffer of the project (weights, cache pages, scratch) is one of these, so that
/// its bytes are counted in one place and its lifetime is the owner's. Blocks of a mebibyte and
/// more are mapped: they cost no resident memory until they are touched, and go back to the system
/// when they are freed. Smaller ones come from the heap and cost O(byteCount). Reading and writing
/// go through spans, which cost nothing against raw pointers.
@safe
public struct AlignedStorage: ~Copyable, @unchecked Sendable {
  /// The first byte, 64-byte aligned. Valid as long as this value lives.
  package let baseAddress: UnsafeMutableRawPointer

  /// The number of usable bytes.
  public let byteCount: Int

  private let isMapped: Bool

  private static var mappingThreshold: Int { 1 << 20 }

  /// Holds `byteCount` zero bytes at an address that 64 divides.
  ///
  /// `prefersHugePages` asks the system for huge pages under a mapped block: fewer address
  /// translations for memory that is read from end to end, such as weights.
  /// Traps where the machine has no memory left, as every Swift allocation does, unless the program
  /// has another end for that (`MemoryRefusal`).
  public init(byteCount: Int, prefersHugePages: Bool = false) {
    precondition(byteCount >= 0, "a negative byte count")
    self.byteCount = byteCount
    isMapped = byteCount >= Self.mappingThreshold
    if isMapped {
      let address = unsafe mmap(
        nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let address = unsafe address, unsafe address != MAP_FAILED else {
        MemoryRefusal.end(byteCount: byteCount)
      }
      unsafe baseAddress = address
      if prefersHugePages { _ = unsafe madvise(address, byteCount, MADV_HUGEPAGE) }
    } else {
      unsafe baseAddress = UnsafeMutableRawPointer.allocate(
        byteCount: Swift.max(byteCount, 1), alignment: 64)
      unsafe baseAddress.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }
  }

  deinit {
    // The address and the length are those of the initialiser; nobody else frees them.
    if isMapped {
      _ = unsafe munmap(baseAddress, byteCount)
    } else {
      unsafe baseAddress.deallocate()
    }
  }

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
