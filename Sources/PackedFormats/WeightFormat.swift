import TensorCore

/// How the elements of a tensor are stored. The raw value is the format's number in a file.
public enum WeightFormat: UInt16, CaseIterable, Hashable, Sendable {
  /// IEEE 754 binary32.
  case f32 = 1
  /// IEEE 754 binary16.
  case f16 = 2
  /// 8-bit per-channel: codes −127…127 with one binary32 scale a row; value = code · scale.
  case s8c = 16
  /// 4-bit affine per-group of 32: codes 0…15 with a binary16 scale and minimum a group;
  /// value = minimum + code · scale.
  case u4g32 = 32
  /// 2-bit per-channel: codes 0…3 with one binary32 scale a row; value = (code − 1.5) · scale.
  case u2c = 48
  /// 2-bit per-group of 64: codes 0…3 with a binary16 scale a group; value = (code − 1.5) · scale.
  case u2g64 = 49

  /// The name on the command line, in file headers and in kernel names.
  public var name: String { String(describing: self) }

  /// The format of that name.
  public init?(name: String) {
    guard let format = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = format
  }

  /// Bits of one stored code (or of the value itself, for f32 and f16).
  public var codeBitCount: Int {
    switch self {
    case .f32: 32
    case .f16: 16
    case .s8c: 8
    case .u4g32: 4
    case .u2c, .u2g64: 2
    }
  }

  /// Consecutive columns of one row that share a scale; nil where the scale is per-channel or absent.
  public var groupSize: Int? {
    switch self {
    case .u4g32: 32
    case .u2g64: 64
    default: nil
    }
  }
}

/// One contiguous array of a stored tensor: its values or codes, its scales, its minimums.
public enum Plane: UInt8, CaseIterable, Hashable, Sendable {
  /// The codes (the values themselves for f32 and f16). Row-major; column j of a row sits at bit
  /// j · codeBitCount of the row, counted from the least significant bit of its first byte; every
  /// row begins on a byte boundary and its unused bits are zero.
  case codes = 0
  /// Scales, row-major over rows × groups: binary32 where per-channel, binary16 where per-group.
  case scales = 1
  /// Minimums, in the order and number of the scales, binary16.
  case minimums = 2
}

extension WeightFormat {
  /// The planes this format has, in file order.
  public var planes: [Plane] {
    switch self {
    case .f32, .f16: [.codes]
    case .s8c, .u2c, .u2g64: [.codes, .scales]
    case .u4g32: [.codes, .scales, .minimums]
    }
  }

  /// Groups in a row of that many columns; the last one may be shorter. 1 where per-channel.
  public func groupCount(columns: Int) -> Int {
    guard let groupSize else { return 1 }
    return columns / groupSize + (columns % groupSize == 0 ? 0 : 1)
  }

  /// Bytes of a plane of a rows × columns tensor, or nil where the product does not fit an `Int`
  /// (dimensions come from files). 0 for a plane that the format does not have.
  public func byteCount(of plane: Plane, rows: Int, columns: Int) -> Int? {
    guard rows >= 0, columns >= 0, planes.contains(plane) else {
      return rows < 0 || columns < 0 ? nil : 0
    }
    let rowBytes: Int
    switch plane {
    case .codes:
      let (bits, overflow) = columns.multipliedReportingOverflow(by: codeBitCount)
      guard !overflow else { return nil }
      rowBytes = bits / 8 + (bits % 8 == 0 ? 0 : 1)
    case .scales, .minimums:
      let (bytes, overflow) = groupCount(columns: columns)
        .multipliedReportingOverflow(by: groupSize == nil ? 4 : 2)
      guard !overflow else { return nil }
      rowBytes = bytes
    }
    let (total, overflow) = rowBytes.multipliedReportingOverflow(by: rows)
    return overflow ? nil : total
  }
}
