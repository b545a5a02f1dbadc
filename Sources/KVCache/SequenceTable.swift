import Synchronization
import TensorCore

/// The page tables of one sequence: which page of each group holds which positions.
///
/// Its thread reads them without a lock; whoever changes them, or reads them for an account, holds
/// the pool's lock.
@safe
final class SequenceTable: @unchecked Sendable {
  let groupCount: Int
  /// Pages that it has room for.
  let capacity: Int
  /// Positions stored.
  let positionCount = Atomic<Int>(0)
  /// Pages from the beginning to the end of the sequence, reserved ones included.
  var pageCount = 0
  // [group · capacity + index], −1 where the page was given back; then, [group], the first page
  // that is held. Inside `storage`, which lives as long as this.
  private let pages: UnsafeMutablePointer<Int32>
  private let firsts: UnsafeMutablePointer<Int32>
  private let storage: AlignedStorage

  init(groupCount: Int, capacity: Int) {
    self.groupCount = groupCount
    self.capacity = capacity
    storage = AlignedStorage(byteCount: (groupCount * (capacity + 1)) * 4)
    unsafe pages = storage.baseAddress.assumingMemoryBound(to: Int32.self)
    unsafe firsts = pages + groupCount * capacity
  }

  /// The page of the positions from `index` · page positions on; −1 where it was given back.
  @inline(__always)
  func page(_ index: Int, group: Int) -> Int32 {
    precondition(index >= 0 && index < pageCount && group < groupCount, "outside the page table")
    // Inside the group's part of the table.
    return unsafe pages[group * capacity + index]
  }

  func setPage(_ page: Int32, _ index: Int, group: Int) {
    precondition(index >= 0 && index < capacity && group < groupCount, "outside the page table")
    // Inside the group's part of the table.
    unsafe pages[group * capacity + index] = page
  }

  /// The first page that a group holds: 0, or the page where its window begins.
  func first(group: Int) -> Int {
    precondition(group < groupCount, "outside the page table")
    // One entry a group.
    return unsafe Int(firsts[group])
  }

  func setFirst(_ index: Int, group: Int) {
    precondition(group < groupCount, "outside the page table")
    // One entry a group.
    unsafe firsts[group] = Int32(index)
  }

  /// A group's part of the table, `pageCount` entries, for kernels that walk pages themselves.
  @unsafe func pages(group: Int) -> UnsafePointer<Int32> {
    precondition(group < groupCount, "outside the page table")
    return unsafe UnsafePointer(pages + group * capacity)
  }
}
