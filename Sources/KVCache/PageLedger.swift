/// Who holds which page: reference counts, free pages, cached prefixes and the bytes of it all.
///
/// One value a pool, behind its lock. Pages are numbered across groups: number = index · groups +
/// group. All arrays have their room from the start, so that nothing here allocates later, except
/// in a pool without memory whose budget has no practical end.
struct PageLedger {
  let groupCount: Int
  let budgetBytes: Int
  let pageByteCounts: [Int]
  private(set) var groups: [FreePages]
  /// [page number].
  private var records: [PageRecord] = []
  var prefixes: PrefixIndex
  /// Unreferenced pages of prefixes, least recently used first: a child before its parent.
  private var oldest: Int32 = -1
  private var newest: Int32 = -1
  /// The tables of the live sequences, for accounts.
  var tables: [SequenceTable] = []

  /// Bytes of pages that sequences hold, each page once.
  private(set) var heldBytes = 0
  private(set) var peakHeldBytes = 0
  /// Bytes of pages that only the prefix index knows.
  private(set) var cachedBytes = 0
  /// For every page, its bytes times the holders after the first.
  private(set) var sharedBytes = 0
  /// Bytes of pages that have memory: held, cached, and free ones that were used before.
  private(set) var residentBytes = 0
  /// Pages whose memory the pool has yet to give back to the system.
  var discards: [(group: Int, page: Int32)] = []
  /// Prefix pages given up for want of room.
  private(set) var evictedPageCount = 0

  /// A group's pages that nobody holds and no prefix keeps.
  struct FreePages {
    /// Used before, their memory still there.
    var resident: [Int32] = []
    /// Used before, their memory given back.
    var discarded: [Int32] = []
    /// The first index that was never used.
    var fresh: Int32 = 0
  }

  private struct PageRecord {
    var holders: Int32 = 0
    /// The node of the prefix index that it belongs to, or −1.
    var node: Int32 = -1
    var older: Int32 = -1
    var newer: Int32 = -1
  }

  /// `pageCounts` is how many pages of each group the budget holds; `reservesRoom` whether to make
  /// room for all of them now, up to a million.
  init(layout: CacheLayout, budgetBytes: Int, pageCounts: [Int], reservesRoom: Bool) {
    groupCount = layout.groups.count
    self.budgetBytes = budgetBytes
    pageByteCounts = layout.groups.map { $0.geometry.pageByteCount }
    groups = Array(repeating: FreePages(), count: groupCount)
    let room = reservesRoom ? min(pageCounts.max() ?? 0, Self.roomLimit) : 0
    prefixes = PrefixIndex(
      keepsAllPages: layout.groups.map { $0.window == nil }, pagePositions: layout.pagePositions,
      capacity: room)
    for index in groups.indices {
      groups[index].resident.reserveCapacity(room)
      groups[index].discarded.reserveCapacity(room)
    }
    records.reserveCapacity(room * groupCount)
    discards.reserveCapacity(room * groupCount)
  }

  /// Pages that there is room for from the start: larger pools grow their ledger as they fill.
  private static var roomLimit: Int { 1 << 20 }

  /// Bytes that sequences can still get: everything that none of them holds.
  var availableBytes: Int { budgetBytes - heldBytes }

  private func number(_ page: Int32, _ group: Int) -> Int { Int(page) * groupCount + group }

  // MARK: - Holding

  /// A page for one holder; the caller has seen that `availableBytes` covers it.
  mutating func take(group: Int) -> Int32 {
    let bytes = pageByteCounts[group]
    var page: Int32 = -1
    while page < 0 {
      if let last = groups[group].resident.popLast() {
        page = last
      } else if residentBytes + bytes <= budgetBytes {
        if let last = groups[group].discarded.popLast() {
          page = last
        } else {
          page = groups[group].fresh
          groups[group].fresh += 1
          while records.count <= number(page, group) { records.append(PageRecord()) }
        }
        residentBytes += bytes
      } else {
        makeRoom(forGroup: group)
      }
    }
    records[number(page, group)].holders = 1
    heldBytes += bytes
    peakHeldBytes = max(peakHeldBytes, heldBytes)
    return page
  }

