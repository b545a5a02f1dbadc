/// A block of one of the ``ASTCWeightMode``s in its parts: what the run-time layout rearranges.
///
/// Equal parts mean equal 128 bits and the other way around: blocks that say the same in other bits
/// (digit codes that mean the same, bits that mean nothing) are not accepted.
package struct ASTCWeightBlock: Hashable, Sendable {
  package var mode: ASTCWeightMode
  /// 0 to 1023; 0 with one partition.
  package var seed: UInt16
  /// The endpoints' stored numbers, two a partition, five bits each from the low bits up; eight
  /// bits each with one partition.
  package var numbers: UInt32
  /// The grid weights' stored codes of columns 0…19, three bits each from the low bits up.
  package var lowCodes: UInt64
  /// Those of columns 20…35.
  package var highCodes: UInt64

  package init(
    mode: ASTCWeightMode, seed: UInt16 = 0, numbers: UInt32 = 0, lowCodes: UInt64 = 0,
    highCodes: UInt64 = 0
  ) {
    self.mode = mode
    self.seed = seed
    self.numbers = numbers
    self.lowCodes = lowCodes
    self.highCodes = highCodes
  }

  /// What the rows that fill up a tile hold.
  static let padding = ASTCWeightBlock(mode: .one)

  /// The codes of columns 4·step ..< 4·step + 4: twelve bits; 0 ≤ step < 9.
  @inline(__always)
  func step(_ step: Int) -> UInt64 {
    let shifted =
      step < 5 ? lowCodes &>> UInt64(12 &* step) : highCodes &>> UInt64(12 &* (step &- 5))
    return shifted & 0xFFF
  }

  /// Sets the codes of four columns that are zero so far.
  @inline(__always)
  mutating func insert(_ codes: UInt64, step: Int) {
    if step < 5 {
      lowCodes |= codes &<< UInt64(12 &* step)
    } else {
      highCodes |= codes &<< UInt64(12 &* (step &- 5))
    }
  }

  /// The stored code of a column, 0…7.
  package func code(column: Int) -> Int {
    Int(truncatingIfNeeded: step(column / 4) &>> UInt64(3 * (column % 4))) & 7
  }

  /// The stored number at an index.
  package func number(_ index: Int) -> Int {
    mode.partitionCount == 1
      ? Int(numbers >> UInt32(8 * index)) & 255 : Int(numbers >> UInt32(5 * index)) & 31
  }
}

// MARK: - 128 bits

extension ASTCWeightBlock {
  /// Why a block cannot be in the layout.
  package enum Refusal: String, Error, Hashable, Sendable, CustomStringConvertible {
    /// Not one of the weight modes; perhaps not legal at all.
    case otherMode = "its mode is not one that the layout has"
    /// The mode needs the HDR profile.
    case otherProfile = "its endpoint mode does not belong to the profile"
    /// Bits that mean nothing and are not zero, or a digit code that has a smaller twin.
    case otherBits = "its numbers are not written in the canonical way"

    package var description: String { rawValue }
  }

  /// The parts of 128 bits.
  @inline(__always)
  package init(_ block: ASTCBlock, profile: ASTCProfile) throws(Refusal) {
    guard let mode = ASTCLayoutTables.shared.mode(of: block) else { throw .otherMode }
    guard mode != .oneHDR || profile.hasHDR else { throw .otherProfile }
    self.init(mode: mode)
    let tables = ASTCLayoutTables.shared
    let grid = block.bitReversed
    var flags: UInt16
    switch mode.partitionCount {
    case 1:
      numbers = UInt32(truncatingIfNeeded: block.low &>> 17) & 0xFFFF
      // Bit 33 is between endpoints and grid weights.
      flags = UInt16(truncatingIfNeeded: block.low &>> 33) &<< 15
      flags |= readSixes(grid, tables)
    case 2:
      seed = UInt16(truncatingIfNeeded: block.low &>> 13) & 1023
      // All of these indices are masked to the tables' sizes.
      let packed = unsafe tables.twelves[Int(truncatingIfNeeded: block.low &>> 29) & 0x7FFF]
      numbers = packed & 0xFFFFF
      flags = UInt16(truncatingIfNeeded: packed &>> 16) & 0x8000
      flags |= readFives(grid, tables)
    default:
      seed = UInt16(truncatingIfNeeded: block.low &>> 13) & 1023
      let first = unsafe tables.twenties[Int(truncatingIfNeeded: block.low &>> 29) & 0x1FFF]
      let second = unsafe tables.twenties[Int(truncatingIfNeeded: block.low &>> 42) & 0x1FFF]
      numbers = UInt32(first & 0x7FFF) | UInt32(second & 0x7FFF) &<< 15
      // Bit 55 is between endpoints and grid weights.
      flags = first | second | UInt16(truncatingIfNeeded: block.low &>> 55) &<< 15
      readFours(grid, tables)
    }
    guard flags & 0x8000 == 0 else { throw .otherBits }
  }

