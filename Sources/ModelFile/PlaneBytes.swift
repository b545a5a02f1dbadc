import PackedFormats

/// The planes of some rows of a tensor, in memory of their own.
struct PlaneBytes: Sendable {
  private let codes: [UInt8]
  private let scales: [UInt8]
  private let minimums: [UInt8]

  /// Has the planes written, which begin as zeros. The caller has seen to it that the byte counts of
  /// the whole tensor can be addressed: a file holds them, or a writer has accepted them.
  init<Failure: Error>(
    format: WeightFormat, rowCount: Int, columnCount: Int,
    write: (inout MutablePackedPlanes) throws(Failure) -> Void
  ) throws(Failure) {
    func room(_ plane: Plane) -> [UInt8] {
      let count = format.byteCount(of: plane, rows: rowCount, columns: columnCount) ?? 0
      return [UInt8](repeating: 0, count: count)
    }
    var codes = room(.codes)
    var scales = room(.scales)
    var minimums = room(.minimums)
    do {
      var codeSpan = codes.mutableSpan
      var scaleSpan = scales.mutableSpan
      var minimumSpan = minimums.mutableSpan
      // Bytes have no padding, and every value is a valid one.
      var planes = unsafe MutablePackedPlanes(
        codes: codeSpan.mutableBytes, scales: scaleSpan.mutableBytes,
        minimums: minimumSpan.mutableBytes)
      try write(&planes)
    }
    self.codes = codes
    self.scales = scales
    self.minimums = minimums
  }

  /// The planes, to read.
  var planes: PackedPlanes {
    @_lifetime(borrow self) get {
      PackedPlanes(
        codes: bytes(of: .codes), scales: bytes(of: .scales), minimums: bytes(of: .minimums))
    }
  }

  /// The bytes of one plane.
  @_lifetime(borrow self)
  func bytes(of plane: Plane) -> RawSpan {
    // Bytes have no padding.
    switch plane {
    case .codes: unsafe codes.span.bytes
    case .scales: unsafe scales.span.bytes
    case .minimums: unsafe minimums.span.bytes
    }
  }
}
