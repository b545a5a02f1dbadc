import Synchronization
import TensorCore

/// All the pages that the sequences of an engine share, under one byte budget.
///
/// The memory is reserved once and becomes resident page by page as it is written; taking a page
/// and giving it back are O(1), allocate nothing and may happen on any thread.
public final class PagePool: Sendable {
  /// The shape of every page.
  public let geometry: CacheGeometry
  /// Pages under the budget.
  public let pageCount: Int

  private let storage: AlignedStorage
  private let free: Mutex<FreeList>

  private struct FreeList {
    var pages: [Int32]
    var highWaterMark = 0
  }

  /// Reserves as many whole pages as `byteBudget` holds; throws where it holds none.
  public init(geometry: CacheGeometry, byteBudget: Int) throws(CacheError) {
    let count = byteBudget / geometry.pageByteCount
    guard count >= 1 else {
      throw .budgetTooSmall(limitBytes: byteBudget, neededBytes: geometry.pageByteCount)
    }
    self.geometry = geometry
    pageCount = count
    storage = AlignedStorage(byteCount: count * geometry.pageByteCount)
    // Highest index first, so that pages are handed out in ascending order.
    free = Mutex(FreeList(pages: (0..<Int32(count)).reversed()))
  }

  /// Bytes of the pages that sequences hold now.
  public var allocatedBytes: Int {
    free.withLock { pageCount - $0.pages.count } * geometry.pageByteCount
  }

  /// The most bytes that sequences have held at one time.
  public var peakAllocatedBytes: Int {
    free.withLock { $0.highWaterMark } * geometry.pageByteCount
  }

  /// Takes `count` pages and appends their indices to `table`: all of them or, where the budget
  /// does not hold them, none. Returns whether it did.
  func take(_ count: Int, into table: inout [Int32]) -> Bool {
    free.withLock { list in
      guard list.pages.count >= count else { return false }
      for _ in 0..<count { table.append(list.pages.removeLast()) }
      list.highWaterMark = max(list.highWaterMark, pageCount - list.pages.count)
      return true
    }
  }

  /// Pages that nobody holds.
  var freePageCount: Int { free.withLock { $0.pages.count } }

  /// Gives the pages of `table` from index `first` on back to the pool.
  func give(back table: inout [Int32], from first: Int) {
    guard first < table.count else { return }
    free.withLock { list in
      while table.count > first { list.pages.append(table.removeLast()) }
    }
  }

  /// The first byte of a page. The pool outlives every sequence that holds one of its pages.
  func address(ofPage page: Int32) -> UnsafeMutableRawPointer {
    unsafe storage.baseAddress + Int(page) * geometry.pageByteCount
  }
}

/// Why the cache could not do what it was asked; nothing was overwritten.
public enum CacheError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The budget does not hold a single page.
  case budgetTooSmall(limitBytes: Int, neededBytes: Int)
  /// The pool has too few free pages.
  case full(limitPositions: Int, neededPositions: Int)

  /// One line with the limit and the need.
  public var description: String {
    switch self {
    case .budgetTooSmall(let limit, let need):
      "the cache budget of \(limit) bytes does not hold one page of \(need) bytes"
    case .full(let limit, let need):
      "the cache is full: room for \(limit) positions, \(need) needed"
    }
  }
}
