import TensorCore

/// How the elements of a tensor are stored. The raw value is the format's number in a file.
public enum WeightFormat: UInt16, CaseIterable, Hashable, Sendable {
  /// IEEE 754 binary32.
  case f32 = 1
  /// IEEE 754 binary16.
  case f16 = 2
  /// 8-bit per-channel: codes −127…127 with one binary32 scale a row; value = code · scale.
  case s8c = 16
  /// 8-bit per-group of 32: codes −127…127 with one binary16 scale a group; value = code · scale.
  case s8g32 = 17
  /// 4-bit affine per-group of 32: codes 0…15 with a binary16 scale and minimum a group;
  /// value = minimum + code · scale.
  case u4g32 = 32
  /// 4-bit balanced per-channel: codes 0…15 with one binary32 scale a row;
  /// value = (code − 7.5) · scale.
  case u4c = 33
  /// 2-bit per-channel: codes 0…3 with one binary32 scale a row; value = (code − 1.5) · scale.
  case u2c = 48
  /// 2-bit per-group of 64: codes 0…3 with a binary16 scale a group; value = (code − 1.5) · scale.
  case u2g64 = 49
  /// 2-bit per-tensor: codes 0…3 with one binary32 scale in all; value = (code − 1.5) · scale.
  case u2t = 50
  /// ASTC 6×6 packed blocks of the LDR profile, each 36 consecutive columns of one row, with one
  /// binary32 scale a row; value = (C − 32767.5) · scale, where C is the block's 16-bit result.
  case astc6x6LDR = 64
  /// ASTC 6×6 packed blocks of the HDR profile, each 36 consecutive columns of one row, with one
  /// binary16 minimum a packed block and one binary32 scale in all;
  /// value = (minimum + H) · scale, where H is the block's binary16 result.
  case astc6x6HDR = 65

  /// The name on the command line, in file headers and in kernel names.
  public var name: String {
    switch self {
    case .f32: "f32"
    case .f16: "f16"
    case .s8c: "s8c"
    case .s8g32: "s8g32"
    case .u4g32: "u4g32"
    case .u4c: "u4c"
    case .u2c: "u2c"
    case .u2g64: "u2g64"
    case .u2t: "u2t"
    case .astc6x6LDR: "astc6x6-ldr"
    case .astc6x6HDR: "astc6x6-hdr"
    }
  }

  /// The format of that name.
  public init?(name: String) {
    guard let format = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = format
  }

  /// Whether elements are stored in ASTC blocks instead of as codes of their own.
  public var isASTC: Bool { self == .astc6x6LDR || self == .astc6x6HDR }

  /// Bits of one stored code (or of the value itself, for f32 and f16); nil for packed blocks, in
  /// which a code has no place of its own.
  public var codeBitCount: Int? {
    switch self {
    case .f32: 32
    case .f16: 16
    case .s8c, .s8g32: 8
    case .u4g32, .u4c: 4
    case .u2c, .u2g64, .u2t: 2
    case .astc6x6LDR, .astc6x6HDR: nil
    }
  }

  /// Consecutive columns of one row that share a scale; nil where the scale is per-channel,
  /// per-tensor or absent.
  public var groupSize: Int? {
    guard case .group(let columns) = axis(of: .scales) else { return nil }
    return columns
  }
}

/// What one number of a plane of scales or minimums belongs to. A number per group is a binary16,
/// the others are binary32.
public enum ScaleAxis: Hashable, Sendable {
  case tensor
  case channel
  case group(columns: Int)
}

/// One contiguous array of a stored tensor: its values or codes, its scales, its minimums.
public enum Plane: UInt8, CaseIterable, Hashable, Sendable {
  /// The codes (the values themselves for f32 and f16). Row-major; column j of a row sits at bit
  /// j · codeBitCount of the row, counted from the least significant bit of its first byte; every
  /// row begins on a byte boundary and its unused bits are zero. For ASTC: packed blocks of 16
  /// bytes, row-major, each holding 36 consecutive columns; the last of a row is padded.
  case codes = 0
  /// Scales, row-major over rows × groups; one number in all where per-tensor.
  case scales = 1
  /// Minimums, row-major over rows × groups.
  case minimums = 2
}

extension WeightFormat {
  /// Columns and bytes of an ASTC block: 36 elements in 16 bytes.
  public static let packedBlockColumnCount = 36
  /// See ``packedBlockColumnCount``.
  public static let packedBlockByteCount = 16

  /// The planes this format has, in file order.
  public var planes: [Plane] {
    switch self {
    case .f32, .f16: [.codes]
    case .s8c, .s8g32, .u4c, .u2c, .u2g64, .u2t, .astc6x6LDR: [.codes, .scales]
    case .u4g32, .astc6x6HDR: [.codes, .scales, .minimums]
    }
  }

  /// What a number of that plane belongs to; nil for codes and for planes that the format lacks.
  public func axis(of plane: Plane) -> ScaleAxis? {
    switch (self, plane) {
    case (_, .codes), (.f32, _), (.f16, _): nil
    case (.s8c, .scales), (.u4c, .scales), (.u2c, .scales), (.astc6x6LDR, .scales): .channel
    case (.u2t, .scales), (.astc6x6HDR, .scales): .tensor
    case (.s8g32, .scales), (.u4g32, _): .group(columns: 32)
    case (.u2g64, .scales): .group(columns: 64)
    case (.astc6x6HDR, .minimums): .group(columns: Self.packedBlockColumnCount)
    case (_, .minimums): nil
    }
  }

  /// Groups in a row of that many columns; the last one may be shorter. 1 where per-channel.
  public func groupCount(columns: Int) -> Int {
    groupSize.map { Self.parts(columns, of: $0) } ?? 1
  }

  /// Bytes of a plane of a rows × columns tensor, or nil where the product does not fit an `Int`
  /// (dimensions come from files). 0 for a plane that the format does not have.
  ///
  /// A per-tensor scale is counted with any number of rows but none.
  public func byteCount(of plane: Plane, rows: Int, columns: Int) -> Int? {
    guard rows >= 0, columns >= 0, planes.contains(plane) else {
      return rows < 0 || columns < 0 ? nil : 0
    }
    let rowBytes: (partialValue: Int, overflow: Bool)
    switch axis(of: plane) {
    case .tensor: return rows == 0 ? 0 : 4
    case .channel: rowBytes = (4, false)
    case .group(let size):
      rowBytes = Self.parts(columns, of: size).multipliedReportingOverflow(by: 2)
    case nil:
      if let codeBitCount {
        let bits = columns.multipliedReportingOverflow(by: codeBitCount)
        rowBytes = (Self.parts(bits.partialValue, of: 8), bits.overflow)
      } else {
        rowBytes = Self.parts(columns, of: Self.packedBlockColumnCount)
          .multipliedReportingOverflow(by: Self.packedBlockByteCount)
      }
    }
    guard !rowBytes.overflow else { return nil }
    let (total, overflow) = rowBytes.partialValue.multipliedReportingOverflow(by: rows)
    return overflow ? nil : total
  }

  private static func parts(_ count: Int, of size: Int) -> Int {
    count / size + (count % size == 0 ? 0 : 1)
  }
}
