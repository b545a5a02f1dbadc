import CacheSnapshots
import Foundation
import KVCache
import TestSupport
import Testing

/// A pool with sequences, and the model that it should equal.
struct CacheRun {
  /// What a random operation can turn out to be.
  enum Happening: Hashable, CaseIterable {
    case made, adopted, appended, appendedUntold, refused, truncated, forked, dropped, evicted
    case restored, restoreRefused, damageRefused
  }

  let layout: CacheLayout
  let pool: PagePool
  var model: CacheModel
  var sequences: [Int: CacheSequence] = [:]
  var counts: [Happening: Int] = [:]
  private var generator: SeededGenerator
  private var nextKey = 0
  private var peak = 0
  /// What the cache gave back when a content was stored first.
  private var contents: [UInt64: [Float]] = [:]
  private let path: String

  static let identities = [
    PrefixIdentity(model: "m"), PrefixIdentity(model: "m", adapter: "a"),
  ]

  init(layout: CacheLayout, budgetPages: Int, seed: UInt64) throws {
    self.layout = layout
    // Not a whole number of pages.
    let budget = budgetPages * layout.pageByteCount + layout.pageByteCount / 2
    pool = try PagePool(layout: layout, byteBudget: budget)
    model = CacheModel(layout: layout, budget: budget)
    generator = SeededGenerator(seed: seed)
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("cache-run-\(seed)-\(getpid()).snapshot").path
  }

  private mutating func random(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  private mutating func note(_ happening: Happening) { counts[happening, default: 0] += 1 }

  // MARK: - Operations

  mutating func operate() throws {
    let choice = random(0...99)
    guard sequences.count > 2, choice >= 8,
      let key = sequences.keys.sorted().randomElement(using: &generator)
    else {
      if sequences.count < 8 { make() } else { drop() }
      return
    }
    switch choice {
    case ..<65: try append(key)
    case ..<80: truncate(key)
    case ..<88: if sequences.count < 8 { fork(key) } else { drop() }
    case ..<95: drop()
    case ..<96:
      pool.evictCachedPrefixes()
      model.evictAll()
      note(.evicted)
    default: try restore(key)
    }
  }

  private mutating func make() {
    nextKey += 1
    let identity = random(0...5) == 0 ? nil : Self.identities.randomElement(using: &generator)
    let maximum = random(8...60)
    let sequence = CacheSequence(pool: pool, maximumPositions: maximum, identity: identity)
    sequences[nextKey] = sequence
    model.sequences[nextKey] = CacheModel.Sequence(identity: identity, maximumPositions: maximum)
    note(.made)
    guard let identity else { return }
    let tokens = someTokens(random(0...40))
    let expected = min(
      model.match(tokens, identity: identity) * layout.pagePositions,
      maximum / layout.pagePositions * layout.pagePositions)
    #expect(pool.matchedPositions(tokens[...], identity: identity) >= expected)
    let adopted = sequence.adoptPrefix(of: tokens[...])
    model.adopt(tokens, in: nextKey) { Self.content($0, identity) }
    #expect(adopted == model.sequences[nextKey]?.contents.count)
    if adopted > 0 { note(.adopted) }
  }

  /// Tokens that often begin alike: three of them, mostly the first.
  private mutating func someTokens(_ count: Int) -> [Int32] {
    (0..<count).map { _ in
      let value = random(0...29)
      return value < 28 ? 0 : Int32(value - 27)
    }
  }

  private mutating func append(_ key: Int) throws {
    guard let sequence = sequences[key], let modelled = model.sequences[key] else { return }
    let count = random(0...(2 * layout.pagePositions + 1))
    let refusal = model.reserve(count, in: key)
    do throws(CacheError) {
      try sequence.reserve(count)
      #expect(refusal == nil, "granted although it does not fit")
    } catch {
      #expect(error == refusal)
      note(.refused)
      return
    }
    // Some reservations are used in part only, some not at all.
    let used = Bool.random(using: &generator) ? count : count / 2
    let tokens = random(0...30) == 0 ? nil : someTokens(used)
    let start = modelled.contents.count
    let isTold = tokens != nil && modelled.identity != nil && modelled.tokens.count == start
    var added: [UInt64] = []
    for index in 0..<used {
      if isTold, let tokens, let identity = modelled.identity {
        added.append(Self.content((modelled.tokens + tokens[...index])[...], identity))
      } else {
        added.append(generator.next())
      }
      store(added[index], in: sequence, position: start + index)
    }
    if let tokens { sequence.advance(tokens[...]) } else { sequence.advance(used) }
    model.advance(added, tokens: tokens, in: key)
    note(tokens == nil ? .appendedUntold : .appended)
  }

  private mutating func truncate(_ key: Int) {
    guard let sequence = sequences[key] else { return }
    let earliest = sequence.earliestPosition
    let position = random(0...7) == 0 ? 0 : random(earliest...sequence.positionCount)
    sequence.truncate(to: position)
    model.truncate(key, to: position)
    note(.truncated)
  }

  private mutating func fork(_ key: Int) {
    nextKey += 1
    sequences[nextKey] = sequences[key]?.fork()
    model.fork(key, to: nextKey)
    note(.forked)
  }

  private mutating func drop() {
    guard let key = sequences.keys.sorted().randomElement(using: &generator) else { return }
    sequences[key] = nil
    model.remove(key)
    note(.dropped)
  }

  /// Writes one sequence and restores it into another, sometimes with a damaged file in between.
  private mutating func restore(_ key: Int) throws {
    guard let source = sequences[key], let modelled = model.sequences[key] else { return }
    let identity = modelled.identity ?? Self.identities[0]
    let targets = model.sequences.filter { $0.value.identity == modelled.identity }.keys.sorted()
    guard let place = targets.randomElement(using: &generator), let target = sequences[place]
    else { return }
    try source.writeSnapshot(to: path, identity: identity)
    if random(0...2) == 0 {
      var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      if Bool.random(using: &generator) {
        bytes[random(0...(bytes.count - 1))] ^= 1 << UInt8(random(0...7))
      } else {
        bytes.removeLast(random(1...bytes.count))
      }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      #expect(throws: SnapshotError.self) {
        try target.restoreSnapshot(from: path, identity: identity)
      }
      note(.damageRefused)
      return
    }
    let refusal = model.replace(place, by: modelled)
    do throws(SnapshotError) {
      try target.restoreSnapshot(from: path, identity: identity)
      #expect(refusal == nil, "restored although it does not fit")
      note(.restored)
    } catch {
      #expect(refusal.map { .cache($0) } == error)
      note(.restoreRefused)
    }
  }

