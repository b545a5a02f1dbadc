/// The configurations of a block that the weight encoder writes, and nothing else: what run-time
/// layouts and kernels have to support.
///
/// All have the full 6×6 grid in one plane, so every element has a code of its own, and endpoint
/// pairs of one mode in all partitions. What each adds in accuracy stands on the page of the
/// encoder.
package enum ASTCWeightMode: UInt8, CaseIterable, Hashable, Sendable {
  /// One partition, 6 codes, endpoints of 256 levels (CEM 0, luminance).
  case one
  /// Two partitions, 5 codes, endpoints of 12 levels (CEM 0).
  case two
  /// Two partitions, 5 codes, base and offset of 12 levels (CEM 1): pairs that lie close together.
  case twoOffset
  /// Three partitions, 4 codes, endpoints of 20 levels (CEM 0).
  case three
  /// Three partitions, 4 codes, base and offset of 20 levels (CEM 1).
  case threeOffset
  /// One partition, 6 codes, an HDR base and offset of 256 levels (CEM 3). Only in HDR.
  case oneHDR

  /// Partitions.
  package var partitionCount: Int {
    switch self {
    case .one, .oneHDR: 1
    case .two, .twoOffset: 2
    case .three, .threeOffset: 3
    }
  }

  /// What a grid weight's code may be.
  package var codeRange: ASTCRange {
    switch partitionCount {
    case 1: .levels6
    case 2: .levels5
    default: .levels4
    }
  }

  /// What an endpoint's number may be: the largest range that the rest of the block has room for.
  package var endpointRange: ASTCRange {
    switch partitionCount {
    case 1: .levels256
    case 2: .levels12
    default: .levels20
    }
  }

  /// The color endpoint mode.
  package var endpointMode: Int {
    switch self {
    case .one, .two, .three: 0
    case .twoOffset, .threeOffset: 1
    case .oneHDR: 3
    }
  }

  /// The bit at which the endpoints begin.
  package var endpointOffset: Int { partitionCount == 1 ? 17 : 29 }

  /// The 11 bits of the block mode.
  package var blockModeField: Int {
    switch partitionCount {
    case 1: Self.sixCodes
    case 2: Self.fiveCodes
    default: Self.fourCodes
    }
  }

  private static let sixCodes = fullGrid(.levels6)
  private static let fiveCodes = fullGrid(.levels5)
  private static let fourCodes = fullGrid(.levels4)

  private static func fullGrid(_ range: ASTCRange) -> Int {
    guard let field = ASTCBlockMode.field(width: 6, height: 6, range: range) else {
      preconditionFailure("the format has a full grid of every range up to six codes")
    }
    return field
  }

  /// Everything below the endpoints but the seed, which goes to bit 13 where there is one.
  var header: UInt64 {
    let field = UInt64(blockModeField) | UInt64(partitionCount - 1) << 11
    return field | UInt64(endpointMode) << (partitionCount == 1 ? 13 : 25)
  }

  /// The mode of a block, or nil where it is legal but not of these, or not legal.
  package init?(_ block: ASTCBlock) {
    let ignoredBits: UInt64 = 0x7FE000
    for mode in Self.allCases {
      let mask: UInt64 = mode.partitionCount == 1 ? 0x1FFFF : 0x1FFF_FFFF & ~ignoredBits
      if block.low & mask == mode.header {
        self = mode
        return
      }
    }
    return nil
  }
}
