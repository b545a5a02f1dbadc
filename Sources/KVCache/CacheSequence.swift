import Synchronization

/// One sequence's place in the cache: its page tables and the number of its positions.
///
/// Appending is two steps: `reserve` takes the pages (or throws before anything is touched), the
/// keys and values of the new positions are stored, and `advance` makes them part of the sequence.
/// One thread owns the sequence; storing different heads or positions may happen on several, and
/// so may reading. Several sequences of one pool may run on several threads.
///
/// A sequence that is told the tokens of its positions shares equal beginnings with others of the
/// same ``PrefixIdentity``. Its pages go back to the pool with it.
public final class CacheSequence {
  /// Where the pages come from.
  public let pool: PagePool
  /// Positions that it can grow to.
  public let maximumPositions: Int
  /// What its keys and values depend on beside tokens; nil for a sequence that shares no beginning.
  public let identity: PrefixIdentity?
  /// Positions stored.
  public var positionCount: Int { table.positionCount.load(ordering: .relaxed) }
  /// The tokens of the first positions, as far as they were told.
  public internal(set) var tokens: [Int32] = []

  let table: SequenceTable
  /// [page], the places in the prefix index of the whole pages that are in it.
  var places: [PrefixIndex.Place] = []
  /// False once a page could not be indexed, since those after it hang on it.
  var canIndex = true
  /// Where the prefix index begins for this identity.
  let root: PrefixIndex.Place?
  /// Whether somebody else may hold the page of the last position, or find it by its prefix, so
  /// that it must be looked at before the next one is written.
  var lastPageMayBeShared = false

  /// An empty sequence that can grow to `maximumPositions` without allocating anything but pages.
  public init(pool: PagePool, maximumPositions: Int, identity: PrefixIdentity? = nil) {
    precondition(maximumPositions >= 0, "a negative position count")
    self.pool = pool
    self.maximumPositions = maximumPositions
    self.identity = identity
    let pageCount = pool.layout.pageCount(positions: maximumPositions)
    table = SequenceTable(groupCount: pool.layout.groups.count, capacity: pageCount)
    if identity != nil {
      tokens.reserveCapacity(maximumPositions)
      places.reserveCapacity(pageCount)
    }
    root = pool.ledger.withLock { [table] ledger in
      ledger.tables.append(table)
      return identity.map { ledger.prefixes.root($0) }
    }
  }

  deinit {
    pool.ledger.withLock { ledger in
      release(from: 0, in: &ledger)
      // The last one takes its place, so that this is as short as it can be.
      guard let place = ledger.tables.firstIndex(where: { $0 === table }) else { return }
      ledger.tables.swapAt(place, ledger.tables.count - 1)
      ledger.tables.removeLast()
    }
  }

  /// What the pages look like.
  public var layout: CacheLayout { pool.layout }

  /// The shape of the pages of a one-group cache.
  public var geometry: CacheGeometry { pool.geometry }

  /// Pages from the beginning of the sequence to its end, reserved ones included; every group has
  /// as many, less what its window has passed.
  public var pageCount: Int { table.pageCount }

  /// Makes room for `count` more positions, and the page of the last position this sequence's own;
  /// throws with limit and need, and changes nothing, where the pool has too few pages that nobody
  /// holds. Cached prefixes are given up for it, least recently used first.
  public func reserve(_ count: Int) throws(CacheError) {
    precondition(count >= 0, "a negative position count")
    let end = positionCount + count
    guard end <= maximumPositions else {
      throw .contextExceeded(limitPositions: maximumPositions, neededPositions: end)
    }
    let hasOpenPage = positionCount % layout.pagePositions != 0
    let copiesMaybe = lastPageMayBeShared && hasOpenPage && count > 0
    guard copiesMaybe || layout.pageCount(positions: end) > pageCount else { return }
    try takePages(to: end, opening: copiesMaybe)
  }

  /// Makes the `count` positions after the last one part of the sequence, without telling their
  /// tokens: from here on the sequence shares nothing.
  public func advance(_ count: Int) {
    precondition(
      count >= 0 && positionCount + count <= table.pageCount * layout.pagePositions,
      "advance past what was reserved")
    table.positionCount.store(positionCount + count, ordering: .relaxed)
    passWindows()
  }

  /// Makes the positions of `tokens` part of the sequence, and every page that they fill part of
  /// the pool's prefixes. Where the pool has an equal page already, that one takes this one's
  /// place: pointers into the sequence's pages are to be asked for again.
  public func advance(_ tokens: ArraySlice<Int32>) {
    let start = positionCount
    precondition(
      start + tokens.count <= table.pageCount * layout.pagePositions,
      "advance past what was reserved")
    table.positionCount.store(start + tokens.count, ordering: .relaxed)
    if identity != nil, self.tokens.count == start {
      self.tokens.append(contentsOf: tokens)
      if canIndex, self.tokens.count / layout.pagePositions > places.count { indexPages() }
    }
    passWindows()
  }

  /// The first position that `truncate` can go back to, 0 apart: windows may have given the pages
  /// before it back.
  public var earliestPosition: Int {
    var earliest = 0
    for (index, group) in layout.groups.enumerated() {
      let first = table.first(group: index)
      if let window = group.window, first > 0 {
        earliest = max(earliest, first * layout.pagePositions + window)
      }
    }
    return min(earliest, positionCount)
  }

  /// Forgets the positions from `position` on and gives their whole pages back, reserved ones too.
  ///
  /// `position` is 0 or at least `earliestPosition`.
  public func truncate(to position: Int) {
    precondition(position >= 0 && position <= positionCount, "truncate outside the sequence")
    precondition(
      position == 0 || position >= earliestPosition, "truncate to where windows have passed")
    let kept = layout.pageCount(positions: position)
    if position < positionCount { lastPageMayBeShared = true }
    // First, so that an account never looks for a page that is gone.
    table.positionCount.store(position, ordering: .relaxed)
    if kept < pageCount { pool.ledger.withLock { release(from: kept, in: &$0) } }
    if position < tokens.count { tokens.removeSubrange(position...) }
    let whole = position / layout.pagePositions
    if whole < places.count { places.removeSubrange(whole...) }
    if position == 0 { canIndex = true }
  }

  /// Forgets everything.
  public func reset() { truncate(to: 0) }

  /// What this sequence costs by itself, whoever else holds its pages; nothing is locked.
  public var usage: CacheUsage {
    var usage = CacheUsage()
    let count = positionCount
    for (index, group) in layout.groups.enumerated() {
      let geometry = group.geometry
      let visible = count - group.firstVisible(positions: count)
      usage.allocatedBytes += (pageCount - table.first(group: index)) * geometry.pageByteCount
      usage.idealBytes += visible * geometry.idealBytesPerPosition
      usage.addUsed(geometry, positions: visible)
    }
    return usage
  }
}