  // MARK: - Contents

  /// What stands at the last position of `tokens`.
  private static func content(_ tokens: ArraySlice<Int32>, _ identity: PrefixIdentity) -> UInt64 {
    var value: UInt64 = identity.adapter.isEmpty ? 1 : 2
    for token in tokens {
      value = SeededGenerator.number(value &+ UInt64(UInt32(bitPattern: token)))
    }
    return value
  }

  /// Every head of every store in the order of groups, stores and heads.
  private func forEachHead(_ body: (_ group: Int, _ store: Int, _ head: Int) -> Void) {
    for (index, group) in layout.groups.enumerated() {
      for store in 0..<group.geometry.storeCount {
        for head in 0..<group.geometry.headCount { body(index, store, head) }
      }
    }
  }

  private mutating func store(_ content: UInt64, in sequence: CacheSequence, position: Int) {
    var values = SeededGenerator(seed: content)
    forEachHead { group, store, head in
      let dimension = layout.groups[group].geometry.headDimension
      let numbers = (0..<(2 * dimension)).map { _ in Float.random(in: -1...1, using: &values) }
      sequence.storeKey(
        numbers.span.extracting(0..<dimension), group: group, store: store, head: head,
        position: position)
      sequence.storeValue(
        numbers.span.extracting(dimension...), group: group, store: store, head: head,
        position: position)
    }
    if contents[content] == nil { contents[content] = found(sequence, position) }
  }

  private func found(_ sequence: CacheSequence, _ position: Int) -> [Float] {
    var result: [Float] = []
    let count = sequence.positionCount
    forEachHead { group, store, head in
      let description = layout.groups[group]
      var vector = Array(repeating: Float(0), count: description.geometry.headDimension)
      // What the window has passed is not there to be read.
      let first = position < count ? description.firstVisible(positions: count) : 0
      let isThere = position >= first / layout.pagePositions * layout.pagePositions
      var span = vector.mutableSpan
      if isThere {
        sequence.readKey(into: &span, group: group, store: store, head: head, position: position)
      }
      result += isThere ? vector : vector.map { _ in .nan }
      span = vector.mutableSpan
      if isThere {
        sequence.readValue(into: &span, group: group, store: store, head: head, position: position)
      }
      result += isThere ? vector : vector.map { _ in .nan }
    }
    return result
  }

