extension CacheSequence {
  /// Takes over what the pool has of the beginning of `tokens`, in whole pages, and returns how
  /// many positions that is: they need no prefill. The sequence is empty and has an identity.
  ///
  /// An engine that needs the last position's logits passes all tokens but the last. O(tokens).
  @discardableResult
  public func adoptPrefix(of tokens: ArraySlice<Int32>) -> Int {
    precondition(positionCount == 0 && pageCount == 0, "a prefix is adopted by an empty sequence")
    guard let identity else { return 0 }
    let limit = maximumPositions / layout.pagePositions * layout.pagePositions
    pool.ledger.withLock { ledger in
      let nodes = ledger.match(tokens.prefix(limit), identity: identity, layout: layout)
      table.pageCount = nodes.count
      for group in 0..<table.groupCount {
        let first = layout.groups[group].firstVisible(positions: nodes.count * layout.pagePositions)
        table.setFirst(first / layout.pagePositions, group: group)
      }
      for (index, node) in nodes.enumerated() {
        places.append(ledger.prefixes.place(node))
        for group in 0..<table.groupCount {
          let isPassed = index < table.first(group: group)
          let page = isPassed ? -1 : ledger.prefixes.page(node, group: group)
          if page >= 0 { ledger.retain(page, group: group) }
          table.setPage(page, index, group: group)
        }
      }
    }
    let count = table.pageCount * layout.pagePositions
    self.tokens.append(contentsOf: tokens.prefix(count))
    table.positionCount.store(count, ordering: .relaxed)
    return count
  }

  /// A second sequence with the same positions; what either appends later is its own.
  ///
  /// No key or value is copied, not even the last page, until one of the two writes into it.
  /// O(pages).
  public func fork(maximumPositions: Int? = nil) -> CacheSequence {
    let limit = maximumPositions ?? self.maximumPositions
    precondition(limit >= positionCount, "a fork with room for less than it begins with")
    let other = CacheSequence(pool: pool, maximumPositions: limit, identity: identity)
    let count = layout.pageCount(positions: positionCount)
    pool.ledger.withLock { ledger in
      other.table.pageCount = count
      for group in 0..<table.groupCount {
        other.table.setFirst(table.first(group: group), group: group)
        for index in 0..<count {
          let page = table.page(index, group: group)
          if page >= 0 { ledger.retain(page, group: group) }
          other.table.setPage(page, index, group: group)
        }
      }
    }
    other.tokens.append(contentsOf: tokens)
    other.places.append(contentsOf: places)
    other.canIndex = canIndex
    other.table.positionCount.store(positionCount, ordering: .relaxed)
    lastPageMayBeShared = true
    other.lastPageMayBeShared = true
    return other
  }
}

extension PagePool {
  /// Makes room for `count` more positions in each of several sequences of this pool: in all of
  /// them or, where it throws, in none. For a step of a batch; locks nothing unless one needs a
  /// page.
  public func reserve(_ count: Int, in sequences: [CacheSequence]) throws(CacheError) {
    for index in sequences.indices {
      precondition(sequences[index].pool === self, "a sequence of another pool")
      do throws(CacheError) {
        try sequences[index].reserve(count)
      } catch {
        // What earlier steps had reserved goes too; a page made their own stays theirs.
        for other in sequences[..<index] { other.truncate(to: other.positionCount) }
        throw error
      }
    }
  }
}