  /// Seven groups of five codes, 13 bits each, and a last code of 3 bits.
  @inline(__always)
  private mutating func readSixes(_ grid: ASTCBlock, _ tables: ASTCLayoutTables) -> UInt16 {
    var flags: UInt16 = 0
    @inline(__always) func group(_ index: Int) -> UInt64 {
      let position = index &* 13
      let bits =
        position &+ 13 <= 64
        ? grid.low &>> UInt64(position)
        : position >= 64
          ? grid.high &>> UInt64(position &- 64)
          : grid.low &>> UInt64(position) | grid.high &<< UInt64(64 &- position)
      // 13 bits of index for 8,192 entries.
      let codes = unsafe tables.sixes[Int(truncatingIfNeeded: bits) & 0x1FFF]
      flags |= codes
      return UInt64(codes & 0x7FFF)
    }
    lowCodes = group(0) | group(1) &<< 15 | group(2) &<< 30 | group(3) &<< 45
    highCodes = group(4) | group(5) &<< 15 | group(6) &<< 30
    let last = unsafe tables.lastSix[Int(truncatingIfNeeded: grid.high &>> 27) & 7]
    highCodes |= UInt64(last & 7) &<< 45
    return flags | last
  }

  /// Twelve groups of three codes, 7 bits each.
  @inline(__always)
  private mutating func readFives(_ grid: ASTCBlock, _ tables: ASTCLayoutTables) -> UInt16 {
    var flags: UInt16 = 0
    @inline(__always) func group(_ index: Int) -> UInt64 {
      let position = index &* 7
      let bits =
        position &+ 7 <= 64
        ? grid.low &>> UInt64(position)
        : position >= 64
          ? grid.high &>> UInt64(position &- 64)
          : grid.low &>> UInt64(position) | grid.high &<< UInt64(64 &- position)
      // 7 bits of index for 128 entries.
      let codes = unsafe tables.fives[Int(truncatingIfNeeded: bits) & 0x7F]
      flags |= codes
      return UInt64(codes & 0x1FF)
    }
    lowCodes = group(0) | group(1) &<< 9 | group(2) &<< 18 | group(3) &<< 27
    lowCodes |= group(4) &<< 36 | group(5) &<< 45
    let middle = group(6)
    lowCodes |= (middle & 63) &<< 54
    highCodes = middle &>> 6 | group(7) &<< 3 | group(8) &<< 12 | group(9) &<< 21
    highCodes |= group(10) &<< 30 | group(11) &<< 39
    return flags
  }

  /// Nine groups of four codes, 8 bits each.
  @inline(__always)
  private mutating func readFours(_ grid: ASTCBlock, _ tables: ASTCLayoutTables) {
    for step in 0..<9 {
      let bits = step < 8 ? grid.low &>> UInt64(8 &* step) : grid.high
      // 8 bits of index for 256 entries.
      insert(UInt64(unsafe tables.fours[Int(truncatingIfNeeded: bits) & 0xFF]), step: step)
    }
  }

  /// The 128 bits, whose parts must be in range.
  package var block: ASTCBlock {
    var block = ASTCBlock(low: mode.header)
    if mode.partitionCount > 1 { block.insert(UInt64(seed), at: 13, count: 10) }
    var values = [UInt8](repeating: 0, count: 2 * mode.partitionCount)
    for index in values.indices { values[index] = UInt8(number(index)) }
    // The buffers live for the calls.
    unsafe values.withUnsafeBufferPointer {
      unsafe ASTCSequence.pack(
        $0, range: mode.endpointRange, into: &block, at: mode.endpointOffset)
    }
    var grid = ASTCBlock()
    let codes = (0..<36).map { UInt8(code(column: $0)) }
    unsafe codes.withUnsafeBufferPointer {
      unsafe ASTCSequence.pack($0, range: mode.codeRange, into: &grid, at: 0)
    }
    grid = grid.bitReversed
    return ASTCBlock(low: block.low | grid.low, high: block.high | grid.high)
  }
}

