import CKernels

/// Sixteen float lanes, whatever the register width of the level, and what a level does on them.
///
/// Every level works on 16 lanes (four, two or one register), so that the order of sums is the
/// same everywhere; the vector levels fuse multiply and add, the portable one rounds twice.
/// Parts read and write the first `count` lanes, 0 < count ≤ 16, and no memory after them.
protocol FloatLanes {
  /// How many groups of 16 columns a panel kernel keeps in registers for four rows.
  static var panelVectorCount: Int { get }

  /// sum + a · b.
  static func multiplyAdd(_ sum: Lanes, _ a: Lanes, _ b: Lanes) -> Lanes
  static func squareRoot(_ value: Float) -> Float
  /// The larger of a and b, b where either is NaN.
  static func maximum(_ a: Lanes, _ b: Lanes) -> Lanes
  /// The smaller of a and b, b where either is NaN.
  static func minimum(_ a: Lanes, _ b: Lanes) -> Lanes
  /// v, but zero where x is less than the threshold.
  static func zero(_ v: Lanes, where x: Lanes, isBelow threshold: Float) -> Lanes
  /// A bit for each lane that equals the value.
  static func equal(_ v: Lanes, _ value: Float) -> UInt32
  /// A bit for each lane that is larger than the value.
  static func above(_ v: Lanes, _ value: Float) -> UInt32
  /// A bit for each lane that is NaN.
  static func unordered(_ v: Lanes) -> UInt32

  static func loadF32Part(_ source: UnsafeRawPointer, _ count: Int) -> Lanes
  static func storeF32Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int)
  static func loadF16(_ source: UnsafeRawPointer) -> Lanes
  static func loadF16Part(_ source: UnsafeRawPointer, _ count: Int) -> Lanes
  static func storeF16(_ target: UnsafeMutableRawPointer, _ v: Lanes)
  static func storeF16Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int)
  /// Rounds to nearest even; the values lie in −127…127.
  static func storeS8Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int)
  /// Likewise; the values lie in −32767…32767.
  static func storeS16Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int)
}

typealias Lanes = SIMD16<Float>

extension FloatLanes {
  @inline(__always)
  static func loadF32(_ source: UnsafeRawPointer) -> Lanes {
    unsafe source.loadUnaligned(as: Lanes.self)
  }

  @inline(__always)
  static func storeF32(_ target: UnsafeMutableRawPointer, _ v: Lanes) {
    unsafe target.storeBytes(of: v, as: Lanes.self)
  }

  /// Lane i + lane i+8, then i + i+4, i + i+2, i + i+1: the one order of every kernel.
  @inline(__always)
  static func sum(_ v: Lanes) -> Float {
    let eight = v.lowHalf + v.highHalf
    let four = eight.lowHalf + eight.highHalf
    let two = four.lowHalf + four.highHalf
    return two.x + two.y
  }

  /// The largest lane; no lane is NaN.
  @inline(__always)
  static func largest(_ v: Lanes) -> Float {
    let eight = v.lowHalf.replacing(with: v.highHalf, where: v.highHalf .> v.lowHalf)
    let four = eight.lowHalf.replacing(with: eight.highHalf, where: eight.highHalf .> eight.lowHalf)
    let two = four.lowHalf.replacing(with: four.highHalf, where: four.highHalf .> four.lowHalf)
    return two.x > two.y ? two.x : two.y
  }
}

/// A type of elements that panels and products read and widen to floats.
protocol FloatElement {
  static var byteCount: Int { get }
  static func load<L: FloatLanes>(_: L.Type, _ source: UnsafeRawPointer) -> Lanes
  static func loadPart<L: FloatLanes>(_: L.Type, _ source: UnsafeRawPointer, _ count: Int) -> Lanes
}

enum F32Element: FloatElement {
  @inline(__always) static var byteCount: Int { 4 }
  @inline(__always)
  static func load<L: FloatLanes>(_: L.Type, _ source: UnsafeRawPointer) -> Lanes {
    unsafe L.loadF32(source)
  }
  @inline(__always)
  static func loadPart<L: FloatLanes>(_: L.Type, _ source: UnsafeRawPointer, _ count: Int) -> Lanes
  {
    unsafe L.loadF32Part(source, count)
  }
}

enum F16Element: FloatElement {
  @inline(__always) static var byteCount: Int { 2 }
  @inline(__always)
  static func load<L: FloatLanes>(_: L.Type, _ source: UnsafeRawPointer) -> Lanes {
    unsafe L.loadF16(source)
  }
  @inline(__always)
  static func loadPart<L: FloatLanes>(_: L.Type, _ source: UnsafeRawPointer, _ count: Int) -> Lanes
  {
    unsafe L.loadF16Part(source, count)
  }
}
