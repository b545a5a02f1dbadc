import TensorCore

extension WeightFormat {
  /// Chooses scales and codes for some rows of weights and writes them into the planes.
  ///
  /// A tensor may be packed a few rows at a time: rows do not depend on each other. How scales are
  /// chosen stands on the page of each format family. The same input gives the same bytes on every
  /// machine.
  ///
  /// - Parameters:
  ///   - weights: rowCount × columnCount values, row-major.
  ///   - firstRow: the tensor row that the first of these rows is, for errors.
  ///   - planes: exactly the bytes of these rows, `byteCount(of:rows:columns:)` each; every byte of
  ///     them is written unless an error is thrown.
  /// - Throws: where a weight is NaN, infinite or too large for the format, with row and column.
  ///
  /// - Returns: how many weights were clipped.
  ///
  /// Allocates one scratch row for the 2-bit formats, else nothing. Rates stand on the pages.
  @discardableResult
  public func quantize(
    _ weights: Span<Float>, rowCount: Int, columnCount: Int, firstRow: Int = 0,
    options: QuantizationOptions = QuantizationOptions(),
    into planes: inout MutablePackedPlanes
  ) throws(PackedFormatError) -> QuantizationOutcome {
    precondition(rowCount >= 0 && columnCount >= 0, "negative dimensions")
    precondition(weights.count == rowCount * columnCount, "weights do not fill the rows")
    for plane in Plane.allCases {
      let found =
        switch plane {
        case .codes: planes.codes.byteCount
        case .scales: planes.scales.byteCount
        case .minimums: planes.minimums.byteCount
        }
      let expected = requiredByteCount(of: plane, rows: rowCount, columns: columnCount)
      precondition(found == expected, "plane \(plane) has \(found) bytes instead of \(expected)")
    }
    guard rowCount > 0, columnCount > 0 else { return QuantizationOutcome() }

    let format = self
    // The pointers below stay inside the spans: the counts were checked above, and each row's
    // offset is its index times the row's byte count.
    try unsafe weights.withUnsafeBufferPointer { input throws(PackedFormatError) in
      try unsafe planes.codes.withUnsafeMutableBytes { codes throws(PackedFormatError) in
        try unsafe planes.scales.withUnsafeMutableBytes { scales throws(PackedFormatError) in
          try unsafe planes.minimums.withUnsafeMutableBytes {
            minimums throws(PackedFormatError) in
            var quantizer = RowQuantizer(format: format, columnCount: columnCount)
            for row in 0..<rowCount {
              do throws(PackedFormatError) {
                try unsafe quantizer.quantize(
                  row: row, of: input, codes: codes, scales: scales, minimums: minimums)
              } catch {
                var placed = error
                placed.row = firstRow + row
                throw placed
              }
            }
          }
        }
      }
    }
    return QuantizationOutcome()
  }
}

/// Quantizes one row after another into planes, with scratch memory that they share.
private struct RowQuantizer {
  let format: WeightFormat
  let columnCount: Int
  let codeBytes: Int
  let scaleBytes: Int
  let groupCount: Int
  var sorted: [UInt32] = []

  init(format: WeightFormat, columnCount: Int) {
    self.format = format
    self.columnCount = columnCount
    codeBytes = format.rowByteCount(of: .codes, columns: columnCount)
    scaleBytes = format.rowByteCount(of: .scales, columns: columnCount)
    groupCount = format.groupCount(columns: columnCount)
    if format == .u2c || format == .u2g64 { sorted.reserveCapacity(columnCount) }
  }

