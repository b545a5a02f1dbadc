/// What the 11 bits of a block mode say: the grid of weights and their range.
package struct ASTCBlockMode: BitwiseCopyable, Hashable, Sendable {
  /// Columns and rows of the grid, 2 to 6.
  package var width: UInt8
  package var height: UInt8
  package var range: ASTCRange
  package var isDualPlane: Bool
  /// Grid weights of both planes, 4 to 64.
  package var gridWeightCount: UInt8
  /// Bits of all grid weights, 24 to 96.
  package var gridWeightBitCount: UInt8

  /// Bits of the field.
  package static let bitCount = 11

  /// Whether a field makes its block a void extent instead.
  package static func isVoidExtent(_ field: Int) -> Bool {
    ASTCBlock(low: UInt64(truncatingIfNeeded: field)).isVoidExtent
  }

  /// Whether there is a grid weight for every texel, in its place.
  @inline(__always)
  package var isFullGrid: Bool { width == 6 && height == 6 }

  /// The mode of the low 11 bits of a block that is no void extent.
  package init(field: Int) throws(ASTCBlockFault) {
    var rho = (field >> 4) & 1
    var width = 0
    var height = 0
    var isWide = true
    let a = (field >> 5) & 3
    if field & 3 != 0 {
      let b = (field >> 7) & 3
      rho |= (field & 3) << 1
      switch (field >> 2) & 3 {
      case 0: (width, height) = (b + 4, a + 2)
      case 1: (width, height) = (b + 8, a + 2)
      case 2: (width, height) = (a + 2, b + 8)
      default: (width, height) = b & 2 == 0 ? (a + 2, (b & 1) + 6) : ((b & 1) + 2, a + 2)
      }
    } else {
      rho |= (field >> 1) & 6
      guard field & 0xC != 0 else { throw .reservedBlockMode }
      switch (field >> 7) & 3 {
      case 0: (width, height) = (12, a + 2)
      case 1: (width, height) = (a + 2, 12)
      case 2:
        (width, height) = (a + 6, ((field >> 9) & 3) + 6)
        isWide = false
      default:
        switch a {
        case 0: (width, height) = (6, 10)
        case 1: (width, height) = (10, 6)
        default: throw .reservedBlockMode
        }
      }
    }
    guard width <= ASTCBlock.side, height <= ASTCBlock.side else { throw .gridExceedsBlock }
    let isHighPrecision = isWide && field & 0x200 != 0
    isDualPlane = isWide && field & 0x400 != 0
    let count = width * height * (isDualPlane ? 2 : 1)
    guard count <= 64 else { throw .tooManyGridWeights }
    // rho is 2 to 7: its upper two bits are not both zero.
    guard let range = ASTCRange(rawValue: UInt8(rho - 2 + (isHighPrecision ? 6 : 0))) else {
      throw .reservedBlockMode
    }
    let bits = range.sequenceBitCount(count)
    guard bits >= 24 else { throw .tooFewGridWeightBits }
    guard bits <= 96 else { throw .tooManyGridWeightBits }
    self.width = UInt8(width)
    self.height = UInt8(height)
    self.range = range
    gridWeightCount = UInt8(count)
    gridWeightBitCount = UInt8(bits)
  }

  /// The same from the table; a void extent counts as reserved.
  @inline(__always)
  init(lookingUp field: UInt64, _ tables: ASTCTables) throws(ASTCBlockFault) {
    // The table has an entry for all 2^11 fields.
    let entry = unsafe tables.blockModes[Int(field & 0x7FF)]
    if let fault = entry.fault { throw fault }
    self = entry.mode
  }

  /// The smallest field that means this grid, or nil where there is none.
  package static func field(
    width: Int, height: Int, range: ASTCRange, isDualPlane: Bool = false
  ) -> Int? {
    (0..<1 << bitCount).first { field in
      guard !isVoidExtent(field), let mode = try? ASTCBlockMode(field: field) else { return false }
      return mode.width == width && mode.height == height && mode.range == range
        && mode.isDualPlane == isDualPlane
    }
  }
}

/// What the table of block modes says of a field.
struct ASTCBlockModeEntry: BitwiseCopyable {
  var mode: ASTCBlockMode
  /// nil where the mode is legal; else the mode means nothing.
  var fault: ASTCBlockFault?

  init(field: Int) {
    mode = ASTCBlockMode.smallest
    guard !ASTCBlockMode.isVoidExtent(field) else {
      fault = .reservedBlockMode
      return
    }
    do throws(ASTCBlockFault) { mode = try ASTCBlockMode(field: field) } catch { fault = error }
  }
}

extension ASTCBlockMode {
  /// A legal mode, where any will do.
  fileprivate static var smallest: ASTCBlockMode {
    ASTCBlockMode(
      width: 2, height: 6, range: .levels4, isDualPlane: false, gridWeightCount: 12,
      gridWeightBitCount: 24)
  }

  private init(
    width: UInt8, height: UInt8, range: ASTCRange, isDualPlane: Bool, gridWeightCount: UInt8,
    gridWeightBitCount: UInt8
  ) {
    self.width = width
    self.height = height
    self.range = range
    self.isDualPlane = isDualPlane
    self.gridWeightCount = gridWeightCount
    self.gridWeightBitCount = gridWeightBitCount
  }
}