/// Groups of a sequence by their bits, made once. The highest bit marks groups that `pack` would
/// write in other bits.
@safe struct ASTCLayoutTables: @unchecked Sendable {
  // Written before `shared` exists, then only read, never freed.

  /// Of 13 bits: five codes of six, three bits each.
  let sixes: UnsafePointer<UInt16>
  /// Of 3 bits: the sequence's last code.
  let lastSix: UnsafePointer<UInt16>
  /// Of 7 bits: three codes of five, three bits each.
  let fives: UnsafePointer<UInt16>
  /// Of 8 bits: four codes of four, three bits each.
  let fours: UnsafePointer<UInt16>
  /// Of 15 bits: four numbers of twelve, five bits each; the mark is bit 31.
  let twelves: UnsafePointer<UInt32>
  /// Of 13 bits: three numbers of twenty, five bits each.
  let twenties: UnsafePointer<UInt16>
  /// Of a byte of three codes: bit 0, they are codes of six; bit 1, of five.
  let triples: UnsafePointer<UInt8>

  /// The bits of each weight mode that its blocks have in common.
  private let headers: InlineArray<6, UInt64>

  static let shared = ASTCLayoutTables()

  /// `ASTCWeightMode(block)`, in a few comparisons.
  @inline(__always)
  func mode(of block: ASTCBlock) -> ASTCWeightMode? {
    let single = block.low & 0x1FFFF
    if single == headers[0] { return .one }
    if single == headers[5] { return .oneHDR }
    // All but the ten bits of the seed.
    let several = block.low & 0x1F80_1FFF
    if several == headers[1] { return .two }
    if several == headers[3] { return .three }
    if several == headers[2] { return .twoOffset }
    return several == headers[4] ? .threeOffset : nil
  }

  private init() {
    func small(_ range: ASTCRange, count: Int, bits: Int, width: Int) -> UnsafePointer<UInt16> {
      let groups = Self.groups(range, count: count, bits: bits, width: width)
      return unsafe ASTCTables.keep(
        groups.map { UInt16(truncatingIfNeeded: $0 & 0x7FFF | ($0 >> 31) << 15) })
    }
    unsafe sixes = small(.levels6, count: 5, bits: 13, width: 3)
    unsafe lastSix = small(.levels6, count: 1, bits: 3, width: 3)
    unsafe fives = small(.levels5, count: 3, bits: 7, width: 3)
    unsafe fours = small(.levels4, count: 4, bits: 8, width: 3)
    unsafe twelves = ASTCTables.keep(Self.groups(.levels12, count: 4, bits: 15, width: 5))
    unsafe twenties = small(.levels20, count: 3, bits: 13, width: 5)
    headers = InlineArray { ASTCWeightMode.allCases[$0].header }
    unsafe triples = ASTCTables.keep(
      (0..<256).map { triple in
        let isOfFive = triple % 6 < 5 && triple / 6 % 6 < 5 && triple / 36 < 5
        return (triple < 216 ? 1 : 0) | (triple < 216 && isOfFive ? 2 : 0)
      })
  }

  private static func groups(_ range: ASTCRange, count: Int, bits: Int, width: Int) -> [UInt32] {
    (0..<1 << bits).map { packed in
      let block = ASTCBlock(low: UInt64(packed))
      let values = ASTCSequence.unpack(block, at: 0, count: count, range: range)
      let joined = values.reversed().reduce(0 as UInt32) { $0 << UInt32(width) | UInt32($1) }
      var again = ASTCBlock()
      // The buffer lives for the call.
      unsafe values.withUnsafeBufferPointer {
        unsafe ASTCSequence.pack($0, range: range, into: &again, at: 0)
      }
      return again == block ? joined : joined | 1 << 31
    }
  }
}
