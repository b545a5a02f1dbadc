/// One tile's bytes, to write and to read.
///
/// Every pointer leads to the 192 bytes of a tile's codes and the 56 bytes of its side record (the
/// minimums behind them are the caller's).
extension ASTCTileLayout {
  /// Writes 16 blocks; all bytes of codes and side record, but for the minimums.
  static func write(
    _ blocks: UnsafeBufferPointer<ASTCWeightBlock>, kind: TileKind,
    codes: UnsafeMutableRawPointer, side: UnsafeMutableRawPointer
  ) {
    for pair in 0..<8 {
      // 16 blocks: the caller's promise. Rows 2·pair and 2·pair + 1 share lane `pair`.
      let first = unsafe blocks[2 * pair]
      let second = unsafe blocks[2 * pair + 1]
      let tail: UInt64
      if kind.isOfOne {
        unsafe writeSteps(first, second, lane: codes + pair * 8)
        tail = first.step(8) | second.step(8) << 12
      } else {
        unsafe writeTriples(first, row: codes + pair * 8)
        unsafe writeTriples(second, row: codes + (pair * 8 + 4))
        tail = first.tag | second.tag << 12
      }
      unsafe writeEndpoints(first, row: side + 2 * pair)
      unsafe writeEndpoints(second, row: side + (2 * pair + 1))
      let bytes = unsafe side + (32 + 3 * pair)
      unsafe bytes.storeBytes(of: UInt8(truncatingIfNeeded: tail), as: UInt8.self)
      unsafe (bytes + 1).storeBytes(of: UInt8(truncatingIfNeeded: tail >> 8), as: UInt8.self)
      unsafe (bytes + 2).storeBytes(of: UInt8(truncatingIfNeeded: tail >> 16), as: UInt8.self)
    }
  }

  /// What stands behind the minimums of an HDR tile: in kind 1 bit r where row r is `oneHDR`.
  static func logarithmicRows(_ side: UnsafeRawPointer) -> UInt64 {
    unsafe UInt64(littleEndian: side.loadUnaligned(fromByteOffset: 88, as: UInt64.self))
  }

  @inline(__always)
  private static func writeEndpoints(_ block: ASTCWeightBlock, row: UnsafeMutableRawPointer) {
    let bits = block.sixteenBits
    unsafe row.storeBytes(of: UInt8(truncatingIfNeeded: bits), as: UInt8.self)
    unsafe (row + 16).storeBytes(of: UInt8(truncatingIfNeeded: bits &>> 8), as: UInt8.self)
  }

  /// Eight steps of 24 bits (12 of each row) into one lane of three vectors.
  @inline(__always)
  private static func writeSteps(
    _ first: ASTCWeightBlock, _ second: ASTCWeightBlock, lane: UnsafeMutableRawPointer
  ) {
    @inline(__always) func step(_ index: Int) -> UInt64 {
      first.step(index) | second.step(index) &<< 12
    }
    let (s2, s5) = (step(2), step(5))
    let words = (
      step(0) | step(1) &<< 24 | s2 &<< 48,
      s2 &>> 16 | step(3) &<< 8 | step(4) &<< 32 | s5 &<< 56,
      s5 &>> 8 | step(6) &<< 16 | step(7) &<< 40
    )
    unsafe lane.storeBytes(of: words.0.littleEndian, as: UInt64.self)
    unsafe (lane + 64).storeBytes(of: words.1.littleEndian, as: UInt64.self)
    unsafe (lane + 128).storeBytes(of: words.2.littleEndian, as: UInt64.self)
  }

  /// Four bytes in each of three vectors, each byte the codes of three columns.
  @inline(__always)
  private static func writeTriples(_ block: ASTCWeightBlock, row: UnsafeMutableRawPointer) {
    for vector in 0..<3 {
      let first = spread(block.step(3 &* vector))
      let second = spread(block.step(3 &* vector &+ 1))
      let third = spread(block.step(3 &* vector &+ 2))
      let word: UInt32
      if block.mode.partitionCount == 3 {
        let number = block.numbers &>> UInt32(15 &+ 5 &* vector)
        word =
          first | second &<< 2 | third &<< 4
          | (number & 3) &<< 6 | (number & 12) &<< 12 | (number & 16) &<< 18
      } else {
        // Bytes of at most 5 + 6 · 5 + 36 · 5 = 215.
        word = first &+ second &* 6 &+ third &* 36
      }
      unsafe (row + vector &* 64).storeBytes(of: word.littleEndian, as: UInt32.self)
    }
  }

  /// Four codes of three bits to four bytes.
  @inline(__always)
  private static func spread(_ step: UInt64) -> UInt32 {
    let codes = UInt32(truncatingIfNeeded: step)
    return codes & 7 | (codes & 0o70) &<< 5 | (codes & 0o700) &<< 10 | (codes & 0o7000) &<< 15
  }

