import KVCache
import TestSupport
import Testing

/// The paged cache against plain arrays.
@Suite struct CacheSequenceTests {
  static let geometries = [
    CacheGeometry(
      storeCount: 2, headCount: 1, headDimension: 5, pagePositions: 3, keyElement: .f32,
      valueElement: .f32),
    CacheGeometry(
      storeCount: 1, headCount: 3, headDimension: 13, pagePositions: 7, keyElement: .f16,
      valueElement: .f16),
    CacheGeometry(
      storeCount: 2, headCount: 2, headDimension: 9, pagePositions: 5, keyElement: .s8,
      valueElement: .s8),
    CacheGeometry(
      storeCount: 1, headCount: 2, headDimension: 1, pagePositions: 1, keyElement: .s8,
      valueElement: .f32),
    CacheGeometry(
      storeCount: 3, headCount: 1, headDimension: 7, pagePositions: 4, keyElement: .f16,
      valueElement: .s8),
  ]

  /// 5 geometries × 5,000 operations: contents, page ownership and bytes after every one.
  @Test(arguments: geometries) func equalsArraysThroughRandomOperations(
    _ geometry: CacheGeometry
  ) throws {
    let seed: UInt64 = 0xCAC4E + UInt64(geometry.headDimension)
    var generator = SeededGenerator(seed: seed)
    let poolPages = 24
    let pool = try PagePool(
      geometry: geometry,
      byteBudget: poolPages * geometry.pageByteCount + geometry.pageByteCount / 2)
    try #require(pool.pageCount == poolPages)
    var sequences = (0..<4).map { _ in
      ModelledSequence(pool: pool, maximumPositions: 2 * poolPages * geometry.pagePositions)
    }
    var peak = 0
    var refusals = 0
    for step in 0..<5_000 {
      let place = Int.random(in: 0..<4, using: &generator)
      refusals += try operate(
        &sequences[place], pool: pool, poolPages: poolPages,
        heldPages: sequences.reduce(0) { $0 + $1.pageCount }, using: &generator)
      peak = max(peak, sequences.reduce(0) { $0 + $1.pageCount })
      let isThorough = step % 64 == 63
      try check(
        sequences, pool: pool, peakPages: peak, thorough: isThorough, using: &generator,
        "seed \(seed), step \(step)")
    }
    #expect(refusals > 20, "the pool was hardly ever full: the test lost its point")
    sequences = []
    #expect(pool.allocatedBytes == 0)
    #expect(pool.peakAllocatedBytes == peak * geometry.pageByteCount)
  }

