import KVCache

/// A plain model of a pool and its sequences: dictionaries, no reuse of memory, no hashes of ours.
///
/// It follows the documented rules alone: what is held, what stays cached, what is given up first.
struct CacheModel {
  typealias PageID = Int

  /// A whole page of tokens after everything before it, under an identity.
  struct Prefix: Hashable {
    var identity: PrefixIdentity
    var tokens: [Int32]
  }

  struct Sequence {
    var identity: PrefixIdentity?
    var maximumPositions: Int
    var tokens: [Int32] = []
    /// What each position holds, as a number that its keys and values come from.
    var contents: [UInt64] = []
    /// [page][group]; nil where a window has passed.
    var pages: [[PageID?]] = []
    /// Pages that stand in the index.
    var indexedCount = 0
    var mayShareLast = false
  }

  struct Page {
    var group: Int
    var holders = 1
    /// The node of the index that it belongs to.
    var node: Int?
    /// When it lost its last holder.
    var stamp = 0
  }

  let layout: CacheLayout
  let budget: Int
  var sequences: [Int: Sequence] = [:]
  var pages: [PageID: Page] = [:]
  /// What can be found, and all that was ever put in and still has pages: [group].
  var index: [Prefix: Int] = [:]
  var nodes: [Int: (prefix: Prefix, pages: [PageID?])] = [:]
  var evictedCount = 0
  private(set) var heldBytes = 0
  private(set) var cachedBytes = 0
  private var nextPage = 0
  private var nextNode = 0
  private var clock = 0

  init(layout: CacheLayout, budget: Int) {
    self.layout = layout
    self.budget = budget
  }

  var pagePositions: Int { layout.pagePositions }
  private var groups: Range<Int> { 0..<layout.groups.count }
  private func bytes(_ group: Int) -> Int { layout.groups[group].geometry.pageByteCount }

  var sharedBytes: Int {
    pages.values.reduce(0) { $0 + max(0, $1.holders - 1) * bytes($1.group) }
  }

  /// The bytes of held and of cached pages, counted.
  var countedBytes: (held: Int, cached: Int) {
    pages.values.reduce(into: (0, 0)) { sum, page in
      if page.holders > 0 { sum.0 += bytes(page.group) } else { sum.1 += bytes(page.group) }
    }
  }

  // MARK: - Pages

  private mutating func take(_ group: Int) -> PageID {
    while heldBytes + cachedBytes + bytes(group) > budget { evictOldest() }
    nextPage += 1
    pages[nextPage] = Page(group: group)
    heldBytes += bytes(group)
    return nextPage
  }

  private mutating func retain(_ id: PageID) {
    guard let page = pages[id] else { fatalError("the model holds a page that is gone") }
    if page.holders == 0 {
      cachedBytes -= bytes(page.group)
      heldBytes += bytes(page.group)
    }
    pages[id]?.holders += 1
  }

  private mutating func release(_ id: PageID) {
    pages[id]?.holders -= 1
    guard let page = pages[id], page.holders == 0 else { return }
    heldBytes -= bytes(page.group)
    guard page.node != nil else {
      pages[id] = nil
      return
    }
    cachedBytes += bytes(page.group)
    clock += 1
    pages[id]?.stamp = clock
  }

  private mutating func evictOldest() {
    let cached = pages.filter { $0.value.holders == 0 }
    guard let (id, page) = cached.min(by: { $0.value.stamp < $1.value.stamp }),
      let node = page.node
    else { fatalError("the model has nothing to evict") }
    drop(id)
    let left = nodes[node]?.pages ?? []
    let lostPage = groups.contains { layout.groups[$0].window == nil && left[$0] == nil }
    if lostPage || left.allSatisfy({ $0 == nil }) { forget(node) }
  }

  private mutating func drop(_ id: PageID) {
    guard let page = pages[id], let node = page.node else { return }
    evictedCount += 1
    cachedBytes -= bytes(page.group)
    nodes[node]?.pages[page.group] = nil
    pages[id] = nil
  }