  /// The caller guarantees that `row` lies in all four buffers, columnCount weights a row.
  mutating func quantize(
    row: Int, of weights: UnsafeBufferPointer<Float>, codes: UnsafeMutableRawBufferPointer,
    scales: UnsafeMutableRawBufferPointer, minimums: UnsafeMutableRawBufferPointer
  ) throws(PackedFormatError) {
    let x = unsafe UnsafeBufferPointer(
      rebasing: weights[row * columnCount..<(row + 1) * columnCount])
    try unsafe Self.requireFinite(x)
    let codes = unsafe UnsafeMutableRawBufferPointer(
      rebasing: codes[row * codeBytes..<(row + 1) * codeBytes])
    switch format {
    case .f32:
      unsafe codes.copyMemory(from: UnsafeRawBufferPointer(x))
    case .f16:
      try unsafe HalfRow.quantize(x, codes: codes)
    case .s8c:
      let scale = unsafe SignedByteRow.quantize(x, codes: codes)
      unsafe scales.storeBytes(
        of: scale.bitPattern.littleEndian, toByteOffset: row * 4, as: UInt32.self)
    case .u2c:
      let scale = try unsafe TwoBitGroup.scale(for: x, sorted: &sorted, half: false)
      unsafe TwoBitGroup.encode(x, scale: scale, codes: codes)
      unsafe scales.storeBytes(
        of: scale.bitPattern.littleEndian, toByteOffset: row * 4, as: UInt32.self)
    case .u2g64:
      for group in 0..<groupCount {
        let columns = group * 64..<min((group + 1) * 64, columnCount)
        let part = unsafe UnsafeBufferPointer(rebasing: x[columns])
        let scale = try Self.placed(at: columns.lowerBound) { () throws(PackedFormatError) in
          try unsafe TwoBitGroup.scale(for: part, sorted: &sorted, half: true)
        }
        unsafe TwoBitGroup.encode(
          part, scale: scale,
          codes: .init(rebasing: codes[group * 16..<min((group + 1) * 16, codeBytes)]))
        unsafe scales.storeBytes(
          of: HalfPrecision.bits(scale).littleEndian,
          toByteOffset: row * scaleBytes + group * 2, as: UInt16.self)
      }
    case .s8g32, .u4c, .u2t, .astc6x6LDR, .astc6x6HDR: preconditionFailure("not here yet")
    case .u4g32:
      for group in 0..<groupCount {
        let columns = group * 32..<min((group + 1) * 32, columnCount)
        let part = unsafe UnsafeBufferPointer(rebasing: x[columns])
        let fit = try Self.placed(at: columns.lowerBound) { () throws(PackedFormatError) in
          try unsafe AffineGroup.fit(part)
        }
        unsafe AffineGroup.encode(
          part, fit: fit,
          codes: .init(rebasing: codes[group * 16..<min((group + 1) * 16, codeBytes)]))
        let offset = row * scaleBytes + group * 2
        unsafe scales.storeBytes(
          of: HalfPrecision.bits(fit.scale).littleEndian, toByteOffset: offset, as: UInt16.self)
        unsafe minimums.storeBytes(
          of: HalfPrecision.bits(fit.minimum).littleEndian, toByteOffset: offset, as: UInt16.self)
      }
    }
  }

  /// Adds the group's first column to an error that names none.
  static func placed<T>(
    at column: Int, _ body: () throws(PackedFormatError) -> T
  ) throws(PackedFormatError) -> T {
    do throws(PackedFormatError) {
      return try body()
    } catch {
      var placed = error
      placed.column = placed.column ?? column
      throw placed
    }
  }

  /// One pass that vectorizes; a second one finds the column where the first finds a fault.
  static func requireFinite(_ x: UnsafeBufferPointer<Float>) throws(PackedFormatError) {
    var faults: UInt32 = 0
    for index in x.indices {
      // Exponent bits all ones: adding one unit of exponent carries into the sign bit.
      unsafe faults |= (x[index].bitPattern & 0x7FFF_FFFF) &+ 0x0080_0000
    }
    if faults & 0x8000_0000 != 0 {
      let column = unsafe x.firstIndex { !$0.isFinite }
      throw PackedFormatError(.nonFiniteWeight, column: column)
    }
  }
}
