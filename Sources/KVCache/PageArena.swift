#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The address space of one group's pages.
///
/// It is as large as the whole budget, since any group may come to use all of it; memory becomes
/// resident page by page as it is written and goes back with `discard`, so that what all groups
/// have resident stays under the one budget. The system refuses what it could never hold.
@safe
struct PageArena: ~Copyable, @unchecked Sendable {
  // Mapped here, unmapped in deinit; pages inside it have one owner each.
  private let baseAddress: UnsafeMutableRawPointer?
  private let byteCount: Int
  private let pageByteCount: Int

  /// Room for `pageCount` pages, or for none where only the account is wanted.
  init(pageCount: Int, pageByteCount: Int, hasMemory: Bool) throws(CacheError) {
    self.pageByteCount = pageByteCount
    guard hasMemory else {
      unsafe baseAddress = nil
      byteCount = 0
      return
    }
    byteCount = pageCount * pageByteCount
    // A fresh private mapping at an address of the system's choice; failure is tested below.
    let address = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else {
      throw .noMemory(neededBytes: byteCount)
    }
    unsafe baseAddress = address
  }

  deinit {
    if let baseAddress = unsafe baseAddress { _ = unsafe munmap(baseAddress, byteCount) }
  }

  /// Whether pages can be read and written.
  var hasMemory: Bool { unsafe baseAddress != nil }

  /// The first byte of a page.
  @inline(__always)
  @unsafe func address(ofPage page: Int) -> UnsafeMutableRawPointer {
    guard let baseAddress = unsafe baseAddress else {
      preconditionFailure("a pool that only keeps accounts has no pages to read or write")
    }
    return unsafe baseAddress + page * pageByteCount
  }

  /// Gives a page's memory back to the system, the OS pages that lie wholly inside it; they read
  /// as zeros when they are touched again.
  func discard(page: Int) {
    guard let baseAddress = unsafe baseAddress else { return }
    let unit = 4096
    let start = (page * pageByteCount + unit - 1) / unit * unit
    let end = (page + 1) * pageByteCount / unit * unit
    guard start < end else { return }
    // The range lies inside a page that nobody holds.
    _ = unsafe madvise(baseAddress + start, end - start, MADV_DONTNEED)
  }
}
