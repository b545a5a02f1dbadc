extension WeightFormat {
  /// Bits of codes for one element, padding and scales not counted.
  ///
  /// 128/36 = 3.56 for ASTC.
  public var payloadBitsPerWeight: Double {
    codeBitCount.map { Double($0) }
      ?? Double(Self.packedBlockByteCount * 8) / Double(Self.packedBlockColumnCount)
  }

  /// All stored bits over the elements of a rows × columns tensor: codes with their padding,
  /// scales and minimums. NaN for a tensor without elements.
  ///
  /// 8.06 for s8c at 576 columns; 5 for u4g32 and 2.25 for u2g64 at whole groups.
  public func totalBitsPerWeight(rows: Int, columns: Int) -> Double {
    let bytes = planes.reduce(0.0) { sum, plane in
      sum + Double(requiredByteCount(of: plane, rows: rows, columns: columns))
    }
    return bytes * 8 / (Double(rows) * Double(columns))
  }
}
