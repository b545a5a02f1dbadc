/// All endpoint pairs of a mode with several partitions that differ, low endpoint first.
struct ASTCEndpointCodebook: Sendable {
  struct Pair: Hashable, Sendable {
    /// The endpoints, 0 to 255, low below high.
    var low: UInt8
    var high: UInt8
    /// The stored numbers, in the mode's endpoint range.
    var numbers: SIMD2<UInt8>
  }

  let pairs: [Pair]

  static let two = ASTCEndpointCodebook(.two)
  static let twoOffset = ASTCEndpointCodebook(.twoOffset)
  static let three = ASTCEndpointCodebook(.three)
  static let threeOffset = ASTCEndpointCodebook(.threeOffset)

  /// The codebook of a mode with several partitions.
  static func of(_ mode: ASTCWeightMode) -> ASTCEndpointCodebook {
    switch mode {
    case .two: two
    case .twoOffset: twoOffset
    case .three: three
    case .threeOffset: threeOffset
    case .one, .oneHDR: preconditionFailure("endpoints of 256 levels have no codebook")
    }
  }

  private init(_ mode: ASTCWeightMode) {
    let range = mode.endpointRange
    var seen: Set<SIMD2<UInt8>> = []
    var pairs: [Pair] = []
    for first in 0..<range.levelCount {
      for second in 0..<range.levelCount {
        let ends = Self.endpoints(
          ASTCQuantization.endpoint(first, range: range),
          ASTCQuantization.endpoint(second, range: range), endpointMode: mode.endpointMode)
        guard ends.low < ends.high, seen.insert(SIMD2(ends.low, ends.high)).inserted else {
          continue
        }
        pairs.append(
          Pair(low: ends.low, high: ends.high, numbers: SIMD2(UInt8(first), UInt8(second))))
      }
    }
    self.pairs = pairs.sorted { ($0.low, $0.high) < ($1.low, $1.high) }
  }

  /// The endpoints that two unquantized numbers mean under CEM 0 or CEM 1.
  static func endpoints(
    _ first: UInt8, _ second: UInt8, endpointMode: Int
  ) -> (low: UInt8, high: UInt8) {
    guard endpointMode == 1 else { return (first, second) }
    let base = first >> 2 | second & 0xC0
    let sum = base.addingReportingOverflow(second & 0x3F)
    return (base, sum.overflow ? 255 : sum.partialValue)
  }
}
