import RandomNumbers

/// The beginnings of sequences that the pool knows, page by page.
///
/// A node is one page of positions after another node, or at the beginning. Nodes are found by a
/// chained hash (the parent's hash and the page's tokens) and then compared: same parent, same
/// tokens. By induction an equal node means equal tokens from the beginning on, under the same
/// identity, whatever the hash does. A node's serial number is never used twice, so that what hung
/// on a removed node can be reached no more.
struct PrefixIndex {
  /// [group], whether its pages stay as long as the sequence: false where a window passes.
  private let keepsAllPages: [Bool]
  private let groupCount: Int
  private let pagePositions: Int
  private var nodes: [Node] = []
  /// [node · groups + group], −1 where the group's page is gone or was never kept.
  private var pages: [Int32] = []
  /// [node · pagePositions + position].
  private var tokens: [Int32] = []
  private var free: [Int32] = []
  /// The first node of every hash chain; its count is a power of two.
  private var buckets: [Int32]
  private var roots: [PrefixIdentity: UInt64] = [:]
  private var lastSerial: UInt64 = 0
  private(set) var count = 0

  private struct Node {
    var serial: UInt64 = 0
    var parentSerial: UInt64 = 0
    var hash: UInt64 = 0
    var next: Int32 = -1
    var pageCount: Int32 = 0
  }

  /// A place in the tree: a root or a node.
  struct Place {
    var serial: UInt64
    var hash: UInt64
  }

  init(keepsAllPages: [Bool], pagePositions: Int, capacity: Int) {
    self.keepsAllPages = keepsAllPages
    groupCount = keepsAllPages.count
    self.pagePositions = pagePositions
    var bucketCount = 64
    while bucketCount < capacity { bucketCount *= 2 }
    buckets = Array(repeating: -1, count: bucketCount)
    nodes.reserveCapacity(capacity)
    free.reserveCapacity(capacity)
    pages.reserveCapacity(capacity * groupCount)
    tokens.reserveCapacity(capacity * pagePositions)
  }

  /// Where sequences of that identity begin.
  mutating func root(_ identity: PrefixIdentity) -> Place {
    if let serial = roots[identity] { return Place(serial: serial, hash: Self.mix(serial)) }
    lastSerial += 1
    roots[identity] = lastSerial
    return Place(serial: lastSerial, hash: Self.mix(lastSerial))
  }

  /// The root of an identity that the index has seen.
  func knownRoot(_ identity: PrefixIdentity) -> Place? {
    roots[identity].map { Place(serial: $0, hash: Self.mix($0)) }
  }

  func place(_ node: Int32) -> Place {
    Place(serial: nodes[Int(node)].serial, hash: nodes[Int(node)].hash)
  }

  func page(_ node: Int32, group: Int) -> Int32 { pages[Int(node) * groupCount + group] }

  mutating func setPage(_ page: Int32, _ node: Int32, group: Int) {
    let index = Int(node) * groupCount + group
    nodes[Int(node)].pageCount += (page >= 0 ? 1 : 0) - (pages[index] >= 0 ? 1 : 0)
    pages[index] = page
  }

  /// Whether a sequence can begin with the node: every group that keeps all pages has its page, or,
  /// where every group has a window, one of them has.
  func isUseful(_ node: Int32) -> Bool {
    for group in 0..<groupCount where keepsAllPages[group] && page(node, group: group) < 0 {
      return false
    }
    return nodes[Int(node)].pageCount > 0
  }

  /// The node after `parent` with those tokens, one page of them.
  func find(after parent: Place, _ page: UnsafeBufferPointer<Int32>) -> Int32? {
    let hash = unsafe Self.hash(parent.hash, page)
    var node = buckets[Int(truncatingIfNeeded: hash) & (buckets.count - 1)]
    while node >= 0 {
      let found = nodes[Int(node)]
      if found.hash == hash, found.parentSerial == parent.serial, unsafe hasTokens(node, page) {
        return node
      }
      node = found.next
    }
    return nil
  }

