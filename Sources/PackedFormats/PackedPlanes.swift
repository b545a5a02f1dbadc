import TensorCore

/// The planes of some consecutive rows of a stored tensor, borrowed to read.
///
/// Row 0 of the planes need not be row 0 of the tensor: rows begin on byte boundaries in every
/// plane, so any range of rows is itself a valid set of planes.
public struct PackedPlanes: ~Escapable {
  /// The codes; the values themselves for f32 and f16.
  public let codes: RawSpan
  /// The scales; empty where the format has none.
  public let scales: RawSpan
  /// The minimums; empty where the format has none.
  public let minimums: RawSpan

  /// Planes over memory that the caller keeps alive; leave out what the format does not have.
  @_lifetime(copy codes, copy scales, copy minimums)
  public init(codes: RawSpan, scales: RawSpan = RawSpan(), minimums: RawSpan = RawSpan()) {
    self.codes = codes
    self.scales = scales
    self.minimums = minimums
  }

  /// The bytes of one plane.
  @_lifetime(copy self)
  public func bytes(of plane: Plane) -> RawSpan {
    switch plane {
    case .codes: codes
    case .scales: scales
    case .minimums: minimums
    }
  }

  /// The planes of some of these rows; the planes must have the exact byte counts of `format`.
  @_lifetime(copy self)
  public func rows(_ rows: Range<Int>, columnCount: Int, format: WeightFormat) -> PackedPlanes {
    func range(_ plane: Plane) -> Range<Int> {
      // A per-tensor scale belongs to every row.
      if format.axis(of: plane) == .tensor { return 0..<(rows.isEmpty ? 0 : 4) }
      let start = format.requiredByteCount(of: plane, rows: rows.lowerBound, columns: columnCount)
      let end = format.requiredByteCount(of: plane, rows: rows.upperBound, columns: columnCount)
      return start..<end
    }
    return PackedPlanes(
      codes: codes.extracting(range(.codes)), scales: scales.extracting(range(.scales)),
      minimums: minimums.extracting(range(.minimums)))
  }
}

/// The planes of some consecutive rows of a stored tensor, borrowed to write.
public struct MutablePackedPlanes: ~Copyable, ~Escapable {
  /// The codes; the values themselves for f32 and f16.
  public var codes: MutableRawSpan
  /// The scales; empty where the format has none.
  public var scales: MutableRawSpan
  /// The minimums; empty where the format has none.
  public var minimums: MutableRawSpan

  /// Planes over memory that the caller keeps alive; leave out what the format does not have.
  @_lifetime(copy codes, copy scales, copy minimums)
  public init(
    codes: consuming MutableRawSpan, scales: consuming MutableRawSpan = MutableRawSpan(),
    minimums: consuming MutableRawSpan = MutableRawSpan()
  ) {
    self.codes = codes
    self.scales = scales
    self.minimums = minimums
  }
}

extension WeightFormat {
  /// `byteCount(of:rows:columns:)` where the caller vouches for the dimensions.
  func requiredByteCount(of plane: Plane, rows: Int, columns: Int) -> Int {
    guard let count = byteCount(of: plane, rows: rows, columns: columns) else {
      preconditionFailure("the byte count of \(rows) x \(columns) elements does not fit an Int")
    }
    return count
  }

  /// Bytes of one row of a plane.
  func rowByteCount(of plane: Plane, columns: Int) -> Int {
    requiredByteCount(of: plane, rows: 1, columns: columns)
  }
}