  /// Takes a node out of the index; what hung on it can be found no more, but stays cached until it
  /// is the oldest.
  private mutating func forget(_ node: Int) {
    guard let (prefix, members) = nodes[node] else { return }
    for case let id? in members {
      if pages[id]?.holders == 0 { drop(id) } else { pages[id]?.node = nil }
    }
    nodes[node] = nil
    guard index[prefix] == node else { return }
    for other in index.keys
    where other.identity == prefix.identity && other.tokens.starts(with: prefix.tokens) {
      index[other] = nil
    }
  }

  mutating func evictAll() {
    while pages.values.contains(where: { $0.holders == 0 }) { evictOldest() }
  }

  // MARK: - Operations

  /// The limit that a refusal names, or nil where the positions fit.
  mutating func reserve(_ count: Int, in key: Int) -> CacheError? {
    guard var sequence = sequences[key] else { return nil }
    let position = sequence.contents.count
    let end = position + count
    guard end <= sequence.maximumPositions else {
      return .contextExceeded(limitPositions: sequence.maximumPositions, neededPositions: end)
    }
    let last = position / pagePositions
    let opens = sequence.mayShareLast && position % pagePositions != 0 && count > 0
    let fresh = max(0, layout.pageCount(positions: end) - sequence.pages.count)
    guard opens || fresh > 0 else { return nil }
    let row = opens ? sequence.pages[last].compactMap { $0 } : []
    var copies = row.contains { pages[$0]?.holders != 1 || pages[$0]?.node != nil }
    let available = budget - heldBytes
    let size = layout.pageByteCount
    if copies, (fresh + 1) * size > available, row.allSatisfy({ pages[$0]?.holders == 1 }) {
      for id in row { if let node = pages[id]?.node { forget(node) } }
      copies = false
    }
    guard (fresh + (copies ? 1 : 0)) * size <= available else {
      let free = available / size - (copies ? 1 : 0)
      return .full(
        limitPositions: free < 0
          ? position : (sequence.pages.count + free) * pagePositions,
        neededPositions: end)
    }
    if copies {
      for group in groups {
        let own = take(group)
        if let old = sequence.pages[last][group] { release(old) }
        sequence.pages[last][group] = own
      }
    }
    for _ in 0..<fresh { sequence.pages.append(groups.map { take($0) }) }
    if opens { sequence.mayShareLast = false }
    sequences[key] = sequence
    return nil
  }

  /// Appends reserved positions; with `tokens` nil the contents are given.
  mutating func advance(_ contents: [UInt64], tokens: [Int32]?, in key: Int) {
    guard var sequence = sequences[key] else { return }
    let start = sequence.contents.count
    sequence.contents += contents
    if let tokens, sequence.identity != nil, sequence.tokens.count == start {
      sequence.tokens += tokens
      indexPages(&sequence)
    }
    passWindows(&sequence)
    sequences[key] = sequence
  }

  private mutating func indexPages(_ sequence: inout Sequence) {
    guard let identity = sequence.identity else { return }
    while (sequence.indexedCount + 1) * pagePositions <= sequence.tokens.count {
      let page = sequence.indexedCount
      let prefix = Prefix(
        identity: identity, tokens: Array(sequence.tokens[..<((page + 1) * pagePositions)]))
      if index[prefix] == nil {
        nextNode += 1
        index[prefix] = nextNode
        nodes[nextNode] = (prefix, groups.map { _ in nil })
      }
      guard let node = index[prefix] else { return }
      for group in groups {
        guard let own = sequence.pages[page][group] else { continue }
        if let known = nodes[node]?.pages[group] {
          guard known != own else { continue }
          retain(known)
          release(own)
          sequence.pages[page][group] = known
        } else {
          nodes[node]?.pages[group] = own
          pages[own]?.node = node
        }
      }
      sequence.indexedCount += 1
    }
  }

  private mutating func passWindows(_ sequence: inout Sequence) {
    for group in groups {
      let first = firstPage(group, positions: sequence.contents.count)
      for page in 0..<first {
        if let id = sequence.pages[page][group] { release(id) }
        sequence.pages[page][group] = nil
      }
    }
  }

  func firstPage(_ group: Int, positions: Int) -> Int {
    layout.groups[group].window.map { max(0, positions - $0) / pagePositions } ?? 0
  }

