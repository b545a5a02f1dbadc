import Synchronization

/// All the pages that the sequences of an engine share, under one byte budget.
///
/// One budget serves every group of a layout: each group has address space for all of it, pages of
/// any group count with their own bytes, and memory that one group no longer uses goes back to the
/// system before another's would exceed the budget. Memory becomes resident page by page as it is
/// written. Taking a page and giving it back happen once in `pagePositions` tokens, are O(1) a
/// page, allocate nothing and may happen on any thread.
public final class PagePool: Sendable {
  /// What the pages look like, and which layer reads which store.
  public let layout: CacheLayout
  /// What the pool may take.
  public let byteBudget: Int
  /// The tier that its account is shown under; nothing depends on it.
  public let tier: String
  /// Whole pages of every group that the budget holds.
  public let pageCount: Int

  private let arenas: [Arena]
  let ledger: Mutex<PageLedger>

  /// Whether pages can be written.
  public enum Backing: Hashable, Sendable {
    /// Pages are memory.
    case memory
    /// Pages are only counted: for replays of workloads that no machine here could hold. The
    /// budget may be anything, `Int.max` included.
    case accountOnly
  }

  private final class Arena: Sendable {
    let pages: PageArena
    init(_ pages: consuming PageArena) { self.pages = pages }
  }

  /// A pool under a budget; throws where it does not hold one page of every group.
  public init(
    layout: CacheLayout, byteBudget: Int, tier: String = "", backing: Backing = .memory
  ) throws(CacheError) {
    guard byteBudget >= layout.pageByteCount else {
      throw .budgetTooSmall(limitBytes: byteBudget, neededBytes: layout.pageByteCount)
    }
    let budget = min(byteBudget, Int.max / 4)
    self.layout = layout
    self.byteBudget = budget
    self.tier = tier
    pageCount = budget / layout.pageByteCount
    // Page numbers, across groups, have 31 bits.
    let limit = Int(Int32.max) / layout.groups.count
    let counts = layout.groups.map { min(limit, budget / $0.geometry.pageByteCount) }
    var arenas: [Arena] = []
    for (group, count) in zip(layout.groups, counts) {
      arenas.append(
        Arena(
          try PageArena(
            pageCount: count, pageByteCount: group.geometry.pageByteCount,
            hasMemory: backing == .memory)))
    }
    self.arenas = arenas
    ledger = Mutex(
      PageLedger(
        layout: layout, budgetBytes: budget, pageCounts: counts,
        reservesRoom: backing == .memory))
  }

  /// A pool of one group, with a store for every layer.
  public convenience init(geometry: CacheGeometry, byteBudget: Int) throws(CacheError) {
    try self.init(layout: CacheLayout(geometry: geometry), byteBudget: byteBudget)
  }

  /// The shape of the pages of a one-group pool.
  public var geometry: CacheGeometry { layout.groups[0].geometry }

  /// Bytes taken from the budget: pages that sequences hold, and cached prefixes.
  public var allocatedBytes: Int { ledger.withLock { $0.heldBytes + $0.cachedBytes } }

  /// The most bytes that sequences have held at one time.
  public var peakAllocatedBytes: Int { ledger.withLock { $0.peakHeldBytes } }

  /// Pages of prefixes, of any group, given up so far because a sequence needed room.
  public var evictedPageCount: Int { ledger.withLock { $0.evictedPageCount } }

  /// How many of the first positions of `tokens` the pool has already, in whole pages.
  public func matchedPositions(_ tokens: ArraySlice<Int32>, identity: PrefixIdentity) -> Int {
    ledger.withLock {
      $0.match(tokens, identity: identity, layout: layout).count * layout.pagePositions
    }
  }

  /// Gives up every prefix that no sequence holds.
  public func evictCachedPrefixes() {
    ledger.withLock { while $0.evictOldest() {} }
  }

  /// The first byte of a page. The pool outlives every sequence that holds one of its pages.
  @inline(__always)
  @unsafe func address(ofPage page: Int32, group: Int) -> UnsafeMutableRawPointer {
    unsafe arenas[group].pages.address(ofPage: Int(page))
  }

  /// A page for one holder, with what the ledger takes for it given back to the system before
  /// anybody writes; the caller has seen that there is room.
  func take(group: Int, from ledger: inout PageLedger) -> Int32 {
    let page = ledger.take(group: group)
    while let (group, page) = ledger.discards.popLast() {
      arenas[group].pages.discard(page: Int(page))
    }
    return page
  }

  /// Copies a page; both have a holder who waits for it.
  func copy(page source: Int32, to destination: Int32, group: Int) {
    guard arenas[group].pages.hasMemory else { return }
    // Two different pages of one arena.
    unsafe address(ofPage: destination, group: group).copyMemory(
      from: address(ofPage: source, group: group),
      byteCount: layout.groups[group].geometry.pageByteCount)
  }
}

extension PagePool {
  /// The account of this moment: exact, over all live sequences. O(pages); allocates.
  public var usage: PoolUsage {
    ledger.withLock { ledger in
      var held = CacheUsage()
      for (index, group) in layout.groups.enumerated() {
        add(group, index, ledger: ledger, to: &held)
      }
      held.allocatedBytes = ledger.heldBytes
      held.sharedBytes = ledger.sharedBytes
      return PoolUsage(
        tier: tier, budgetBytes: byteBudget, held: held, cachedBytes: ledger.cachedBytes)
    }
  }

  /// Adds what is stored in a group, in each page once: from the first to the last position that
  /// one of its holders can see.
  private func add(
    _ group: CacheGroup, _ index: Int, ledger: PageLedger, to usage: inout CacheUsage
  ) {
    let geometry = group.geometry
    let pagePositions = layout.pagePositions
    var shared: [Int32: Range<Int>] = [:]
    for table in ledger.tables {
      let count = table.positionCount.load(ordering: .relaxed)
      let first = group.firstVisible(positions: count)
      usage.idealBytes += (count - first) * geometry.idealBytesPerPosition
      // A sequence that changes just now may have let go of pages that its count still covers.
      let pageCount = min(table.pageCount, layout.pageCount(positions: count))
      for page in table.first(group: index)..<max(table.first(group: index), pageCount) {
        let start = max(first, page * pagePositions) - page * pagePositions
        let end = min(count, (page + 1) * pagePositions) - page * pagePositions
        let number = table.page(page, group: index)
        guard start < end, number >= 0 else { continue }
        if ledger.holders(number, group: index) == 1 {
          usage.addUsed(geometry, positions: end - start)
        } else if let other = shared[number] {
          shared[number] = min(other.lowerBound, start)..<max(other.upperBound, end)
        } else {
          shared[number] = start..<end
        }
      }
    }
    for range in shared.values { usage.addUsed(geometry, positions: range.count) }
  }
}
