/// Keys and values of one head and position, in and out.
extension CacheSequence {
  /// Quantizes and stores one head's key of a reserved position: headDimension elements.
  ///
  /// The scalar reference, for tests and for engines without a kernel for the element.
  public func storeKey(
    _ values: Span<Float>, group: Int = 0, store: Int, head: Int, position: Int
  ) {
    checkUnstored(position)
    // The sequence holds the page.
    unsafe key(group: group, store: store, head: head, position: position).store(values)
  }

  /// Quantizes and stores one head's value of a reserved position, likewise.
  public func storeValue(
    _ values: Span<Float>, group: Int = 0, store: Int, head: Int, position: Int
  ) {
    checkUnstored(position)
    // The sequence holds the page.
    unsafe value(group: group, store: store, head: head, position: position).store(values)
  }

  /// Reads one head's key of a position that no window has passed.
  public func readKey(
    into values: inout MutableSpan<Float>, group: Int = 0, store: Int, head: Int, position: Int
  ) {
    // The sequence holds the page.
    unsafe key(group: group, store: store, head: head, position: position).load(into: &values)
  }

  /// Reads one head's value of a position that no window has passed.
  public func readValue(
    into values: inout MutableSpan<Float>, group: Int = 0, store: Int, head: Int, position: Int
  ) {
    // The sequence holds the page.
    unsafe value(group: group, store: store, head: head, position: position).load(into: &values)
  }

  /// Stores one head's key of a reserved position: headDimension elements, already in the cache's
  /// key element (4-bit codes two a byte), and the scale of `s8`, which others ignore. The scales
  /// and minimums of `u4g32` are the caller's to write. O(headDimension), strided.
  @inline(__always)
  package func storeKey(
    group: Int = 0, store: Int, head: Int, position: Int, elements: UnsafeRawPointer, scale: Float
  ) {
    // The sequence holds the page, and the caller vouches for headDimension elements.
    unsafe key(group: group, store: store, head: head, position: position)
      .storeCells(elements, scale: scale)
  }

  /// Stores one head's value of a reserved position, likewise.
  @inline(__always)
  package func storeValue(
    group: Int = 0, store: Int, head: Int, position: Int, elements: UnsafeRawPointer, scale: Float
  ) {
    // The sequence holds the page, and the caller vouches for headDimension elements.
    unsafe value(group: group, store: store, head: head, position: position)
      .storeCells(elements, scale: scale)
  }

  private func checkUnstored(_ position: Int) {
    precondition(
      position >= positionCount, "a stored position may be shared and is not written again")
  }

  @inline(__always)
  @unsafe func key(group: Int, store: Int, head: Int, position: Int) -> HeadVector {
    let geometry = layout.groups[group].geometry
    let place = unsafe headPage(
      group: group, store: store, head: head, page: position / geometry.pagePositions)
    let index = position % geometry.pagePositions
    let size = geometry.keyElement.keyCellByteCount
    // Keys stand transposed: one column of the panel.
    return unsafe HeadVector(
      element: geometry.keyElement, count: geometry.headDimension,
      cells: place.keys + index * size, stride: geometry.pagePositions * size,
      isPaired: geometry.keyElement.isByteCode,
      scalePlane: place.keyScalePlane, index: index, pagePositions: geometry.pagePositions,
      staticScale: geometry.keyElement == .s8Static
        ? layout.groups[group].staticScales?.keys[store] ?? 1 : 1)
  }

  @inline(__always)
  @unsafe func value(group: Int, store: Int, head: Int, position: Int) -> HeadVector {
    let geometry = layout.groups[group].geometry
    let place = unsafe headPage(
      group: group, store: store, head: head, page: position / geometry.pagePositions)
    let index = position % geometry.pagePositions
    let rowByteCount = geometry.valueElement.byteCount(elements: geometry.headDimension)
    let isPaired = geometry.valueElement.isByteCode
    // One row of the panel, or every other byte of two.
    return unsafe HeadVector(
      element: geometry.valueElement, count: geometry.headDimension,
      cells: place.values
        + (isPaired ? (index & ~1) * rowByteCount + (index & 1) : index * rowByteCount),
      stride: isPaired ? 2 : max(1, geometry.valueElement.bitCount / 8), isPaired: false,
      scalePlane: place.valueScalePlane, index: index, pagePositions: geometry.pagePositions,
      staticScale: geometry.valueElement == .s8Static
        ? layout.groups[group].staticScales?.values[store] ?? 1 : 1)
  }
}