  /// One random operation; 1 where the pool refused it.
  private func operate(
    _ modelled: inout ModelledSequence, pool: PagePool, poolPages: Int, heldPages: Int,
    using generator: inout SeededGenerator
  ) throws -> Int {
    let geometry = pool.geometry
    let count = modelled.positions.count
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<66:
      let added = Int.random(in: 0...(2 * geometry.pagePositions + 1), using: &generator)
      let needed = max(geometry.pageCount(positions: count + added), modelled.pageCount)
      let free = poolPages - heldPages
      do throws(CacheError) {
        try modelled.sequence.reserve(added)
      } catch {
        #expect(needed - modelled.pageCount > free, "refused although it fits")
        #expect(
          error
            == .full(
              limitPositions: (modelled.pageCount + free) * geometry.pagePositions,
              neededPositions: count + added))
        return 1
      }
      #expect(needed - modelled.pageCount <= free, "granted although it does not fit")
      modelled.pageCount = needed
      // Some reservations are used in part only, some not at all.
      let used = Bool.random(using: &generator) ? added : added / 2
      modelled.append(used, using: &generator)
    case 66..<90:
      let position = Int.random(in: 0...count, using: &generator)
      modelled.sequence.truncate(to: position)
      modelled.positions.removeSubrange(position...)
      modelled.pageCount = geometry.pageCount(positions: position)
    case 90..<95:
      modelled.sequence.reset()
      modelled.positions = []
      modelled.pageCount = 0
    default:
      // The old sequence is freed here and gives its pages back.
      modelled = ModelledSequence(
        pool: pool, maximumPositions: 2 * poolPages * geometry.pagePositions)
    }
    return 0
  }

  private func check(
    _ sequences: [ModelledSequence], pool: PagePool, peakPages: Int, thorough: Bool,
    using generator: inout SeededGenerator, _ comment: Comment
  ) throws {
    let geometry = pool.geometry
    var addresses: Set<UInt> = []
    var held = 0
    for modelled in sequences {
      let count = modelled.positions.count
      try #require(modelled.sequence.positionCount == count, comment)
      try #require(modelled.sequence.pageCount == modelled.pageCount, comment)
      try #require(modelled.sequence.usage == usage(modelled), comment)
      held += modelled.pageCount
      addresses.formUnion(modelled.pageAddresses)
      let looked = thorough ? Array(0..<count) : [0, count / 2, count - 1].filter { $0 >= 0 }
      for position in looked where position < count {
        try #require(modelled.found(position) == modelled.positions[position], comment)
      }
    }
    try #require(addresses.count == held, "two sequences share a page: \(comment)")
    try #require(pool.allocatedBytes == held * geometry.pageByteCount, comment)
    try #require(pool.peakAllocatedBytes == peakPages * geometry.pageByteCount, comment)
  }

  /// The bytes by the definitions, written out.
  private func usage(_ modelled: ModelledSequence) -> CacheUsage {
    let geometry = modelled.geometry
    let vectors = geometry.storeCount * geometry.headCount * modelled.positions.count
    let elements = geometry.headDimension * vectors
    let size = [CacheElement.f32: 4, .f16: 2, .s8: 1]
    let ideal = elements * ((size[geometry.keyElement] ?? 0) + (size[geometry.valueElement] ?? 0))
    let scales =
      vectors * 4
      * ((geometry.keyElement == .s8 ? 1 : 0) + (geometry.valueElement == .s8 ? 1 : 0))
    return CacheUsage(
      allocatedBytes: modelled.pageCount * geometry.pageByteCount, usedBytes: ideal + scales,
      idealBytes: ideal, scaleBytes: scales)
  }

  @Test(arguments: geometries) func aFullPoolRefusesAndChangesNothing(
    _ geometry: CacheGeometry
  ) throws {
    var generator = SeededGenerator(seed: 71)
    let pool = try PagePool(geometry: geometry, byteBudget: 5 * geometry.pageByteCount)
    var first = ModelledSequence(pool: pool, maximumPositions: 100)
    var second = ModelledSequence(pool: pool, maximumPositions: 100)
    let room = geometry.pagePositions
    try first.sequence.reserve(3 * room)
    first.pageCount = 3
    first.append(3 * room - (room > 1 ? 1 : 0), using: &generator)
    try second.sequence.reserve(room)
    second.pageCount = 1
    second.append(room, using: &generator)

    let need = second.positions.count + room + 1
    let expected = CacheError.full(limitPositions: 2 * room, neededPositions: need)
    for _ in 0..<3 {
      #expect(throws: expected) { try second.sequence.reserve(room + 1) }
      #expect(pool.allocatedBytes == 4 * geometry.pageByteCount)
      #expect(second.sequence.pageCount == 1 && second.sequence.positionCount == room)
    }
    #expect(first.positions.indices.allSatisfy { first.found($0) == first.positions[$0] })
    #expect(second.positions.indices.allSatisfy { second.found($0) == second.positions[$0] })
    #expect(
      expected.description.contains("\(2 * room)") && expected.description.contains("\(need)"))
    // What it said is the limit is one.
    try second.sequence.reserve(room)
    #expect(pool.allocatedBytes == pool.pageCount * geometry.pageByteCount)
  }

  @Test func aBudgetBelowAPageIsRefused() throws {
    let geometry = Self.geometries[2]
    let need = geometry.pageByteCount
    #expect(throws: CacheError.budgetTooSmall(limitBytes: need - 1, neededBytes: need)) {
      try PagePool(geometry: geometry, byteBudget: need - 1)
    }
    #expect(throws: CacheError.budgetTooSmall(limitBytes: 0, neededBytes: need)) {
      try PagePool(geometry: geometry, byteBudget: 0)
    }
    #expect(try PagePool(geometry: geometry, byteBudget: need).pageCount == 1)
  }

  @Test func elementsHaveTheNamesOfTheCommandLine() {
    #expect(CacheElement(commandLineName: "q8_0") == .s8)
    #expect(CacheElement(commandLineName: "int8") == .s8)
    #expect(CacheElement.allCases.allSatisfy { CacheElement(commandLineName: $0.rawValue) == $0 })
    #expect(CacheElement(commandLineName: "q4_1") == .u4g32)
    #expect(CacheElement(commandLineName: "q4_0") == nil)
  }
}