  // MARK: - Checks

  mutating func check(thorough: Bool, _ comment: @autoclosure () -> Comment) throws {
    let usage = pool.usage
    peak = max(peak, model.heldBytes)
    try #require(usage.held.allocatedBytes == model.heldBytes, comment())
    try #require(usage.cachedBytes == model.cachedBytes, comment())
    try #require(usage.held.sharedBytes == model.sharedBytes, comment())
    try #require(usage.allocatedBytes <= pool.byteBudget, comment())
    try #require(pool.evictedPageCount == model.evictedCount, comment())
    let chosen = model.sequences.keys.sorted().randomElement(using: &generator)
    for (key, modelled) in model.sequences {
      let sequence = try #require(sequences[key])
      try #require(sequence.positionCount == modelled.contents.count, comment())
      try #require(sequence.pageCount == modelled.pages.count, comment())
      try #require(sequence.tokens == modelled.tokens, comment())
      guard thorough || key == chosen else { continue }
      let count = modelled.contents.count
      let looked = thorough ? Array(0..<count) : [count / 2, count - 1].filter { $0 >= 0 }
      for position in looked where position < count {
        let expected = contents[modelled.contents[position]] ?? []
        let isEqual = zip(found(sequence, position), expected).allSatisfy { $0.isNaN || $0 == $1 }
        try #require(isEqual, comment())
      }
    }
    if thorough { try checkPages(usage, comment()) }
  }

  /// The page tables' addresses against the model's pages, and the account against both.
  private func checkPages(_ usage: PoolUsage, _ comment: Comment) throws {
    try #require(model.countedBytes == (model.heldBytes, model.cachedBytes), comment)
    var places: [CacheModel.PageID: UInt] = [:]
    var addresses: Set<UInt> = []
    for (key, modelled) in model.sequences {
      let sequence = try #require(sequences[key])
      for (page, row) in modelled.pages.enumerated() {
        for (group, id) in row.enumerated() {
          guard let id else {
            try #require(page < sequence.firstPage(group: group), comment)
            continue
          }
          // Only the number of the address is used.
          let address = unsafe UInt(
            bitPattern: sequence.headPage(group: group, store: 0, head: 0, page: page).keys)
          if let known = places[id] {
            try #require(known == address, "one page at two places: \(comment)")
          } else {
            try #require(addresses.insert(address).inserted, "one place for two pages: \(comment)")
            places[id] = address
          }
        }
      }
    }
    try #require(usage.held == model.usage, comment)
  }

  /// Everything goes back.
  mutating func finish() throws {
    sequences = [:]
    for key in model.sequences.keys.sorted() { model.remove(key) }
    #expect(pool.usage.held == CacheUsage())
    // Between two checks a page may be held by the old and the new holder for a moment.
    #expect(pool.peakAllocatedBytes >= peak && pool.peakAllocatedBytes <= pool.byteBudget)
    pool.evictCachedPrefixes()
    #expect(pool.allocatedBytes == 0)
    try? FileManager.default.removeItem(atPath: path)
  }
}

extension CacheModel {
  /// The account by its definitions, page by page.
  var usage: CacheUsage {
    var usage = CacheUsage(allocatedBytes: heldBytes, sharedBytes: sharedBytes)
    for (index, group) in layout.groups.enumerated() {
      let geometry = group.geometry
      var seen: [PageID: (first: Int, end: Int)] = [:]
      for sequence in sequences.values {
        let count = sequence.contents.count
        let first = group.window.map { max(0, count - $0) } ?? 0
        usage.idealBytes += (count - first) * geometry.idealBytesPerPosition
        for position in first..<max(first, count) {
          guard let id = sequence.pages[position / pagePositions][index] else { continue }
          let place = position % pagePositions
          let known = seen[id] ?? (place, place + 1)
          seen[id] = (min(known.first, place), max(known.end, place + 1))
        }
      }
      for range in seen.values {
        let positions = range.end - range.first
        usage.scaleBytes += positions * geometry.scaleBytesPerPosition
        usage.usedBytes +=
          positions * (geometry.idealBytesPerPosition + geometry.scaleBytesPerPosition)
      }
    }
    return usage
  }
}

extension SeededGenerator {
  /// The first number of a seed.
  static func number(_ seed: UInt64) -> UInt64 {
    var generator = SeededGenerator(seed: seed)
    return generator.next()
  }
}
