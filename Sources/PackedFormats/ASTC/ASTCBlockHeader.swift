/// Everything that a block says before its numbers: mode, partitions, endpoint modes, and where the
/// numbers stand. Void extents have none.
package struct ASTCBlockHeader: Sendable {
  package var mode: ASTCBlockMode
  /// 1 to 4.
  package var partitionCount: Int
  /// The partition index, 0 to 1023; 0 where there is one partition.
  package var partitionSeed: Int
  /// The color endpoint mode (CEM) of each partition, 0 to 15.
  package var endpointModes: InlineArray<4, UInt8>
  /// The component (0 red … 3 alpha) that the second plane of grid weights interpolates.
  package var secondPlaneComponent: Int
  /// The bit at which the endpoints' sequence begins: 17 or 29.
  package var endpointOffset: Int
  /// Numbers in that sequence, 2 to 18.
  package var endpointValueCount: Int
  package var endpointRange: ASTCRange

  /// Reads the header of a block that is no void extent.
  package init(_ block: ASTCBlock) throws(ASTCBlockFault) {
    try self.init(block, ASTCTables.shared)
  }

  @inline(__always)
  init(_ block: ASTCBlock, _ tables: ASTCTables) throws(ASTCBlockFault) {
    let mode = try ASTCBlockMode(lookingUp: block.low, tables)
    self.mode = mode
    let count = Int(truncatingIfNeeded: block.low &>> 11) & 3 &+ 1
    partitionCount = count
    guard !(mode.isDualPlane && count == 4) else { throw .dualPlaneWithFourPartitions }

    // Everything above here is grid weights, from bit 127 down.
    var top = 128 &- Int(mode.gridWeightBitCount)
    var modes = InlineArray<4, UInt8>(repeating: 0)
    var pairCount = 0
    if count == 1 {
      partitionSeed = 0
      endpointOffset = 17
      let endpointMode = UInt8(truncatingIfNeeded: block.low &>> 13) & 15
      modes[0] = endpointMode
      pairCount = Int(endpointMode &>> 2) &+ 1
    } else {
      partitionSeed = Int(truncatingIfNeeded: block.low &>> 13) & 1023
      endpointOffset = 29
      let base = (block.low &>> 23) & 3
      if base == 0 {
        let endpointMode = UInt8(truncatingIfNeeded: block.low &>> 25) & 15
        for partition in 0..<count { modes[partition] = endpointMode }
        pairCount = count &* (Int(endpointMode &>> 2) &+ 1)
      } else {
        // Six bits of the field stand at bit 23, the others below the grid weights.
        let extra = 3 &* count &- 4
        top &-= extra
        let field = (block.low &>> 23) & 63 | block.bits(at: top, count: extra) &<< 6
        for partition in 0..<count {
          let isUpperClass = (field &>> UInt64(2 &+ partition)) & 1
          let low = (field &>> UInt64(2 &+ count &+ 2 &* partition)) & 3
          let endpointClass = base &- 1 &+ isUpperClass
          modes[partition] = UInt8(truncatingIfNeeded: endpointClass &* 4 &+ low)
          pairCount &+= Int(endpointClass) &+ 1
        }
      }
    }
    endpointModes = modes
    secondPlaneComponent = 0
    if mode.isDualPlane {
      top &-= 2
      secondPlaneComponent = Int(truncatingIfNeeded: block.bits(at: top, count: 2))
    }
    guard pairCount <= 9 else { throw .tooManyEndpointValues }
    endpointValueCount = 2 &* pairCount
    let bits = top &- endpointOffset
    // 128 entries for each of 10 counts; there are 87 bits at most.
    guard bits >= 0,
      let range = ASTCRange(rawValue: unsafe tables.endpointRanges[pairCount &* 128 &+ bits])
    else { throw .tooFewEndpointBits }
    endpointRange = range
  }

  /// Whether all partitions have endpoint mode 0.
  @inline(__always)
  package var isLuminance: Bool {
    var modes: UInt8 = 0
    for partition in 0..<partitionCount { modes |= endpointModes[partition] }
    return modes == 0
  }

  /// Whether a partition has an HDR endpoint mode: 2, 3, 7, 11, 14 or 15.
  @inline(__always)
  package var hasHDREndpoints: Bool {
    var modes: UInt32 = 0
    for partition in 0..<partitionCount { modes |= 1 &<< UInt32(endpointModes[partition]) }
    return modes & 0b1100_1000_1000_1100 != 0
  }
}

/// A block of one color.
package struct ASTCVoidExtent: Hashable, Sendable {
  /// Red, green, blue, alpha: binary16 bits where `isHDR`, else 0 to 65535 for 0 to 1.
  package var color: SIMD4<UInt16>
  package var isHDR: Bool

  /// Reads a block whose low bits say that it is a void extent.
  package init(_ block: ASTCBlock, profile: ASTCProfile) throws(ASTCBlockFault) {
    guard block.bits(at: 10, count: 2) == 3 else { throw .voidExtentReservedBits }
    let extent = (0..<4).map { block.bits(at: 12 + 13 * $0, count: 13) }
    guard
      extent == [8191, 8191, 8191, 8191] || (extent[0] < extent[1] && extent[2] < extent[3])
    else { throw .voidExtentCoordinates }
    isHDR = block.bits(at: 9, count: 1) == 1
    guard !isHDR || profile.hasHDR else { throw .hdrVoidExtent }
    color = SIMD4(
      UInt16(truncatingIfNeeded: block.high), UInt16(truncatingIfNeeded: block.high >> 16),
      UInt16(truncatingIfNeeded: block.high >> 32), UInt16(truncatingIfNeeded: block.high >> 48))
  }

  /// Whether a component is infinite or NaN; only the first, where `firstComponentOnly`.
  package func isFinite(firstComponentOnly: Bool) -> Bool {
    guard isHDR else { return true }
    return (0..<(firstComponentOnly ? 1 : 4)).allSatisfy { color[$0] & 0x7C00 != 0x7C00 }
  }
}
