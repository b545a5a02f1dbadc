/// A legal block with its numbers unpacked: for those who look into blocks, not for bulk work.
package struct ASTCParsedBlock: Sendable {
  /// What a block holds.
  package enum Content: Sendable {
    case voidExtent(ASTCVoidExtent)
    case grid(ASTCParsedBlock)
  }

  package var header: ASTCBlockHeader
  /// The endpoints' stored numbers, in `header.endpointRange`.
  package var endpointCodes: [UInt8]
  /// What they stand for, 0 to 255, partition after partition, 2 · (CEM / 4 + 1) numbers each.
  package var endpointValues: [UInt8]
  /// The stored grid weights, row-major, in `header.mode.range`; with two planes alternating.
  package var gridWeightCodes: [UInt8]
  /// What they stand for, 0 to 64.
  package var gridWeights: [UInt8]

  /// The content of any 128 bits, or why they are not legal.
  package static func content(
    _ block: ASTCBlock, profile: ASTCProfile
  ) throws(ASTCBlockFault) -> Content {
    if block.isVoidExtent {
      return .voidExtent(try ASTCVoidExtent(block, profile: profile))
    }
    return .grid(ASTCParsedBlock(block, header: try ASTCBlockHeader(block)))
  }

  private init(_ block: ASTCBlock, header: ASTCBlockHeader) {
    self.header = header
    endpointCodes = ASTCSequence.unpack(
      block, at: header.endpointOffset, count: header.endpointValueCount,
      range: header.endpointRange)
    endpointValues = endpointCodes.map {
      ASTCQuantization.endpoint(Int($0), range: header.endpointRange)
    }
    let range = header.mode.range
    gridWeightCodes = ASTCSequence.unpack(
      block.bitReversed, at: 0, count: Int(header.mode.gridWeightCount), range: range)
    gridWeights = gridWeightCodes.map { ASTCQuantization.gridWeight(Int($0), range: range) }
  }
}
