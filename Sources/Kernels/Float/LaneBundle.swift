/// Some neighbouring groups of 16 columns that a panel kernel handles at once.
///
/// Types instead of counts keep the tiles free of branches: the SIL optimiser stops inlining in
/// functions of many blocks, and a kernel must be one piece. `part` is the number of columns that
/// a `PartBundle` covers; the others ignore it.
protocol LaneBundle {
  static var zero: Self { get }
  static func load<L: FloatLanes, E: FloatElement>(
    _: L.Type, _: E.Type, _ source: UnsafeRawPointer, _ part: Int
  ) -> Self
  /// self + x · b.
  func adding<L: FloatLanes>(_: L.Type, _ x: Lanes, times b: Self) -> Self
  /// Writes the sums or, with factors, adds them to what is there times the row's factor.
  func store<L: FloatLanes>(
    _: L.Type, _ target: UnsafeMutableRawPointer, _ part: Int, _ row: Int,
    factors: UnsafePointer<Float>?)
}

struct OneBundle: LaneBundle {
  var v: Lanes
  @inline(__always) static var zero: Self { Self(v: .zero) }
  @inline(__always)
  static func load<L: FloatLanes, E: FloatElement>(
    _: L.Type, _: E.Type, _ source: UnsafeRawPointer, _ part: Int
  ) -> Self {
    unsafe Self(v: E.load(L.self, source))
  }
  @inline(__always)
  func adding<L: FloatLanes>(_: L.Type, _ x: Lanes, times b: Self) -> Self {
    Self(v: L.multiplyAdd(v, x, b.v))
  }
  @inline(__always)
  func store<L: FloatLanes>(
    _: L.Type, _ target: UnsafeMutableRawPointer, _ part: Int, _ row: Int,
    factors: UnsafePointer<Float>?
  ) {
    var sum = v
    if let factors = unsafe factors {
      sum = unsafe L.multiplyAdd(sum, L.loadF32(target), Lanes(repeating: factors[row]))
    }
    unsafe L.storeF32(target, sum)
  }
}

/// Fewer than 16 columns, at the right edge.
struct PartBundle: LaneBundle {
  var v: Lanes
  @inline(__always) static var zero: Self { Self(v: .zero) }
  @inline(__always)
  static func load<L: FloatLanes, E: FloatElement>(
    _: L.Type, _: E.Type, _ source: UnsafeRawPointer, _ part: Int
  ) -> Self {
    unsafe Self(v: E.loadPart(L.self, source, part))
  }
  @inline(__always)
  func adding<L: FloatLanes>(_: L.Type, _ x: Lanes, times b: Self) -> Self {
    Self(v: L.multiplyAdd(v, x, b.v))
  }
  @inline(__always)
  func store<L: FloatLanes>(
    _: L.Type, _ target: UnsafeMutableRawPointer, _ part: Int, _ row: Int,
    factors: UnsafePointer<Float>?
  ) {
    var sum = v
    if let factors = unsafe factors {
      sum = unsafe L.multiplyAdd(sum, L.loadF32Part(target, part), Lanes(repeating: factors[row]))
    }
    unsafe L.storeF32Part(target, sum, part)
  }
}

/// Two bundles side by side.
struct PairBundle<Half: LaneBundle & ColumnCounted>: LaneBundle, ColumnCounted {
  var low, high: Half
  @inline(__always) static var columnCount: Int { 2 &* Half.columnCount }
  @inline(__always) static var zero: Self { Self(low: .zero, high: .zero) }
  @inline(__always)
  static func load<L: FloatLanes, E: FloatElement>(
    _: L.Type, _: E.Type, _ source: UnsafeRawPointer, _ part: Int
  ) -> Self {
    let next = unsafe source + Half.columnCount &* E.byteCount
    return unsafe Self(
      low: Half.load(L.self, E.self, source, part), high: Half.load(L.self, E.self, next, part))
  }
  @inline(__always)
  func adding<L: FloatLanes>(_: L.Type, _ x: Lanes, times b: Self) -> Self {
    Self(
      low: low.adding(L.self, x, times: b.low), high: high.adding(L.self, x, times: b.high))
  }
  @inline(__always)
  func store<L: FloatLanes>(
    _: L.Type, _ target: UnsafeMutableRawPointer, _ part: Int, _ row: Int,
    factors: UnsafePointer<Float>?
  ) {
    unsafe low.store(L.self, target, part, row, factors: factors)
    let next = unsafe target + Half.columnCount &* 4
    unsafe high.store(L.self, next, part, row, factors: factors)
  }
}

/// A bundle that always covers the same number of columns.
protocol ColumnCounted {
  static var columnCount: Int { get }
}

extension OneBundle: ColumnCounted {
  @inline(__always) static var columnCount: Int { 16 }
}

typealias TwoBundle = PairBundle<OneBundle>
typealias FourBundle = PairBundle<TwoBundle>
