import TensorCore

extension WeightFormat {
  /// The codes that elements may have; nil for f32 and f16, which store values, and for packed
  /// blocks.
  public var codeRange: ClosedRange<Int>? {
    switch self {
    case .f32, .f16, .astc6x6LDR, .astc6x6HDR: nil
    case .s8c, .s8g32: -127...127
    case .u4g32, .u4c: 0...15
    case .u2c, .u2g64, .u2t: 0...3
    }
  }

  /// How many numbers a plane of a rows × columns tensor holds: an element's code each, a scale or
  /// minimum for each row, group or tensor. Nil where the product does not fit an `Int`; 0 for a
  /// plane that the format does not have.
  public func elementCount(of plane: Plane, rows: Int, columns: Int) -> Int? {
    guard plane == .codes else {
      let width = if case .group = axis(of: plane) { 2 } else { 4 }
      return byteCount(of: plane, rows: rows, columns: columns).map { $0 / width }
    }
    guard byteCount(of: .codes, rows: rows, columns: columns) != nil else { return nil }
    let (count, overflow) = rows.multipliedReportingOverflow(by: columns)
    return overflow ? nil : count
  }

  /// Builds the planes of some rows from codes and scales that exist already, such as those of a
  /// model that was trained quantized: nothing is rounded, and `unpack` gives back every bit.
  ///
  /// - Parameters:
  ///   - codes: rowCount × columnCount bytes, row-major, each a code of `codeRange`; two's
  ///     complement for the signed formats.
  ///   - scales: `elementCount(of: .scales, rows:columns:)` numbers, row-major over rows × groups.
  ///   - minimums: the same for minimums; empty for the formats that have none.
  ///   - firstRow: the tensor row that the first of these rows is, for errors.
  ///   - planes: exactly the bytes of these rows, `byteCount(of:rows:columns:)` each, all written
  ///     unless an error is thrown.
  /// - Throws: the first fault, by plane, then row, then column: a code outside the range, a scale
  ///   that is not finite, has its sign bit set or is above ``largestScale``, a minimum that is not
  ///   finite, a scale or minimum per group that binary16 does not hold exactly.
  /// - Precondition: the format has codes (`codeRange` is not nil), and all counts fit.
  public func pack(
    codes: Span<UInt8>, scales: Span<Float>, minimums: Span<Float> = Span(), rowCount: Int,
    columnCount: Int, firstRow: Int = 0, into planes: inout MutablePackedPlanes
  ) throws(PackedFormatError) {
    requireCodes(rowCount: rowCount, columnCount: columnCount)
    for (plane, found, room) in [
      (Plane.codes, codes.count, planes.codes.byteCount),
      (.scales, scales.count, planes.scales.byteCount),
      (.minimums, minimums.count, planes.minimums.byteCount),
    ] {
      requireCounts(
        plane, numbers: found, bytes: room, rowCount: rowCount, columnCount: columnCount)
    }
    guard rowCount > 0, columnCount > 0 else { return }
    try packCodes(
      codes, columnCount: columnCount, firstRow: firstRow, into: &planes.codes)
    try packNumbers(
      scales, of: .scales, columnCount: columnCount, firstRow: firstRow, into: &planes.scales)
    try packNumbers(
      minimums, of: .minimums, columnCount: columnCount, firstRow: firstRow,
      into: &planes.minimums)
  }

  /// The inverse of `pack`: codes, scales and minimums of some stored rows, a number each.
  ///
  /// Any bytes are accepted (see `validate` for the rules); the widening of binary16 is exact.
  /// Allocates nothing.
  ///
  /// - Precondition: the format has codes, and all counts fit, as in `pack`.
  public func unpack(
    _ planes: borrowing PackedPlanes, rowCount: Int, columnCount: Int,
    codes: inout MutableSpan<UInt8>, scales: inout MutableSpan<Float>,
    minimums: inout MutableSpan<Float>
  ) {
    requireCodes(rowCount: rowCount, columnCount: columnCount)
    for (plane, found) in [
      (Plane.codes, codes.count), (.scales, scales.count), (.minimums, minimums.count),
    ] {
      requireCounts(
        plane, numbers: found, bytes: planes.bytes(of: plane).byteCount, rowCount: rowCount,
        columnCount: columnCount)
    }
    guard rowCount > 0, columnCount > 0 else { return }
    unpackCodes(planes.codes, columnCount: columnCount, into: &codes)
    unpackNumbers(planes.scales, of: .scales, into: &scales)
    unpackNumbers(planes.minimums, of: .minimums, into: &minimums)
  }
}

extension WeightFormat {
  private func requireCodes(rowCount: Int, columnCount: Int) {
    precondition(rowCount >= 0 && columnCount >= 0, "negative dimensions")
    precondition(codeRange != nil, "\(name) has no codes of its own for elements")
  }

