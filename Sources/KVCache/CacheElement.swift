/// How one key or value element is stored.
public enum CacheElement: String, CaseIterable, Hashable, Sendable {
  /// IEEE 754 binary32: the reference.
  case f32
  /// IEEE 754 binary16.
  case f16
  /// 8-bit codes −127…127 with one binary32 scale per token and head; value = code · scale.
  case s8
  /// 8-bit codes −127…127 with one scale for all keys, and one for all values, of a store: part of
  /// the model, and of no page; value = code · scale.
  case s8Static = "s8static"
  /// 4-bit codes 0…15 with a binary16 scale and minimum for every 32 elements of a head;
  /// value = minimum + code · scale.
  case u4g32

  /// Bits of one element, scales apart.
  public var bitCount: Int {
    switch self {
    case .f32: 32
    case .f16: 16
    case .s8, .s8Static: 8
    case .u4g32: 4
    }
  }

  /// Consecutive elements of a head that share a scale and a minimum (`u4g32`); the last group of
  /// a head may be shorter.
  public static var groupElementCount: Int { 32 }

  /// Bytes of `count` elements, scales apart; two 4-bit codes share a byte.
  public func byteCount(elements count: Int) -> Int { (count * bitCount + 7) / 8 }

  /// Whether an element is a code of a byte. Panels of such have two rows side by side, as kernels
  /// multiply them: two elements of a key, two positions of values.
  package var isByteCode: Bool { self == .s8 || self == .s8Static }

  /// Bytes that a row of a page's key panel has for one position.
  var keyCellByteCount: Int { isByteCode ? 2 : max(1, bitCount / 8) }

  /// Bytes of a page's panel of `rows` rows of `columns` elements.
  func panelByteCount(rows: Int, columns: Int) -> Int {
    isByteCode ? (rows + 1) / 2 * 2 * columns : byteCount(elements: rows * columns)
  }

  /// Bytes of the scales that one vector of a head has in its page.
  func scaleByteCount(headDimension: Int) -> Int {
    switch self {
    case .f32, .f16, .s8Static: 0
    case .s8: 4
    case .u4g32: 4 * Self.groupCount(headDimension: headDimension)
    }
  }

  /// Groups of a head.
  static func groupCount(headDimension: Int) -> Int {
    (headDimension + groupElementCount - 1) / groupElementCount
  }

  /// The name on the command line, where it has another: llama-bench calls 8-bit caches `q8_0` and
  /// 4-bit ones with a scale and a minimum `q4_1`.
  public init?(commandLineName name: String) {
    switch name {
    case "s8", "int8", "q8_0": self = .s8
    case "u4g32", "q4_1": self = .u4g32
    default:
      guard let element = CacheElement(rawValue: name) else { return nil }
      self = element
    }
  }
}
