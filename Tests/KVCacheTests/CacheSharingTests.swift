import KVCache
import Testing

/// Forks, prefixes, eviction and batches, one at a time.
@Suite struct CacheSharingTests {
  static let geometry = CacheGeometry(
    storeCount: 1, headCount: 1, headDimension: 2, pagePositions: 4, keyElement: .f32,
    valueElement: .f32)
  private let layout = CacheLayout(geometry: geometry)
  private var page: Int { layout.pageByteCount }
  private let identity = PrefixIdentity(model: "m")

  private func pool(pages: Int) throws -> PagePool {
    try PagePool(layout: layout, byteBudget: pages * layout.pageByteCount)
  }

  private func sequence(
    _ pool: PagePool, tokens: [Int32] = [], _ identity: PrefixIdentity? = nil
  ) throws -> CacheSequence {
    let sequence = CacheSequence(
      pool: pool, maximumPositions: 64, identity: identity ?? self.identity)
    try sequence.reserve(tokens.count)
    sequence.advance(tokens[...])
    return sequence
  }

  private func store(_ number: Float, _ sequence: CacheSequence, _ position: Int) {
    sequence.storeKey([number, 0].span, store: 0, head: 0, position: position)
  }

  private func read(_ sequence: CacheSequence, _ position: Int) -> Float {
    var values: [Float] = [0, 0]
    var span = values.mutableSpan
    sequence.readKey(into: &span, store: 0, head: 0, position: position)
    return values[0]
  }

  @Test func aForkCopiesItsLastPageAtTheFirstWrite() throws {
    let pool = try pool(pages: 8)
    let first = try sequence(pool)
    try first.reserve(6)
    for position in 0..<6 { store(Float(position), first, position) }
    first.advance([1, 2, 3, 4, 5, 6])
    let second = first.fork()
    #expect(pool.usage.held.allocatedBytes == 2 * page)
    #expect(pool.usage.held.sharedBytes == 2 * page)
    try second.reserve(1)
    // The whole page is shared still, the open one is not.
    #expect(pool.usage.held.allocatedBytes == 3 * page)
    #expect(pool.usage.held.sharedBytes == page)
    store(60, second, 6)
    second.advance([7])
    // The first one is the only holder of its last page now and writes in place.
    try first.reserve(1)
    #expect(pool.usage.held.allocatedBytes == 3 * page)
    store(61, first, 6)
    first.advance([8])
    #expect((0..<6).map { read(first, $0) } == (0..<6).map { read(second, $0) })
    #expect(read(first, 6) == 61 && read(second, 6) == 60)
  }