  /// One step towards room for a page: memory of another group's free page, else the page of a
  /// prefix that was not used for the longest time.
  private mutating func makeRoom(forGroup group: Int) {
    for other in groups.indices where other != group {
      if let page = groups[other].resident.popLast() {
        groups[other].discarded.append(page)
        residentBytes -= pageByteCounts[other]
        discards.append((other, page))
        return
      }
    }
    precondition(evictOldest(), "the caller saw that there is room")
  }

  /// One more holder of a page; a cached one is held again.
  mutating func retain(_ page: Int32, group: Int) {
    let index = number(page, group)
    if records[index].holders == 0 {
      unlink(index)
      cachedBytes -= pageByteCounts[group]
      heldBytes += pageByteCounts[group]
      peakHeldBytes = max(peakHeldBytes, heldBytes)
    } else {
      sharedBytes += pageByteCounts[group]
    }
    records[index].holders += 1
  }

  /// One holder less: without any, a page of a prefix stays cached, another is free.
  mutating func release(_ page: Int32, group: Int) {
    let index = number(page, group)
    precondition(records[index].holders > 0, "a page is released that nobody holds")
    records[index].holders -= 1
    guard records[index].holders == 0 else {
      sharedBytes -= pageByteCounts[group]
      return
    }
    heldBytes -= pageByteCounts[group]
    if records[index].node >= 0 {
      cachedBytes += pageByteCounts[group]
      link(index)
    } else {
      groups[group].resident.append(page)
    }
  }

  func holders(_ page: Int32, group: Int) -> Int { Int(records[number(page, group)].holders) }

  /// The prefix node that a page belongs to, or −1.
  func node(_ page: Int32, group: Int) -> Int32 { records[number(page, group)].node }

  // MARK: - Prefixes

  /// Makes a held page part of a prefix node, or takes it out (−1).
  mutating func setNode(_ node: Int32, ofPage page: Int32, group: Int) {
    records[number(page, group)].node = node
  }

  /// Gives up the prefix page that was not used for the longest time. False where there is none.
  mutating func evictOldest() -> Bool {
    guard oldest >= 0 else { return false }
    let group = Int(oldest) % groupCount
    let page = oldest / Int32(groupCount)
    let node = records[Int(oldest)].node
    evict(page, group: group, node: node)
    // Without its page in a group that keeps everything a node leads nowhere.
    if !prefixes.isUseful(node) { remove(node) }
    return true
  }

  /// Takes a node out of the index. Its cached pages become free, its held ones private.
  mutating func remove(_ node: Int32) {
    for group in 0..<groupCount {
      let page = prefixes.page(node, group: group)
      guard page >= 0 else { continue }
      if records[number(page, group)].holders == 0 {
        evict(page, group: group, node: node)
      } else {
        prefixes.setPage(-1, node, group: group)
        records[number(page, group)].node = -1
      }
    }
    prefixes.remove(node)
  }

  private mutating func evict(_ page: Int32, group: Int, node: Int32) {
    let index = number(page, group)
    unlink(index)
    cachedBytes -= pageByteCounts[group]
    evictedPageCount += 1
    records[index].node = -1
    prefixes.setPage(-1, node, group: group)
    groups[group].resident.append(page)
  }

  // MARK: - The list of cached pages

  private mutating func link(_ index: Int) {
    records[index].older = newest
    records[index].newer = -1
    if newest >= 0 { records[Int(newest)].newer = Int32(index) } else { oldest = Int32(index) }
    newest = Int32(index)
  }

  private mutating func unlink(_ index: Int) {
    let (older, newer) = (records[index].older, records[index].newer)
    if older >= 0 { records[Int(older)].newer = newer } else { oldest = newer }
    if newer >= 0 { records[Int(newer)].older = older } else { newest = older }
    records[index].older = -1
    records[index].newer = -1
  }
}
