/// What happens at page boundaries, under the pool's lock.
extension CacheSequence {
  /// Takes the pages that positions up to `end` need; `opening` where the last page may have to
  /// become this sequence's own first.
  func takePages(to end: Int, opening: Bool) throws(CacheError) {
    let last = positionCount / layout.pagePositions
    let failure: CacheError? = pool.ledger.withLock { ledger in
      let bytes = layout.pageByteCount
      let fresh = max(0, layout.pageCount(positions: end) - pageCount)
      var copies = opening && mustCopy(page: last, in: ledger)
      if copies, (fresh + 1) * bytes > ledger.availableBytes, isOnlyHolder(page: last, in: ledger) {
        // No room for a copy, and nobody but the prefix index would miss this page.
        takeOutOfIndex(page: last, in: &ledger)
        copies = false
      }
      let needed = fresh + (copies ? 1 : 0)
      guard needed * bytes <= ledger.availableBytes else {
        let free = ledger.availableBytes / bytes - (copies ? 1 : 0)
        return .full(
          limitPositions: free < 0 ? positionCount : (pageCount + free) * layout.pagePositions,
          neededPositions: end)
      }
      if copies { copyPage(last, in: &ledger) }
      for _ in 0..<fresh {
        table.pageCount += 1
        for group in 0..<table.groupCount {
          let page = pool.take(group: group, from: &ledger)
          table.setPage(page, table.pageCount - 1, group: group)
        }
      }
      return nil
    }
    if let failure { throw failure }
    if opening { lastPageMayBeShared = false }
  }

  /// Whether somebody else holds a page of this sequence, or the prefix index knows it.
  private func mustCopy(page index: Int, in ledger: borrowing PageLedger) -> Bool {
    for group in 0..<table.groupCount {
      let page = table.page(index, group: group)
      if ledger.holders(page, group: group) > 1 || ledger.node(page, group: group) >= 0 {
        return true
      }
    }
    return false
  }

  private func isOnlyHolder(page index: Int, in ledger: borrowing PageLedger) -> Bool {
    for group in 0..<table.groupCount
    where ledger.holders(table.page(index, group: group), group: group) > 1 {
      return false
    }
    return true
  }

  private func takeOutOfIndex(page index: Int, in ledger: inout PageLedger) {
    for group in 0..<table.groupCount {
      let node = ledger.node(table.page(index, group: group), group: group)
      if node >= 0 { ledger.remove(node) }
    }
  }

  /// Gives this sequence a page of its own with the same content, in every group.
  private func copyPage(_ index: Int, in ledger: inout PageLedger) {
    for group in 0..<table.groupCount {
      let shared = table.page(index, group: group)
      let own = pool.take(group: group, from: &ledger)
      pool.copy(page: shared, to: own, group: group)
      ledger.release(shared, group: group)
      table.setPage(own, index, group: group)
    }
  }

  /// Gives the pages from `first` on back, the last one first: of a prefix that stays cached the
  /// end is given up before the beginning.
  func release(from first: Int, in ledger: inout PageLedger) {
    for index in stride(from: table.pageCount - 1, through: first, by: -1) {
      for group in 0..<table.groupCount {
        let page = table.page(index, group: group)
        guard page >= 0 else { continue }
        ledger.release(page, group: group)
        table.setPage(-1, index, group: group)
      }
    }
    table.pageCount = first
    guard first == 0 else { return }
    for group in 0..<table.groupCount { table.setFirst(0, group: group) }
  }

  /// Gives pages back that lie wholly before their group's window.
  func passWindows() {
    for (group, description) in layout.groups.enumerated() where description.window != nil {
      let needed = description.firstVisible(positions: positionCount) / layout.pagePositions
      let first = table.first(group: group)
      guard needed > first else { continue }
      pool.ledger.withLock { ledger in
        for index in first..<needed {
          ledger.release(table.page(index, group: group), group: group)
          table.setPage(-1, index, group: group)
        }
        table.setFirst(needed, group: group)
      }
    }
  }

  /// Puts the pages that the known tokens have filled into the prefix index, or exchanges them for
  /// the equal ones that are there.
  func indexPages() {
    guard let root else { return }
    pool.ledger.withLock { ledger in
      // The tokens live through the call; every page lies inside them.
      unsafe tokens.withUnsafeBufferPointer { tokens in
        while (places.count + 1) * layout.pagePositions <= tokens.count {
          let index = places.count
          let start = index * layout.pagePositions
          let page = unsafe UnsafeBufferPointer(
            rebasing: tokens[start..<start + layout.pagePositions])
          let parent = places.last ?? root
          let node: Int32
          if let found = unsafe ledger.prefixes.find(after: parent, page) {
            node = found
          } else if holdsPage(index) {
            node = unsafe ledger.prefixes.insert(after: parent, page)
          } else {
            // Restored, and every group's window had passed it before.
            canIndex = false
            return
          }
          join(node, page: index, in: &ledger)
          places.append(ledger.prefixes.place(node))
        }
      }
    }
  }

  private func holdsPage(_ index: Int) -> Bool {
    (0..<table.groupCount).contains { table.page(index, group: $0) >= 0 }
  }

  /// Makes the pages of a node and those of this sequence the same.
  private func join(_ node: Int32, page index: Int, in ledger: inout PageLedger) {
    for group in 0..<table.groupCount {
      let own = table.page(index, group: group)
      // A restored sequence has no pages before its windows.
      guard own >= 0 else { continue }
      let known = ledger.prefixes.page(node, group: group)
      if known < 0 {
        ledger.prefixes.setPage(own, node, group: group)
        ledger.setNode(node, ofPage: own, group: group)
      } else if known != own {
        ledger.retain(known, group: group)
        ledger.release(own, group: group)
        table.setPage(known, index, group: group)
      }
    }
  }
}