  mutating func truncate(_ key: Int, to position: Int) {
    guard var sequence = sequences[key] else { return }
    let kept = layout.pageCount(positions: position)
    while sequence.pages.count > kept {
      for case let id? in sequence.pages.removeLast() { release(id) }
    }
    if position < sequence.contents.count { sequence.mayShareLast = true }
    sequence.contents.removeSubrange(position...)
    sequence.tokens.removeSubrange(min(position, sequence.tokens.count)...)
    sequence.indexedCount = min(sequence.indexedCount, position / pagePositions)
    sequences[key] = sequence
  }

  mutating func remove(_ key: Int) {
    for row in (sequences[key]?.pages ?? []).reversed() {
      for case let id? in row { release(id) }
    }
    sequences[key] = nil
  }

  mutating func fork(_ key: Int, to other: Int) {
    sequences[key]?.mayShareLast = true
    guard var sequence = sequences[key] else { return }
    sequence.pages.removeSubrange(layout.pageCount(positions: sequence.contents.count)...)
    for row in sequence.pages { for case let id? in row { retain(id) } }
    sequences[other] = sequence
  }

  /// How many of the first pages of `tokens` the pool has.
  func match(_ tokens: [Int32], identity: PrefixIdentity) -> Int {
    var found: [[PageID?]] = []
    while (found.count + 1) * pagePositions <= tokens.count,
      let node = index[
        Prefix(identity: identity, tokens: Array(tokens[..<((found.count + 1) * pagePositions)]))]
    {
      found.append(nodes[node]?.pages ?? [])
    }
    while !found.isEmpty {
      let isWhole = groups.allSatisfy { group in
        found[firstPage(group, positions: found.count * pagePositions)...]
          .allSatisfy { $0[group] != nil }
      }
      if isWhole { break }
      found.removeLast()
    }
    return found.count
  }

  /// An empty sequence takes over a prefix; `content` gives what stands at its positions.
  mutating func adopt(_ tokens: [Int32], in key: Int, content: (ArraySlice<Int32>) -> UInt64) {
    guard var sequence = sequences[key], let identity = sequence.identity else { return }
    let room = sequence.maximumPositions / pagePositions * pagePositions
    let count = match(Array(tokens.prefix(room)), identity: identity)
    for page in 0..<count {
      let prefix = Prefix(
        identity: identity, tokens: Array(tokens[..<((page + 1) * pagePositions)]))
      let node = index[prefix].flatMap { nodes[$0]?.pages } ?? []
      let row = groups.map { group in
        page < firstPage(group, positions: count * pagePositions) ? nil : node[group]
      }
      for case let id? in row { retain(id) }
      sequence.pages.append(row)
    }
    sequence.tokens = Array(tokens[..<(count * pagePositions)])
    sequence.contents = sequence.tokens.indices.map { content(tokens[...$0]) }
    sequence.indexedCount = count
    sequences[key] = sequence
  }

  /// `key` becomes what `source` is, through a file; the refusal, where it does not fit.
  mutating func replace(_ key: Int, by source: Sequence) -> CacheError? {
    guard var sequence = sequences[key] else { return nil }
    let positions = source.contents.count
    guard positions <= sequence.maximumPositions else {
      return .contextExceeded(
        limitPositions: sequence.maximumPositions, neededPositions: positions)
    }
    let pageCount = layout.pageCount(positions: positions)
    let need = groups.reduce(0) {
      $0 + (pageCount - firstPage($1, positions: positions)) * bytes($1)
    }
    let own = sequence.pages.joined().compactMap { $0 }.filter { pages[$0]?.holders == 1 }
    let room = budget - heldBytes + own.reduce(0) { $0 + bytes(pages[$1]?.group ?? 0) }
    guard need <= room else {
      return .full(
        limitPositions: room / layout.pageByteCount * pagePositions, neededPositions: positions)
    }
    for row in sequence.pages.reversed() { for case let id? in row { release(id) } }
    sequence.pages = Array(repeating: groups.map { _ in nil }, count: pageCount)
    for group in groups {
      for page in firstPage(group, positions: positions)..<pageCount {
        sequence.pages[page][group] = take(group)
      }
    }
    sequence.contents = source.contents
    sequence.mayShareLast = false
    sequence.indexedCount = 0
    sequence.tokens = sequence.identity == nil ? [] : source.tokens
    indexPages(&sequence)
    sequences[key] = sequence
    return nil
  }
}