  /// Reads the block of a row, or says what is wrong with its bytes.
  static func read(
    row: Int, kind: TileKind, codes: UnsafeRawPointer, side: UnsafeRawPointer
  ) throws(Fault) -> ASTCWeightBlock {
    // All of these lie in the tile: row < 16.
    func byte(_ offset: Int) -> UInt64 {
      unsafe UInt64(side.load(fromByteOffset: offset, as: UInt8.self))
    }
    let endpoints = UInt32(byte(row) | byte(16 + row) << 8)
    let bytes = 32 + row / 2 * 3
    let tails = byte(bytes) | byte(bytes + 1) << 8 | byte(bytes + 2) << 16
    let tail = tails >> (row % 2 == 0 ? 0 : 12) & 0xFFF
    var block: ASTCWeightBlock
    if kind.isOfOne {
      let isHDR = unsafe kind == .oneOrHDR && logarithmicRows(side) >> row & 1 != 0
      block = ASTCWeightBlock(mode: isHDR ? .oneHDR : .one, numbers: endpoints)
      unsafe readSteps(into: &block, lane: codes + row / 2 * 8, shift: row % 2 == 0 ? 0 : 12)
      block.insert(tail, step: 8)
    } else {
      block = try ASTCWeightBlock(tag: tail, sixteenBits: endpoints)
      try unsafe readTriples(into: &block, row: codes + row * 4)
    }
    try block.check()
    return block
  }

  private static func readSteps(
    into block: inout ASTCWeightBlock, lane: UnsafeRawPointer, shift: UInt64
  ) {
    let words = (0..<3).map {
      unsafe UInt64(littleEndian: lane.loadUnaligned(fromByteOffset: $0 * 64, as: UInt64.self))
    }
    for step in 0..<8 {
      let position = 24 * step
      var bits = words[position / 64] >> UInt64(position % 64)
      if position % 64 > 40 { bits |= words[position / 64 + 1] << UInt64(64 - position % 64) }
      block.insert(bits >> shift & 0xFFF, step: step)
    }
  }

  private static func readTriples(
    into block: inout ASTCWeightBlock, row: UnsafeRawPointer
  ) throws(Fault) {
    for vector in 0..<3 {
      let word = unsafe UInt32(
        littleEndian: row.loadUnaligned(fromByteOffset: vector * 64, as: UInt32.self))
      var steps: [UInt64] = [0, 0, 0]
      var hidden: UInt32 = 0
      for place in 0..<4 {
        let byte = word >> UInt32(8 * place) & 0xFF
        let isThree = block.mode.partitionCount == 3
        guard isThree || byte < 216 else { throw .code }
        let digits =
          isThree
          ? [byte & 3, byte >> 2 & 3, byte >> 4 & 3] : [byte % 6, byte / 6 % 6, byte / 36]
        if isThree { hidden |= (byte >> 6) << UInt32(2 * place) }
        for digit in 0..<3 { steps[digit] |= UInt64(digits[digit]) << UInt64(3 * place) }
      }
      for digit in 0..<3 { block.insert(steps[digit], step: 3 * vector + digit) }
      guard hidden < 32 else { throw .number }
      block.numbers |= hidden << UInt32(15 + 5 * vector)
    }
  }

  /// Why a tile's bytes are not those of a layout.
  enum Fault: String, Error {
    case code = "a code outside its range"
    case number = "an endpoint outside its range"
    case tag = "a block tag with unknown bits"
  }
}

extension ASTCWeightBlock {
  /// Bits 0 and 1 say how many partitions there are and, with two, whether they have an offset;
  /// then comes the seed, or with one partition whether it is HDR.
  @inline(__always)
  var tag: UInt64 {
    switch mode {
    case .one: 0
    case .oneHDR: 4
    case .two: 1 | UInt64(seed) << 2
    case .three, .threeOffset: 2 | UInt64(seed) << 2
    case .twoOffset: 3 | UInt64(seed) << 2
    }
  }

  /// The endpoints' numbers: two of 8 bits, four of 4, or the first three of six of 5 with the
  /// offset's mark above them.
  @inline(__always)
  var sixteenBits: UInt32 {
    switch mode {
    case .one, .oneHDR: numbers
    case .two, .twoOffset:
      numbers & 15 | numbers >> 1 & 0xF0 | numbers >> 2 & 0xF00 | numbers >> 3 & 0xF000
    case .three: numbers & 0x7FFF
    case .threeOffset: numbers & 0x7FFF | 0x8000
    }
  }

  /// The way back from both; codes, and the last three of six numbers, are zero.
  init(tag: UInt64, sixteenBits bits: UInt32) throws(ASTCTileLayout.Fault) {
    let seed = UInt16(tag >> 2)
    switch tag & 3 {
    case 0:
      guard seed < 2 else { throw .tag }
      self.init(mode: seed == 0 ? .one : .oneHDR, numbers: bits)
    case 2:
      self.init(
        mode: bits & 0x8000 == 0 ? .three : .threeOffset, seed: seed, numbers: bits & 0x7FFF)
    default:
      let numbers =
        bits & 15 | (bits & 0xF0) << 1 | (bits & 0xF00) << 2 | (bits & 0xF000) << 3
      self.init(mode: tag & 3 == 1 ? .two : .twoOffset, seed: seed, numbers: numbers)
    }
  }

  /// Holds codes and numbers against their ranges.
  func check() throws(ASTCTileLayout.Fault) {
    let codeCount = mode.codeRange.levelCount
    for column in 0..<36 where code(column: column) >= codeCount { throw .code }
    let levelCount = mode.endpointRange.levelCount
    for index in 0..<2 * mode.partitionCount where number(index) >= levelCount { throw .number }
  }
}
