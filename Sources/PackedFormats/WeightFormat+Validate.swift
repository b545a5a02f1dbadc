import TensorCore

extension WeightFormat {
  /// Checks some stored rows against the rules of the format, so that dequantizing them gives
  /// finite values and packing has one canonical padding.
  ///
  /// - Throws: the first fault, by plane, then row, then column: a plane of the wrong byte count, a
  ///   NaN or infinite f32 or f16 value, the code −128 in s8c and s8g32, an illegal packed block,
  ///   nonzero bits behind the last code of a row, a scale that is not finite, has its sign bit set
  ///   or is above ``largestScale``, a minimum that is not finite.
  /// - Parameter firstRow: the tensor row that the first of these rows is, for errors.
  public func validate(
    _ planes: borrowing PackedPlanes, rowCount: Int, columnCount: Int, firstRow: Int = 0
  ) throws(PackedFormatError) {
    precondition(rowCount >= 0 && columnCount >= 0, "negative dimensions")
    for plane in Plane.allCases {
      let found = planes.bytes(of: plane).byteCount
      let expected = requiredByteCount(of: plane, rows: rowCount, columns: columnCount)
      guard found == expected else {
        throw PackedFormatError(.planeByteCount(found: found, expected: expected), plane: plane)
      }
    }
    let format = self
    // The pointers stay inside the spans, whose byte counts were checked above.
    try unsafe planes.codes.withUnsafeBytes { codes throws(PackedFormatError) in
      try unsafe format.validateCodes(
        codes, rowCount: rowCount, columnCount: columnCount, firstRow: firstRow)
    }
    for plane in [Plane.scales, .minimums] where self.planes.contains(plane) {
      try unsafe planes.bytes(of: plane).withUnsafeBytes { bytes throws(PackedFormatError) in
        try unsafe format.validateNumbers(
          bytes, plane: plane, columnCount: columnCount, firstRow: firstRow)
      }
    }
  }

  /// `codes` holds rowCount rows.
  private func validateCodes(
    _ codes: UnsafeRawBufferPointer, rowCount: Int, columnCount: Int, firstRow: Int
  ) throws(PackedFormatError) {
    let rowBytes = rowByteCount(of: .codes, columns: columnCount)
    let usedBits = columnCount * (codeBitCount ?? 0) % 8
    guard rowBytes > 0 else { return }
    switch self {
    case .u4g32, .u4c, .u2c, .u2g64, .u2t:
      // Whatever fills whole bytes is legal.
      guard usedBits != 0 else { return }
    case .s8c, .s8g32:
      guard unsafe codes.contains(0x80, inOnePass: ()) else { return }
    case .f32, .f16, .astc6x6LDR, .astc6x6HDR: break
    }
    for row in 0..<rowCount {
      let bytes = unsafe UnsafeRawBufferPointer(
        rebasing: codes[row * rowBytes..<(row + 1) * rowBytes])
      var column: Int?
      var reason = PackedFormatError.Reason.nonFiniteWeight
      switch self {
      case .f32:
        column = (0..<columnCount).first { unsafe !loadFloat(bytes, $0 * 4).isFinite }
      case .f16:
        column = (0..<columnCount).first {
          unsafe loadHalfBits(bytes, $0 * 2) & 0x7C00 == 0x7C00
        }
      case .astc6x6LDR, .astc6x6HDR:
        if let found = unsafe ASTCWeightRow.firstFault(
          bytes, profile: self == .astc6x6LDR ? .ldr : .hdr)
        {
          column = found.block * Self.packedBlockColumnCount
          reason = .illegalBlock(found.fault)
        }
      case .s8c, .s8g32:
        column = unsafe bytes.firstIndex(of: 0x80)
        reason = .forbiddenCode
      case .u4g32, .u4c, .u2c, .u2g64, .u2t:
        if usedBits != 0, unsafe bytes[rowBytes - 1] >> UInt8(usedBits) != 0 {
          column = columnCount
        }
        reason = .nonzeroPadding
      }
      if let column {
        throw PackedFormatError(reason, plane: .codes, row: firstRow + row, column: column)
      }
    }
  }

  /// Checks scales or minimums, row-major over rows × groups.
  private func validateNumbers(
    _ bytes: UnsafeRawBufferPointer, plane: Plane, columnCount: Int, firstRow: Int
  ) throws(PackedFormatError) {
    let size: Int? = if case .group(let columns) = axis(of: plane) { columns } else { nil }
    let width = size == nil ? 4 : 2
    let groups = size.map { (columnCount + $0 - 1) / $0 } ?? 1
    if unsafe width == 4 ? floatsAreLegal(bytes) : halvesAreLegal(bytes, plane) { return }
    for index in 0..<bytes.count / width {
      let value =
        unsafe width == 4
        ? loadFloat(bytes, index * 4)
        : HalfPrecision.float(bits: loadHalfBits(bytes, index * 2))
      var reason: PackedFormatError.Reason?
      if !value.isFinite {
        reason = plane == .scales ? .nonFiniteScale : .nonFiniteMinimum
      } else if plane == .scales, value.sign == .minus {
        reason = .negativeScale
      } else if plane == .scales, value > largestScale {
        reason = .outOfRange
      }
      if let reason {
        throw PackedFormatError(
          reason, plane: plane,
          row: axis(of: plane) == .tensor ? nil : firstRow + index / groups,
          column: size.map { index % groups * $0 })
      }
    }
  }

  /// Whether all binary32 scales are in range and have no sign bit, in one pass that vectorizes.
  private func floatsAreLegal(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let limit = largestScale.bitPattern
    var faults: UInt32 = 0
    for index in 0..<bytes.count / 4 {
      let bits = unsafe loadFloat(bytes, index * 4).bitPattern
      // Without a sign, numbers order as their bits do: the difference is negative beyond the
      // limit.
      faults |= bits | (limit &- (bits & 0x7FFF_FFFF))
    }
    return faults & 0x8000_0000 == 0
  }

  /// The same for binary16; minimums may have their sign bit set.
  private func halvesAreLegal(_ bytes: UnsafeRawBufferPointer, _ plane: Plane) -> Bool {
    let signs: UInt16 = plane == .scales ? 0x8000 : 0
    var faults: UInt16 = 0
    for index in 0..<bytes.count / 2 {
      let bits = unsafe loadHalfBits(bytes, index * 2)
      faults |= (bits & signs) | ((bits & 0x7FFF) &+ 0x0400)
    }
    return faults & 0x8000 == 0
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a byte occurs, looking at all of them: a loop that vectorizes.
  fileprivate func contains(_ byte: UInt8, inOnePass: Void) -> Bool {
    var found: UInt8 = 0
    for index in indices { unsafe found |= self[index] == byte ? 1 : 0 }
    return found != 0
  }
}
