/// Cache memory in bytes.
public struct CacheUsage: Hashable, Sendable {
  /// Pages held, whole; each counted once, however many sequences hold it.
  public var allocatedBytes: Int
  /// Stored positions, with their scales, that a holder of the page can see.
  public var usedBytes: Int
  /// Stored positions without scales: positions × bytes a position, sharing between sequences left
  /// out of account.
  public var idealBytes: Int
  /// The part of `usedBytes` that is scales.
  public var scaleBytes: Int
  /// What sharing saves: for every page, its bytes times the holders after the first. 0 in the
  /// account of one sequence.
  public var sharedBytes: Int

  /// Bytes of held pages that nothing is stored in: the rest of last pages, the passed part of a
  /// window's first page, reserved pages, padding.
  public var wastedBytes: Int { allocatedBytes - usedBytes }

  /// A usage of those byte counts.
  public init(
    allocatedBytes: Int = 0, usedBytes: Int = 0, idealBytes: Int = 0, scaleBytes: Int = 0,
    sharedBytes: Int = 0
  ) {
    self.allocatedBytes = allocatedBytes
    self.usedBytes = usedBytes
    self.idealBytes = idealBytes
    self.scaleBytes = scaleBytes
    self.sharedBytes = sharedBytes
  }

  /// Adds what `positions` stored positions of a group cost.
  mutating func addUsed(_ geometry: CacheGeometry, positions: Int) {
    let scales = positions * geometry.scaleBytesPerPosition
    usedBytes += positions * geometry.idealBytesPerPosition + scales
    scaleBytes += scales
  }
}

/// The account of a pool at one moment.
public struct PoolUsage: Hashable, Sendable {
  /// The label that the pool was made with.
  public var tier: String
  /// What the pool may take.
  public var budgetBytes: Int
  /// What sequences hold.
  public var held: CacheUsage
  /// Pages of prefixes that no sequence holds now, kept for the next one that begins like them;
  /// given up, least recently used first, when a sequence needs pages.
  public var cachedBytes: Int

  package init(tier: String, budgetBytes: Int, held: CacheUsage, cachedBytes: Int) {
    self.tier = tier
    self.budgetBytes = budgetBytes
    self.held = held
    self.cachedBytes = cachedBytes
  }

  /// Bytes taken from the budget: held and cached. Never more than the budget.
  public var allocatedBytes: Int { held.allocatedBytes + cachedBytes }
}

extension CacheLayout {
  /// What one sequence of `positions` positions will cost, nothing reserved beyond them.
  public func predictedUsage(positions: Int) -> CacheUsage {
    predictedUsage(of: [positions])
  }

  /// What sequences of those lengths will cost together if their first `sharedPositions` positions
  /// are the same and shared page by page: whole pages only, as far as both are that long.
  ///
  /// Equals `PagePool.usage.held` once they are stored. O(pages).
  public func predictedUsage(of lengths: [Int], sharedPositions: Int = 0) -> CacheUsage {
    var usage = CacheUsage()
    let sharedPages = sharedPositions / pagePositions
    for group in groups {
      let geometry = group.geometry
      // For each shared page its holders and the positions that one of them can see.
      var shared: [(holders: Int, first: Int, end: Int)] = Array(
        repeating: (0, Int.max, 0), count: sharedPages)
      for length in lengths {
        let first = group.firstVisible(positions: length)
        usage.idealBytes += (length - first) * geometry.idealBytesPerPosition
        for page
          in (first / pagePositions)..<max(first / pagePositions, pageCount(positions: length))
        {
          let start = max(first, page * pagePositions)
          let end = min(length, (page + 1) * pagePositions)
          // Only a whole page of a prefix is shared.
          if page < sharedPages, length >= (page + 1) * pagePositions {
            shared[page].holders += 1
            shared[page].first = min(shared[page].first, start)
            shared[page].end = max(shared[page].end, end)
          } else {
            usage.allocatedBytes += geometry.pageByteCount
            usage.addUsed(geometry, positions: end - start)
          }
        }
      }
      for page in shared where page.holders > 0 {
        usage.allocatedBytes += geometry.pageByteCount
        usage.sharedBytes += (page.holders - 1) * geometry.pageByteCount
        usage.addUsed(geometry, positions: page.end - page.first)
      }
    }
    return usage
  }
}