  private func hasTokens(_ node: Int32, _ page: UnsafeBufferPointer<Int32>) -> Bool {
    let start = Int(node) * pagePositions
    for index in 0..<pagePositions {
      // `page` holds pagePositions tokens.
      if unsafe page[index] != tokens[start + index] { return false }
    }
    return true
  }

  /// Adds a node without pages; there is none like it.
  mutating func insert(after parent: Place, _ page: UnsafeBufferPointer<Int32>) -> Int32 {
    let hash = unsafe Self.hash(parent.hash, page)
    let node: Int32
    if let reused = free.popLast() {
      node = reused
      for index in 0..<pagePositions {
        // `page` holds pagePositions tokens.
        unsafe tokens[Int(node) * pagePositions + index] = page[index]
      }
    } else {
      node = Int32(nodes.count)
      nodes.append(Node())
      for _ in 0..<groupCount { pages.append(-1) }
      unsafe tokens.append(contentsOf: page)
      if nodes.count > 2 * buckets.count { growBuckets() }
    }
    lastSerial += 1
    let bucket = Int(truncatingIfNeeded: hash) & (buckets.count - 1)
    nodes[Int(node)] = Node(
      serial: lastSerial, parentSerial: parent.serial, hash: hash, next: buckets[bucket])
    buckets[bucket] = node
    count += 1
    return node
  }

  /// Removes a node whose pages are gone.
  mutating func remove(_ node: Int32) {
    precondition(nodes[Int(node)].pageCount == 0, "a prefix is removed that has pages")
    let bucket = Int(truncatingIfNeeded: nodes[Int(node)].hash) & (buckets.count - 1)
    if buckets[bucket] == node {
      buckets[bucket] = nodes[Int(node)].next
    } else {
      var before = Int(buckets[bucket])
      while nodes[before].next != node { before = Int(nodes[before].next) }
      nodes[before].next = nodes[Int(node)].next
    }
    nodes[Int(node)] = Node()
    free.append(node)
    count -= 1
  }

  private mutating func growBuckets() {
    var chains: [Int32] = Array(repeating: -1, count: buckets.count * 2)
    for bucket in buckets {
      var node = bucket
      while node >= 0 {
        let next = nodes[Int(node)].next
        let place = Int(truncatingIfNeeded: nodes[Int(node)].hash) & (chains.count - 1)
        nodes[Int(node)].next = chains[place]
        chains[place] = node
        node = next
      }
    }
    buckets = chains
  }

  // MARK: - The hash

  /// Two tokens at a time, each step a full product folded to its width.
  private static func hash(_ parent: UInt64, _ page: UnsafeBufferPointer<Int32>) -> UInt64 {
    var hash = parent
    var index = 0
    func word(_ index: Int) -> UInt64 {
      // Inside the buffer's own indices.
      UInt64(UInt32(bitPattern: unsafe page[index]))
    }
    while index + 1 < page.count {
      hash = fold(hash ^ (word(index) | word(index + 1) << 32))
      index += 2
    }
    if index < page.count { hash = fold(hash ^ word(index)) }
    return mix(hash)
  }

  private static func fold(_ value: UInt64) -> UInt64 {
    let product = (value ^ 0xD6E8_FEB8_6659_FD93).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return (product.high ^ product.low) &+ 0xC2B2_AE3D_27D4_EB4F
  }

  /// A bijection of 64 bits.
  private static func mix(_ value: UInt64) -> UInt64 {
    SplitMix64.mix(value &+ SplitMix64.increment)
  }
}

/// What the keys and values of a prefix depend on beside its tokens.
///
/// Two sequences share pages only if theirs are equal. The elements and scales of a cache are its
/// pool's, so they need not be named here.
public struct PrefixIdentity: Hashable, Sendable {
  /// The model: a digest, a path, a name; whatever tells two of them apart.
  public var model: String
  /// The adapter that changes its keys and values; empty where there is none.
  public var adapter: String

  /// An identity.
  public init(model: String, adapter: String = "") {
    self.model = model
    self.adapter = adapter
  }
}
