extension PageLedger {
  /// The nodes of the longest beginning of `tokens` that a sequence could start with.
  ///
  /// A group with a window needs only the pages that the next position looks back at.
  func match(
    _ tokens: ArraySlice<Int32>, identity: PrefixIdentity, layout: CacheLayout
  ) -> [Int32] {
    guard var place = prefixes.knownRoot(identity) else { return [] }
    let pagePositions = layout.pagePositions
    var nodes: [Int32] = []
    // The slice's storage lives through the call; pages lie inside it.
    unsafe tokens.withUnsafeBufferPointer { tokens in
      while (nodes.count + 1) * pagePositions <= tokens.count {
        let start = nodes.count * pagePositions
        let page = unsafe UnsafeBufferPointer(rebasing: tokens[start..<start + pagePositions])
        guard let node = unsafe prefixes.find(after: place, page), prefixes.isUseful(node) else {
          return
        }
        nodes.append(node)
        place = prefixes.place(node)
      }
    }
    while !nodes.isEmpty, !coversWindows(nodes, layout: layout) { nodes.removeLast() }
    return nodes
  }

  private func coversWindows(_ nodes: [Int32], layout: CacheLayout) -> Bool {
    for (index, group) in layout.groups.enumerated() where group.window != nil {
      let first = group.firstVisible(positions: nodes.count * layout.pagePositions)
      for page in (first / layout.pagePositions)..<nodes.count
      where prefixes.page(nodes[page], group: index) < 0 {
        return false
      }
    }
    return true
  }
}
