import TensorCore

extension WeightFormat {
  /// Computes the values of some stored rows, in binary32 and in one fixed order of operations:
  ///
  /// - f32, f16: the value itself; the conversion of f16 is exact.
  /// - s8c, s8g32: `Float(code) * scale`, one rounding.
  /// - u4c: `(Float(code) - 7.5) * scale`, one rounding.
  /// - u4g32: `minimum + Float(code) * scale`, the product rounded before the sum (not fused).
  /// - u2c, u2g64, u2t: `(Float(code) - 1.5) * scale`, one rounding.
  /// - astc6x6-ldr, astc6x6-hdr: see their page; the columns of an illegal block become NaN.
  ///
  /// - Parameters:
  ///   - planes: exactly the bytes of these rows, `byteCount(of:rows:columns:)` each.
  ///   - output: rowCount × columnCount values, row-major, all written.
  ///
  /// Any bytes are accepted (see `validate` for the rules); allocates nothing.
  public func dequantize(
    _ planes: borrowing PackedPlanes, rowCount: Int, columnCount: Int,
    into output: inout MutableSpan<Float>
  ) {
    precondition(rowCount >= 0 && columnCount >= 0, "negative dimensions")
    precondition(output.count == rowCount * columnCount, "the output does not fit the rows")
    for plane in Plane.allCases {
      let found = planes.bytes(of: plane).byteCount
      let expected = requiredByteCount(of: plane, rows: rowCount, columns: columnCount)
      precondition(found == expected, "plane \(plane) has \(found) bytes instead of \(expected)")
    }
    guard rowCount > 0, columnCount > 0 else { return }
    let format = self
    // The pointers stay inside the spans: counts were checked above, and each row's offset is its
    // index times the row's byte count.
    unsafe output.withUnsafeMutableBufferPointer { output in
      unsafe planes.codes.withUnsafeBytes { codes in
        unsafe planes.scales.withUnsafeBytes { scales in
          unsafe planes.minimums.withUnsafeBytes { minimums in
            let dequantizer = RowDequantizer(format: format, columnCount: columnCount)
            for row in 0..<rowCount {
              unsafe dequantizer.dequantize(
                row: row, codes: codes, scales: scales, minimums: minimums,
                into: .init(rebasing: output[row * columnCount..<(row + 1) * columnCount]))
            }
          }
        }
      }
    }
  }
}

/// Dequantizes single rows of planes.
private struct RowDequantizer {
  let format: WeightFormat
  let codeBytes: Int
  /// Bytes from a row's scales to the next row's; 0 where all rows share one.
  let scaleBytes: Int
  let minimumBytes: Int

  init(format: WeightFormat, columnCount: Int) {
    self.format = format
    codeBytes = format.rowByteCount(of: .codes, columns: columnCount)
    scaleBytes =
      format.axis(of: .scales) == .tensor
      ? 0 : format.rowByteCount(of: .scales, columns: columnCount)
    minimumBytes = format.rowByteCount(of: .minimums, columns: columnCount)
  }

  /// The caller guarantees that `row` lies in all planes and that `output` holds one row.
  func dequantize(
    row: Int, codes: UnsafeRawBufferPointer, scales: UnsafeRawBufferPointer,
    minimums: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<Float>
  ) {
    let codes = unsafe UnsafeRawBufferPointer(
      rebasing: codes[row * codeBytes..<(row + 1) * codeBytes])
    let scaleOffset = row * scaleBytes
    switch format {
    case .f32:
      unsafe UnsafeMutableRawBufferPointer(output).copyMemory(from: codes)
    case .f16:
      for column in output.indices {
        unsafe output[column] = HalfPrecision.float(bits: loadHalfBits(codes, column * 2))
      }
    case .s8c:
      unsafe CodeExpansion.bytes(
        codes, 0..<output.count, scale: loadFloat(scales, scaleOffset), into: output)
    case .u4c:
      unsafe CodeExpansion.nibbles(
        codes, 0..<output.count, scale: loadFloat(scales, scaleOffset), zeroPoint: 7.5,
        minimum: nil, into: output)
    case .u2c, .u2t:
      unsafe CodeExpansion.pairs(
        codes, 0..<output.count, scale: loadFloat(scales, scaleOffset), into: output)
    case .s8g32, .u4g32, .u2g64:
      unsafe dequantizeGroups(
        codes, scales: .init(rebasing: scales[scaleOffset..<scaleOffset + scaleBytes]),
        minimums: .init(rebasing: minimums[row * minimumBytes..<(row + 1) * minimumBytes]),
        into: output)
    case .astc6x6LDR, .astc6x6HDR:
      unsafe ASTCWeightRow.dequantize(
        codes, profile: format == .astc6x6LDR ? .ldr : .hdr,
        scale: loadFloat(scales, scaleOffset),
        minimums: .init(rebasing: minimums[row * minimumBytes..<(row + 1) * minimumBytes]),
        into: output)
    }
  }

  /// A row whose groups have scales of their own; all arguments are those of the row.
  private func dequantizeGroups(
    _ codes: UnsafeRawBufferPointer, scales: UnsafeRawBufferPointer,
    minimums: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<Float>
  ) {
    let size = format.groupSize ?? output.count
    for (group, begin) in stride(from: 0, to: output.count, by: size).enumerated() {
      let columns = begin..<min(begin + size, output.count)
      let scale = unsafe HalfPrecision.float(bits: loadHalfBits(scales, group * 2))
      switch format {
      case .s8g32: unsafe CodeExpansion.bytes(codes, columns, scale: scale, into: output)
      case .u4g32:
        let minimum = unsafe HalfPrecision.float(bits: loadHalfBits(minimums, group * 2))
        unsafe CodeExpansion.nibbles(
          codes, columns, scale: scale, zeroPoint: 0, minimum: minimum, into: output)
      default: unsafe CodeExpansion.pairs(codes, columns, scale: scale, into: output)
      }
    }
  }
}

/// Two little-endian bytes at an offset that the caller has checked.
@inline(__always)
func loadHalfBits(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt16 {
  unsafe UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
}

/// Four little-endian bytes as a binary32, at an offset that the caller has checked.
@inline(__always)
func loadFloat(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Float {
  let bits = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
  return Float(bitPattern: UInt32(littleEndian: bits))
}
