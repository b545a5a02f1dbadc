/// How one key or value element is stored.
public enum CacheElement: String, CaseIterable, Hashable, Sendable {
  /// IEEE 754 binary32: the reference.
  case f32
  /// IEEE 754 binary16.
  case f16
  /// 8-bit codes −127…127 with one binary32 scale per token and head; value = code · scale.
  case s8

  /// Bytes of one element, scales apart.
  public var byteCount: Int {
    switch self {
    case .f32: 4
    case .f16: 2
    case .s8: 1
    }
  }

  /// The name on the command line, where it has another: llama-bench calls 8-bit caches `q8_0`.
  public init?(commandLineName name: String) {
    switch name {
    case "s8", "int8", "q8_0": self = .s8
    default:
      guard let element = CacheElement(rawValue: name) else { return nil }
      self = element
    }
  }
}

/// The shape of a cache: what one position costs and where it stands in its page.
///
/// A page holds a fixed number of positions of every store (a store is a layer that has keys and
/// values of its own). Inside a page and for each store there follow, per head:
///
///     keys    [headDimension][pagePositions]   transposed: scores of a page are one panel product
///     values  [pagePositions][headDimension]
///     scales  [pagePositions] binary32 for keys, then for values, where they are 8-bit
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

  /// A geometry; all counts are positive.
  public init(
    storeCount: Int, headCount: Int, headDimension: Int, pagePositions: Int = 64,
    keyElement: CacheElement, valueElement: CacheElement
  ) {
    precondition(
      storeCount > 0 && headCount > 0 && headDimension > 0 && pagePositions > 0,
      "a cache geometry needs positive counts")
    self.storeCount = storeCount
    self.headCount = headCount
    self.headDimension = headDimension
    self.pagePositions = pagePositions
    self.keyElement = keyElement
    self.valueElement = valueElement
  }

  /// Bytes that the keys and values of one position need, scales apart: the ideal.
  public var idealBytesPerPosition: Int {
    storeCount * headCount * headDimension * (keyElement.byteCount + valueElement.byteCount)
  }

  /// Bytes of the scales of one position; 0 unless an element is 8-bit.
  public var scaleBytesPerPosition: Int {
    storeCount * headCount * 4 * ((keyElement == .s8 ? 1 : 0) + (valueElement == .s8 ? 1 : 0))
  }

  /// Bytes of a whole page, with the padding that aligns its parts to 64 bytes.
  public var pageByteCount: Int { storeCount * storeByteCount }

  /// Pages that hold that many positions.
  public func pageCount(positions: Int) -> Int {
    (positions + pagePositions - 1) / pagePositions
  }

  // Offsets inside a page. Every part begins on a multiple of 64 bytes.

  var keyPanelByteCount: Int { aligned(headDimension * pagePositions * keyElement.byteCount) }
  var valuePanelByteCount: Int { aligned(headDimension * pagePositions * valueElement.byteCount) }
  var keyScaleByteCount: Int { keyElement == .s8 ? aligned(pagePositions * 4) : 0 }
  var valueScaleByteCount: Int { valueElement == .s8 ? aligned(pagePositions * 4) : 0 }

  var headByteCount: Int {
    keyPanelByteCount + valuePanelByteCount + keyScaleByteCount + valueScaleByteCount
  }

  var storeByteCount: Int { headCount * headByteCount }

  func headOffset(store: Int, head: Int) -> Int {
    store * storeByteCount + head * headByteCount
  }

  private func aligned(_ byteCount: Int) -> Int { (byteCount + 63) & ~63 }
}
