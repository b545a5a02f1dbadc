import TensorCore

extension WeightFormat {
  /// Computes the values of some stored rows, in binary32 and in one fixed order of operations:
  ///
  /// - f32, f16: the value itself; the conversion of f16 is exact.
  /// - s8c: `Float(code) * scale`, one rounding.
  /// - u4g32: `minimum + Float(code) * scale`, the product rounded before the sum (not fused).
  /// - u2c, u2g64: `(Float(code) - 1.5) * scale`, one rounding.
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
  let columnCount: Int
  let codeBytes: Int
  let scaleBytes: Int

  init(format: WeightFormat, columnCount: Int) {
    self.format = format
    self.columnCount = columnCount
    codeBytes = format.rowByteCount(of: .codes, columns: columnCount)
    scaleBytes = format.rowByteCount(of: .scales, columns: columnCount)
  }

  /// The caller guarantees that `row` lies in all planes and that `output` holds one row.
  func dequantize(
    row: Int, codes: UnsafeRawBufferPointer, scales: UnsafeRawBufferPointer,
    minimums: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<Float>
  ) {
    let codes = unsafe UnsafeRawBufferPointer(
      rebasing: codes[row * codeBytes..<(row + 1) * codeBytes])
    switch format {
    case .f32:
      unsafe UnsafeMutableRawBufferPointer(output).copyMemory(from: codes)
    case .f16:
      for column in 0..<columnCount {
        unsafe output[column] = HalfPrecision.float(bits: loadHalfBits(codes, column * 2))
      }
    case .s8c:
      let scale = unsafe loadFloat(scales, row * 4)
      for column in 0..<columnCount {
        unsafe output[column] = Float(Int8(bitPattern: codes[column])) * scale
      }
    case .u2c:
      unsafe dequantizeTwoBit(
        codes, columns: 0..<columnCount, scale: loadFloat(scales, row * 4), into: output)
    case .u2g64:
      for start in stride(from: 0, to: columnCount, by: 64) {
        let scale = unsafe HalfPrecision.float(
          bits: loadHalfBits(scales, row * scaleBytes + start / 32))
        unsafe dequantizeTwoBit(
          codes, columns: start..<min(start + 64, columnCount), scale: scale, into: output)
      }
    case .s8g32, .u4c, .u2t: preconditionFailure("not here yet")
    case .astc6x6LDR, .astc6x6HDR:
      let isLDR = format == .astc6x6LDR
      let minimumBytes = format.rowByteCount(of: .minimums, columns: columnCount)
      unsafe ASTCWeightRow.dequantize(
        codes, profile: isLDR ? .ldr : .hdr, scale: loadFloat(scales, isLDR ? row * 4 : 0),
        minimums: .init(rebasing: minimums[row * minimumBytes..<(row + 1) * minimumBytes]),
        into: output)
    case .u4g32:
      for start in stride(from: 0, to: columnCount, by: 32) {
        let offset = row * scaleBytes + start / 16
        let scale = unsafe HalfPrecision.float(bits: loadHalfBits(scales, offset))
        let minimum = unsafe HalfPrecision.float(bits: loadHalfBits(minimums, offset))
        for column in start..<min(start + 32, columnCount) {
          let code = unsafe (codes[column >> 1] &>> UInt8((column & 1) * 4)) & 15
          unsafe output[column] = minimum + Float(code) * scale
        }
      }
    }
  }

  @inline(__always)
  private func dequantizeTwoBit(
    _ codes: UnsafeRawBufferPointer, columns: Range<Int>, scale: Float,
    into output: UnsafeMutableBufferPointer<Float>
  ) {
    for column in columns {
      let code = unsafe (codes[column >> 2] &>> UInt8((column & 3) * 2)) & 3
      unsafe output[column] = (Float(code) - 1.5) * scale
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