  @Test func equalBeginningsAreStoredOnce() throws {
    let pool = try pool(pages: 8)
    let tokens: [Int32] = Array(1...10)
    let first = try sequence(pool, tokens: tokens)
    // A second one that computed the same without asking ends up with the same pages.
    let second = try sequence(pool, tokens: tokens)
    #expect(pool.usage.held.allocatedBytes == 4 * page)
    #expect(pool.usage.held.sharedBytes == 2 * page)
    // Others share what is equal from the beginning on, in whole pages, of the same identity.
    #expect(pool.matchedPositions(tokens[...], identity: identity) == 8)
    #expect(pool.matchedPositions([1, 2, 3, 4, 9, 9, 9, 9], identity: identity) == 4)
    #expect(pool.matchedPositions([5, 6, 7, 8], identity: identity) == 0)
    #expect(
      pool.matchedPositions(tokens[...], identity: PrefixIdentity(model: "m", adapter: "a")) == 0)
    #expect(pool.matchedPositions(tokens[...], identity: PrefixIdentity(model: "n")) == 0)
    let third = CacheSequence(pool: pool, maximumPositions: 9, identity: identity)
    #expect(third.adoptPrefix(of: tokens[...]) == 8)
    #expect(third.positionCount == 8 && third.tokens == Array(tokens[..<8]))
    #expect(first.positionCount == second.positionCount)
  }

  @Test func thePrefixUsedLongestAgoGoesFirstAndItsEndBeforeItsBeginning() throws {
    let pool = try pool(pages: 6)
    let old: [Int32] = Array(1...12)
    let young: [Int32] = Array(101...108)
    do { _ = try sequence(pool, tokens: old) }
    do { _ = try sequence(pool, tokens: young) }
    #expect(pool.usage.cachedBytes == 5 * page)
    // Touching the old one makes it the younger one, and only as far as it was touched.
    do {
      let toucher = CacheSequence(pool: pool, maximumPositions: 8, identity: identity)
      #expect(toucher.adoptPrefix(of: old[..<8]) == 8)
    }
    let other = CacheSequence(pool: pool, maximumPositions: 64)
    var expected: [(old: Int, young: Int)] = [(12, 8), (8, 8), (8, 4), (8, 0), (4, 0), (0, 0)]
    while !expected.isEmpty {
      try other.reserve(4)
      other.advance(4)
      let (left, right) = expected.removeFirst()
      #expect(pool.matchedPositions(old[...], identity: identity) == left)
      #expect(pool.matchedPositions(young[...], identity: identity) == right)
      #expect(pool.usage.allocatedBytes <= pool.byteBudget)
    }
    #expect(throws: CacheError.full(limitPositions: 24, neededPositions: 25)) {
      try other.reserve(1)
    }
  }

  @Test func aHeldPrefixIsNotGivenUp() throws {
    let pool = try pool(pages: 4)
    let holder = try sequence(pool, tokens: Array(1...8))
    let other = CacheSequence(pool: pool, maximumPositions: 64)
    try other.reserve(8)
    #expect(throws: CacheError.full(limitPositions: 8, neededPositions: 9)) { try other.reserve(9) }
    #expect(pool.matchedPositions(holder.tokens[...], identity: identity) == 8)
    #expect(pool.evictedPageCount == 0)
  }

  @Test func aBatchGetsRoomForAllOrNone() throws {
    let pool = try pool(pages: 4)
    let sequences = try (0..<3).map { try sequence(pool, tokens: [Int32($0), 1, 1]) }
    try pool.reserve(1, in: sequences)
    for sequence in sequences { sequence.advance([2]) }
    // Three more pages are needed and one is there.
    #expect(throws: CacheError.self) { try pool.reserve(1, in: sequences) }
    #expect(sequences.allSatisfy { $0.pageCount == 1 && $0.positionCount == 4 })
    #expect(pool.usage.held.allocatedBytes == 3 * page)
    try sequences[0].reserve(1)
    #expect(pool.usage.held.allocatedBytes == 4 * page)
    #expect(sequences.map(\.pageCount) == [2, 1, 1])
  }

  @Test func aSequenceEndsWhereItWasSaidTo() throws {
    let sequence = CacheSequence(pool: try pool(pages: 8), maximumPositions: 6)
    try sequence.reserve(6)
    sequence.advance(6)
    let expected = CacheError.contextExceeded(limitPositions: 6, neededPositions: 7)
    #expect(throws: expected) { try sequence.reserve(1) }
    #expect(expected.description == "the sequence has room for 6 positions, 7 needed")
    #expect(sequence.positionCount == 6)
  }

  @Test func aBudgetThatNoMachineHasIsAnError() {
    #expect(throws: CacheError.self) {
      try PagePool(layout: layout, byteBudget: 1 << 60)
    }
  }

  /// Pages of one group's bytes become another's, under one budget.
  @Test func groupsShareOneBudget() throws {
    let layout = CacheLayout(
      layerCount: 4, localCount: 3, window: 4, headCount: 1, headDimension: 512,
      pagePositions: 4, element: .f32)
    let pool = try PagePool(layout: layout, byteBudget: 3 * layout.pageByteCount)
    let (global, local) = (
      layout.groups[0].geometry.pageByteCount, layout.groups[1].geometry.pageByteCount
    )
    let sequence = CacheSequence(pool: pool, maximumPositions: 64)
    // A long sequence holds two local pages at most, and the rest of the budget is global pages.
    for step in 1...9 {
      do { try sequence.reserve(4) } catch { break }
      for index in 0..<4 {
        let numbers = Array(repeating: Float(step), count: 512)
        sequence.storeKey(
          numbers.span, group: 0, store: 0, head: 0, position: 4 * (step - 1) + index)
      }
      sequence.advance(4)
      #expect(sequence.usage.allocatedBytes == step * global + local)
      #expect(pool.allocatedBytes <= pool.byteBudget)
    }
    // The local page of the next step is taken before the one that it passes is given back.
    #expect(sequence.pageCount == 6)
    for position in 0..<sequence.positionCount {
      var values = Array(repeating: Float(0), count: 512)
      var span = values.mutableSpan
      sequence.readKey(into: &span, group: 0, store: 0, head: 0, position: position)
      #expect(values.allSatisfy { $0 == Float(position / 4 + 1) })
    }
  }
}
