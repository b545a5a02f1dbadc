import TensorCore

/// One sequence's place in the cache: its page table and the number of its positions.
///
/// Appending is two steps: `reserve` takes the pages (or throws before anything is touched), the
/// keys and values of the new positions are stored, and `advance` makes them part of the sequence.
/// One thread owns the sequence; storing different heads or positions may happen on several.
/// Its pages go back to the pool with it.
public final class CacheSequence {
  /// Where the pages come from.
  public let pool: PagePool
  /// Positions stored.
  public private(set) var positionCount = 0

  private var pages: [Int32]

  /// An empty sequence that can grow to `maximumPositions` without allocating anything but pages.
  public init(pool: PagePool, maximumPositions: Int) {
    self.pool = pool
    pages = []
    pages.reserveCapacity(pool.geometry.pageCount(positions: maximumPositions))
  }

  deinit { pool.give(back: &pages, from: 0) }

  /// The shape of the pages.
  public var geometry: CacheGeometry { pool.geometry }

  /// Makes room for `count` more positions; throws with limit and need, and changes nothing,
  /// where the pool has too few free pages.
  public func reserve(_ count: Int) throws(CacheError) {
    precondition(count >= 0, "a negative position count")
    let needed = geometry.pageCount(positions: positionCount + count) - pages.count
    guard needed > 0 else { return }
    guard pool.take(needed, into: &pages) else {
      throw .full(
        limitPositions: (pages.count + pool.freePageCount) * geometry.pagePositions,
        neededPositions: positionCount + count)
    }
  }

  /// Makes the `count` positions after the last one part of the sequence.
  public func advance(_ count: Int) {
    precondition(
      count >= 0 && positionCount + count <= pages.count * geometry.pagePositions,
      "advance past what was reserved")
    positionCount += count
  }

  /// Forgets the positions from `position` on and gives their whole pages back.
  public func truncate(to position: Int) {
    precondition(position >= 0 && position <= positionCount, "truncate outside the sequence")
    positionCount = position
    pool.give(back: &pages, from: geometry.pageCount(positions: position))
  }

  /// Forgets everything.
  public func reset() { truncate(to: 0) }

  /// Pages held.
  public var pageCount: Int { pages.count }

  /// What this sequence costs now.
  public var usage: CacheUsage {
    CacheUsage(
      allocatedBytes: pages.count * geometry.pageByteCount,
      usedBytes: positionCount
        * (geometry.idealBytesPerPosition + geometry.scaleBytesPerPosition),
      idealBytes: positionCount * geometry.idealBytesPerPosition)
  }
}

/// Cache memory in bytes.
public struct CacheUsage: Hashable, Sendable {
  /// Pages held, whole.
  public var allocatedBytes: Int
  /// Stored positions with their scales.
  public var usedBytes: Int
  /// Stored positions without scales: positions × bytes a position.
  public var idealBytes: Int

  /// A usage of those byte counts.
  public init(allocatedBytes: Int, usedBytes: Int, idealBytes: Int) {
    self.allocatedBytes = allocatedBytes
    self.usedBytes = usedBytes
    self.idealBytes = idealBytes
  }
}

extension CacheSequence {
  /// The keys, values and scales of one head of one store in one page of the sequence.
  ///
  /// Pointers into the pool: valid while the sequence holds the page.
  @unsafe package struct HeadPage {
    /// [headDimension][pagePositions] in the key element.
    package let keys: UnsafeMutableRawPointer
    /// [pagePositions][headDimension] in the value element.
    package let values: UnsafeMutableRawPointer
    /// [pagePositions], or nil where keys have no scales.
    package let keyScales: UnsafeMutablePointer<Float>?
    /// [pagePositions], or nil where values have no scales.
    package let valueScales: UnsafeMutablePointer<Float>?
  }

  /// The place of a head of a store in the `index`-th page of this sequence.
  @inline(__always)
  @unsafe package func headPage(store: Int, head: Int, page index: Int) -> HeadPage {
    let geometry = pool.geometry
    precondition(
      store < geometry.storeCount && head < geometry.headCount, "outside the cache geometry")
    // `pages[index]` is held by this sequence, and the offsets stay inside one page.
    let keys =
      unsafe pool.address(ofPage: pages[index])
      + geometry.headOffset(store: store, head: head)
    let values = unsafe keys + geometry.keyPanelByteCount
    let scales = unsafe values + geometry.valuePanelByteCount
    return unsafe HeadPage(
      keys: keys,
      values: values,
      keyScales: geometry.keyElement == .s8 ? scales.assumingMemoryBound(to: Float.self) : nil,
      valueScales: geometry.valueElement == .s8
        ? (scales + geometry.keyScaleByteCount).assumingMemoryBound(to: Float.self) : nil)
  }

  /// Stores one head's key of a reserved position: headDimension elements, already in the cache's
  /// key element, and their scale (ignored unless 8-bit). O(headDimension), strided.
  @inline(__always)
  package func storeKey(
    store: Int, head: Int, position: Int, elements: UnsafeRawPointer, scale: Float
  ) {
    let geometry = pool.geometry
    let place = unsafe headPage(store: store, head: head, page: position / geometry.pagePositions)
    let column = position % geometry.pagePositions
    // Both sides hold headDimension elements; the panel's row stride is pagePositions.
    switch geometry.keyElement {
    case .f32: unsafe scatter(elements, as: UInt32.self, into: place.keys, column: column)
    case .f16: unsafe scatter(elements, as: UInt16.self, into: place.keys, column: column)
    case .s8: unsafe scatter(elements, as: UInt8.self, into: place.keys, column: column)
    }
    if let scales = unsafe place.keyScales { unsafe scales[column] = scale }
  }

  /// Stores one head's value of a reserved position, likewise; contiguous.
  @inline(__always)
  package func storeValue(
    store: Int, head: Int, position: Int, elements: UnsafeRawPointer, scale: Float
  ) {
    let geometry = pool.geometry
    let place = unsafe headPage(store: store, head: head, page: position / geometry.pagePositions)
    let row = position % geometry.pagePositions
    let rowByteCount = geometry.headDimension * geometry.valueElement.byteCount
    // Row `row` of the value panel, inside the page.
    unsafe (place.values + row * rowByteCount).copyMemory(from: elements, byteCount: rowByteCount)
    if let scales = unsafe place.valueScales { unsafe scales[row] = scale }
  }

  @inline(__always)
  private func scatter<Element: BitwiseCopyable>(
    _ source: UnsafeRawPointer, as type: Element.Type, into panel: UnsafeMutableRawPointer,
    column: Int
  ) {
    let stride = pool.geometry.pagePositions
    let size = MemoryLayout<Element>.size
    for index in 0..<pool.geometry.headDimension {
      let element = unsafe source.loadUnaligned(fromByteOffset: index * size, as: type)
      unsafe panel.storeBytes(of: element, toByteOffset: (index * stride + column) * size, as: type)
    }
  }
}
