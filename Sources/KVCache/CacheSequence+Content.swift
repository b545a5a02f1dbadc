import Synchronization
import TensorCore

/// The pages of a sequence as bytes, for snapshots.
extension CacheSequence {
  /// Hands out a copy of every page that stored positions need, group by group, each from the first
  /// page of the window to the last: what is not stored yet reads as zeros.
  package func forEachPageImage<Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Void
  ) throws(Failure) {
    for (index, group) in layout.groups.enumerated() {
      let geometry = group.geometry
      let image = AlignedStorage(byteCount: geometry.pageByteCount)
      for page in table.first(group: index)..<layout.pageCount(positions: positionCount) {
        let count = min(layout.pagePositions, positionCount - page * layout.pagePositions)
        // The sequence holds the page; the image is as large and only ours.
        unsafe image.baseAddress.copyMemory(
          from: pool.address(ofPage: table.page(page, group: index), group: index),
          byteCount: geometry.pageByteCount)
        unsafe geometry.clear(image.baseAddress, from: count)
        try body(image.bytes)
      }
    }
  }

  /// Bytes of all page images of a sequence of that many positions.
  package static func imageByteCount(layout: CacheLayout, positions: Int) -> Int {
    layout.groups.reduce(0) { sum, group in
      let first = group.firstVisible(positions: positions) / layout.pagePositions
      return sum
        + (layout.pageCount(positions: positions) - first) * group.geometry.pageByteCount
    }
  }

  /// Replaces everything that the sequence holds by `positions` positions whose page images stand
  /// in `images`, one after another; `tokens` are those of its first positions.
  ///
  /// Throws before anything is touched where the pool has no room for them in place of what the
  /// sequence holds now.
  package func replace(
    positions: Int, tokens: [Int32], images: RawSpan
  ) throws(CacheError) {
    precondition(
      images.byteCount == Self.imageByteCount(layout: layout, positions: positions)
        && tokens.count <= positions, "images of another length")
    guard positions <= maximumPositions else {
      throw .contextExceeded(limitPositions: maximumPositions, neededPositions: positions)
    }
    let failure: CacheError? = pool.ledger.withLock { ledger in
      let own = ownBytes(in: ledger)
      let room = ledger.availableBytes + own
      guard images.byteCount <= room else {
        return .full(
          limitPositions: room / layout.pageByteCount * layout.pagePositions,
          neededPositions: positions)
      }
      release(from: 0, in: &ledger)
      table.pageCount = layout.pageCount(positions: positions)
      var offset = 0
      for (index, group) in layout.groups.enumerated() {
        let first = group.firstVisible(positions: positions) / layout.pagePositions
        table.setFirst(first, group: index)
        for page in 0..<table.pageCount {
          guard page >= first else {
            table.setPage(-1, page, group: index)
            continue
          }
          let taken = pool.take(group: index, from: &ledger)
          table.setPage(taken, page, group: index)
          pool.fill(page: taken, group: index, from: images, at: offset)
          offset += group.geometry.pageByteCount
        }
      }
      table.positionCount.store(positions, ordering: .relaxed)
      return nil
    }
    if let failure { throw failure }
    lastPageMayBeShared = false
    canIndex = true
    places.removeAll(keepingCapacity: true)
    self.tokens.removeAll(keepingCapacity: true)
    guard identity != nil else { return }
    self.tokens.append(contentsOf: tokens)
    indexPages()
  }

  /// Bytes of the pages that nobody else holds.
  private func ownBytes(in ledger: borrowing PageLedger) -> Int {
    var bytes = 0
    for index in 0..<pageCount {
      for group in 0..<table.groupCount {
        let page = table.page(index, group: group)
        if page >= 0, ledger.holders(page, group: group) == 1 {
          bytes += layout.groups[group].geometry.pageByteCount
        }
      }
    }
    return bytes
  }
}

extension PagePool {
  /// Fills a page that one sequence has just taken.
  func fill(page: Int32, group: Int, from images: RawSpan, at offset: Int) {
    let byteCount = layout.groups[group].geometry.pageByteCount
    let image = images.extracting(offset..<offset + byteCount)
    // Both sides have a page's bytes.
    unsafe image.withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress else { return }
      unsafe address(ofPage: page, group: group).copyMemory(from: source, byteCount: byteCount)
    }
  }
}

extension CacheGeometry {
  /// Zeroes the values of positions from `first` on.
  private func clearValues(in panel: UnsafeMutableRawPointer, from first: Int) {
    let row = valueElement.byteCount(elements: headDimension)
    var whole = first
    if valueElement.isByteCode, first % 2 == 1 {
      // Every other byte of two positions' row.
      for element in 0..<row {
        unsafe panel.storeBytes(
          of: 0, toByteOffset: (first - 1) * row + 2 * element + 1, as: UInt8.self)
      }
      whole += 1
    }
    // What is left of the panel; the last pair of an odd number of positions ends behind them.
    let end = valueElement.panelByteCount(rows: pagePositions, columns: headDimension)
    unsafe (panel + whole * row)
      .initializeMemory(as: UInt8.self, repeating: 0, count: end - whole * row)
  }

  /// Zeroes what a page image has for its positions from `first` on, scales included.
  func clear(_ image: UnsafeMutableRawPointer, from first: Int) {
    guard first < pagePositions else { return }
    func clearColumns(of plane: UnsafeMutableRawPointer, rows: Int, cellByteCount: Int) {
      for row in 0..<rows {
        // Columns first..<pagePositions of a row of the plane.
        unsafe (plane + (row * pagePositions + first) * cellByteCount)
          .initializeMemory(
            as: UInt8.self, repeating: 0, count: (pagePositions - first) * cellByteCount)
      }
    }
    func clearScales(of plane: UnsafeMutableRawPointer, _ element: CacheElement) {
      switch element {
      case .f32, .f16, .s8Static: break
      case .s8: unsafe clearColumns(of: plane, rows: 1, cellByteCount: 4)
      case .u4g32: unsafe clearColumns(of: plane, rows: 2 * elementGroupCount, cellByteCount: 2)
      }
    }
    let keyCell = keyElement.keyCellByteCount
    let keyRows = keyElement.panelByteCount(rows: headDimension, columns: 1) / keyCell
    for store in 0..<storeCount {
      for head in 0..<headCount {
        // All planes lie inside the image, which has a page's bytes.
        let place = unsafe CacheSequence.headPage(
          in: image, geometry: self, store: store, head: head)
        unsafe clearColumns(
          of: place.keys, rows: keyRows, cellByteCount: keyCell)
        unsafe clearValues(in: place.values, from: first)
        unsafe clearScales(of: place.keyScalePlane, keyElement)
        unsafe clearScales(of: place.valueScalePlane, valueElement)
      }
    }
  }
}