  private func requireCounts(
    _ plane: Plane, numbers: Int, bytes: Int, rowCount: Int, columnCount: Int
  ) {
    let expected = elementCount(of: plane, rows: rowCount, columns: columnCount)
    precondition(
      numbers == expected, "\(numbers) numbers of plane \(plane) for \(rowCount)x\(columnCount)")
    let byteCount = requiredByteCount(of: plane, rows: rowCount, columns: columnCount)
    precondition(
      bytes == byteCount, "plane \(plane) has \(bytes) bytes instead of \(byteCount)")
  }

  /// Codes of whole rows; the counts are checked.
  private func packCodes(
    _ codes: Span<UInt8>, columnCount: Int, firstRow: Int, into plane: inout MutableRawSpan
  ) throws(PackedFormatError) {
    guard let bitCount = codeBitCount else { return }
    let mask = UInt8(truncatingIfNeeded: (1 << bitCount) - 1)
    let perByte = 8 / bitCount
    let rowBytes = rowByteCount(of: .codes, columns: columnCount)
    for row in 0..<codes.count / columnCount {
      let begin = row * columnCount
      for byte in 0..<rowBytes {
        var packed: UInt8 = 0
        for lane in 0..<min(perByte, columnCount - byte * perByte) {
          let column = byte * perByte + lane
          let code = codes[begin + column]
          guard code <= mask, bitCount < 8 || code != 0x80 else {
            throw PackedFormatError(
              bitCount == 8 ? .forbiddenCode : .codeOutOfRange, plane: .codes,
              row: firstRow + row, column: column)
          }
          packed |= code << UInt8(lane * bitCount)
        }
        plane.storeBytes(of: packed, toByteOffset: row * rowBytes + byte, as: UInt8.self)
      }
    }
  }

  /// Scales or minimums of whole rows; the counts are checked.
  private func packNumbers(
    _ numbers: Span<Float>, of plane: Plane, columnCount: Int, firstRow: Int,
    into bytes: inout MutableRawSpan
  ) throws(PackedFormatError) {
    let groupSize: Int? = if case .group(let columns) = axis(of: plane) { columns } else { nil }
    let groups = groupSize.map { (columnCount + $0 - 1) / $0 } ?? 1
    for index in numbers.indices {
      let number = numbers[index]
      let half = HalfPrecision.bits(number)
      var reason: PackedFormatError.Reason?
      if !number.isFinite {
        reason = plane == .scales ? .nonFiniteScale : .nonFiniteMinimum
      } else if plane == .scales, number.sign == .minus {
        reason = .negativeScale
      } else if plane == .scales, number > largestScale {
        reason = .outOfRange
      } else if groupSize != nil, HalfPrecision.float(bits: half) != number {
        reason = .inexactNumber
      }
      if let reason {
        throw PackedFormatError(
          reason, plane: plane, row: axis(of: plane) == .tensor ? nil : firstRow + index / groups,
          column: groupSize.map { index % groups * $0 })
      }
      if groupSize == nil {
        bytes.storeBytes(
          of: number.bitPattern.littleEndian, toByteOffset: index * 4, as: UInt32.self)
      } else {
        bytes.storeBytes(of: half.littleEndian, toByteOffset: index * 2, as: UInt16.self)
      }
    }
  }

  private func unpackCodes(
    _ plane: RawSpan, columnCount: Int, into codes: inout MutableSpan<UInt8>
  ) {
    guard let bitCount = codeBitCount else { return }
    let mask = UInt8(truncatingIfNeeded: (1 << bitCount) - 1)
    let perByte = 8 / bitCount
    let rowBytes = rowByteCount(of: .codes, columns: columnCount)
    for row in 0..<codes.count / columnCount {
      for column in 0..<columnCount {
        // One byte of the plane, whose byte count is checked.
        let byte = unsafe plane.unsafeLoad(
          fromByteOffset: row * rowBytes + column / perByte, as: UInt8.self)
        codes[row * columnCount + column] = (byte >> UInt8(column % perByte * bitCount)) & mask
      }
    }
  }

  private func unpackNumbers(
    _ bytes: RawSpan, of plane: Plane, into numbers: inout MutableSpan<Float>
  ) {
    let isHalf = if case .group = axis(of: plane) { true } else { false }
    for index in numbers.indices {
      // Numbers of the plane, whose byte count is checked; any bits are a valid integer.
      if isHalf {
        let bits = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index * 2, as: UInt16.self)
        numbers[index] = HalfPrecision.float(bits: UInt16(littleEndian: bits))
      } else {
        let bits = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
        numbers[index] = Float(bitPattern: UInt32(littleEndian: bits))
      }
    }
  }
}
