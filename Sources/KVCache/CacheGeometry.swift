/// The shape of a cache group: what one position costs and where it stands in its page.
///
/// A page holds a fixed number of positions of every store (a store is a layer that has keys and
/// values of its own). <doc:PageLayout> says where every byte of a page stands.
public struct CacheGeometry: Hashable, Sendable {
  /// Layers with keys and values of their own.
  public let storeCount: Int
  /// Key/value heads a layer.
  public let headCount: Int
  /// Elements of one head.
  public let headDimension: Int
  /// Positions in a page.
  public let pagePositions: Int
  /// How keys are stored.
  public let keyElement: CacheElement
  /// How values are stored.
  public let valueElement: CacheElement

  // Bytes of the four parts of a head in a page. Every part begins on a multiple of 64 bytes.
  package let keyPanelByteCount: Int
  package let valuePanelByteCount: Int
  package let keyScaleByteCount: Int
  package let valueScaleByteCount: Int

  /// A geometry; all counts are positive, and a head with 4-bit codes has an even dimension.
  public init(
    storeCount: Int, headCount: Int, headDimension: Int, pagePositions: Int = 64,
    keyElement: CacheElement, valueElement: CacheElement
  ) {
    precondition(
      storeCount > 0 && headCount > 0 && headDimension > 0 && pagePositions > 0,
      "a cache geometry needs positive counts")
    precondition(
      headDimension % 2 == 0 || (keyElement.bitCount > 4 && valueElement.bitCount > 4),
      "two 4-bit codes share a byte: the head dimension must be even")
    self.storeCount = storeCount
    self.headCount = headCount
    self.headDimension = headDimension
    self.pagePositions = pagePositions
    self.keyElement = keyElement
    self.valueElement = valueElement
    func aligned(_ byteCount: Int) -> Int { (byteCount + 63) & ~63 }
    keyPanelByteCount = aligned(
      keyElement.panelByteCount(rows: headDimension, columns: pagePositions))
    valuePanelByteCount = aligned(
      valueElement.panelByteCount(rows: pagePositions, columns: headDimension))
    keyScaleByteCount = aligned(
      keyElement.scaleByteCount(headDimension: headDimension) * pagePositions)
    valueScaleByteCount = aligned(
      valueElement.scaleByteCount(headDimension: headDimension) * pagePositions)
  }

  /// Bytes that the keys and values of one position need, scales apart: the ideal.
  public var idealBytesPerPosition: Int {
    storeCount * headCount
      * (keyElement.byteCount(elements: headDimension)
        + valueElement.byteCount(elements: headDimension))
  }

  /// Bytes of the scales that one position has in its page.
  public var scaleBytesPerPosition: Int {
    storeCount * headCount
      * (keyElement.scaleByteCount(headDimension: headDimension)
        + valueElement.scaleByteCount(headDimension: headDimension))
  }

  /// Bytes of a whole page, with the padding that aligns its parts to 64 bytes.
  public var pageByteCount: Int { storeCount * storeByteCount }

  /// Pages that hold that many positions.
  public func pageCount(positions: Int) -> Int {
    (positions + pagePositions - 1) / pagePositions
  }

  /// Groups of elements of a head that share a scale, where an element has groups.
  package var elementGroupCount: Int { CacheElement.groupCount(headDimension: headDimension) }

  package var headByteCount: Int {
    keyPanelByteCount + valuePanelByteCount + keyScaleByteCount + valueScaleByteCount
  }

  package var storeByteCount: Int { headCount * headByteCount }

  /// Bytes from the beginning of a page to a head of a store.
  package func headOffset(store: Int, head: Int) -> Int {
    store * storeByteCount + head * headByteCount
  }
}
