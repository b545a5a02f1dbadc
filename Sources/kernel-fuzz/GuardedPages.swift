#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Memory between two pages that end the process when they are touched.
@safe final class GuardedPages {
  private let mapping: UnsafeMutableRawPointer
  private let mappedByteCount: Int
  private let start: UnsafeMutableRawPointer
  let capacity: Int

  /// At least that many bytes; nil where the system has none.
  init?(capacity wanted: Int) {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    capacity = (wanted + page - 1) / page * page
    mappedByteCount = capacity + 2 * page
    guard
      let mapping = unsafe mmap(
        nil, mappedByteCount, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      unsafe mapping != MAP_FAILED
    else { return nil }
    unsafe self.mapping = mapping
    unsafe start = mapping + page
    guard unsafe mprotect(start, capacity, PROT_READ | PROT_WRITE) == 0 else { return nil }
  }

  deinit { unsafe munmap(mapping, mappedByteCount) }

  /// Some bytes that touch the page before them, or the page behind them.
  func place(_ byteCount: Int, atEnd: Bool) -> UnsafeMutableRawPointer {
    precondition(byteCount <= capacity, "more than the pages hold")
    return unsafe atEnd ? start + (capacity - byteCount) : start
  }
}
