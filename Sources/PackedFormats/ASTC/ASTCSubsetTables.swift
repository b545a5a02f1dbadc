/// What unpacking the encoder's blocks of two and three partitions looks up: codes by the group of
/// bits as they stand in the block, so that nothing has to be reversed.
@safe
struct ASTCSubsetTables: @unchecked Sendable {
  // As in `ASTCTables`: written before `shared` exists, then only read, never freed.

  /// Of 7 bits, the block's top bit first: three codes of five levels, a byte each, times 4.
  let fiveLevels: UnsafePointer<UInt32>
  /// Of 8 bits: four codes of four levels, likewise.
  let fourLevels: UnsafePointer<UInt32>
  /// `ASTCWeightMode.header` without endpoint mode and seed, for two and three partitions.
  let twoHeader: UInt64
  let threeHeader: UInt64
  /// The bits of these headers; what is left is the seed and the lowest bit of the endpoint mode.
  static let headerMask: UInt64 = 0x1FFF_FFFF & ~(1023 << 13) & ~(1 << 25)

  static let shared = ASTCSubsetTables()

  private init() {
    func codes(_ bits: Int, _ count: Int, _ range: ASTCRange) -> [UInt32] {
      (0..<UInt64(1 << bits)).map { group in
        let reversed = ASTCBlock.bitReversed(group) >> UInt64(64 - bits)
        let codes = ASTCSequence.unpack(
          ASTCBlock(low: reversed), at: 0, count: count, range: range)
        return codes.reversed().reduce(0) { $0 << 8 | UInt32($1) << 2 }
      }
    }
    unsafe fiveLevels = ASTCTables.keep(codes(7, 3, .levels5))
    unsafe fourLevels = ASTCTables.keep(codes(8, 4, .levels4))
    twoHeader = ASTCWeightMode.two.header
    threeHeader = ASTCWeightMode.three.header
  }
}
