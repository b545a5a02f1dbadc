/// Unpacks blocks into texels.
///
/// It owns the room that takes, so one serves many blocks, on one thread at a time. Any 128 bits
/// are accepted.
@safe
package struct ASTCUnpacker: ~Copyable {
  package let profile: ASTCProfile
  let tables: ASTCTables
  let subset: ASTCSubsetTables

  // Room for one block's numbers, longer than what a legal block can have: sequences are unpacked in
  // whole groups, and neighbours of the last grid weight are read (and count nothing).

  /// Grid weights: at most 64, in groups of 5.
  private let gridWeights: UnsafeMutablePointer<UInt16>
  /// The endpoints' numbers: at most 18.
  let endpointValues: UnsafeMutablePointer<UInt8>
  /// Grid weights and their neighbours as `ASTCInfill` makes them, one plane after the other.
  private let words: UnsafeMutablePointer<UInt64>
  private static let planeStride = 40
  /// The weight of each texel, 0 to 64; those of the second plane 36 behind.
  let weights: UnsafeMutablePointer<Float>
  /// The lines of the partitions.
  let lines: UnsafeMutablePointer<ASTCLine>
  /// Results by 8 · partition + code.
  let palette: UnsafeMutablePointer<Float>
  /// The partition of every texel where there is one partition.
  private let zeros: UnsafeMutablePointer<UInt8>

  /// A copy of the partitions of the block's texels.
  private let pattern: UnsafeMutablePointer<UInt8>
  /// Whether texels take vectors of 256 bits.
  let isWide: Bool

  /// Allocates 2 kB.
  ///
  /// - Parameter isWide: vectors of 256 bits where the CPU has them; the results are the same.
  package init(profile: ASTCProfile, isWide: Bool = true) {
    self.isWide = isWide && ASTCTexelKind.hasWideVectors
    func allocate<Element>(_ count: Int, _ value: Element) -> UnsafeMutablePointer<Element> {
      let memory = UnsafeMutablePointer<Element>.allocate(capacity: count)
      unsafe memory.initialize(repeating: value, count: count)
      return unsafe memory
    }
    self.profile = profile
    tables = ASTCTables.shared
    subset = ASTCSubsetTables.shared
    unsafe gridWeights = allocate(96, 0)
    unsafe endpointValues = allocate(32, 0)
    unsafe words = allocate(2 * Self.planeStride, 0)
    unsafe weights = allocate(72, 0)
    unsafe lines = allocate(4, ASTCLine())
    unsafe palette = allocate(32, 0)
    unsafe zeros = allocate(36, 0)
    unsafe pattern = allocate(36, 0)
  }

  deinit {
    // Allocated by `init`, and nobody else has them.
    unsafe gridWeights.deallocate()
    unsafe endpointValues.deallocate()
    unsafe words.deallocate()
    unsafe weights.deallocate()
    unsafe lines.deallocate()
    unsafe palette.deallocate()
    unsafe zeros.deallocate()
    unsafe pattern.deallocate()
  }

  /// The partition of each of 36 texels.
  @inline(__always)
  func partitions(_ header: ASTCBlockHeader) -> UnsafePointer<UInt8> {
    unsafe header.partitionCount == 1
      ? UnsafePointer(zeros)
      : ASTCPartitioning.table(seed: header.partitionSeed, count: header.partitionCount, tables)
  }

  /// The same where they are read last of all: the table's random place has time to arrive.
  @inline(__always)
  func copiedPartitions(_ header: ASTCBlockHeader) -> UnsafePointer<UInt8> {
    guard header.partitionCount > 1 else { return unsafe UnsafePointer(zeros) }
    let table = unsafe UnsafeRawPointer(
      ASTCPartitioning.table(seed: header.partitionSeed, count: header.partitionCount, tables))
    let copy = unsafe UnsafeMutableRawPointer(pattern)
    // 36 bytes of either.
    typealias Half = SIMD16<UInt8>
    unsafe copy.storeBytes(of: table.loadUnaligned(as: Half.self), as: Half.self)
    unsafe copy.storeBytes(
      of: table.loadUnaligned(fromByteOffset: 16, as: Half.self), toByteOffset: 16, as: Half.self)
    unsafe copy.storeBytes(
      of: table.loadUnaligned(fromByteOffset: 32, as: UInt32.self), toByteOffset: 32,
      as: UInt32.self)
    return unsafe UnsafePointer(pattern)
  }

  /// Sets `endpointValues`.
  @inline(__always)
  func unpackEndpointValues(_ block: ASTCBlock, _ header: ASTCBlockHeader) {
    let range = header.endpointRange
    // 18 numbers at most, unpacked to at most 20; the table has 256 entries a range.
    let meanings = unsafe tables.endpoints + Int(range.rawValue) &* 256
    let values = unsafe endpointValues
    ASTCSequence.forEachCode(
      block, at: header.endpointOffset, count: header.endpointValueCount,
      bitCount: range.sequenceBitCount(header.endpointValueCount), range: range,
      digits: tables.digits
    ) { place, code in unsafe values[place] = meanings[code] }
  }

  /// Sets `lines`. Returns how many of them have logarithms in color, and how many in alpha too.
  @inline(__always)
  func unpackLines(
    _ block: ASTCBlock, _ header: ASTCBlockHeader
  ) -> (color: Int, alpha: Int) {
    unpackEndpointValues(block, header)
    var first = 0
    var hdrCounts = (color: 0, alpha: 0)
    for partition in 0..<header.partitionCount {
      let mode = header.endpointModes[partition]
      // The header counted the numbers of all modes: they lie in the room.
      let line = unsafe ASTCLine(
        ASTCEndpoints(mode: mode, values: endpointValues + first, profile: profile))
      unsafe lines[partition] = line
      hdrCounts.color &+= line.isColorHDR ? 1 : 0
      hdrCounts.alpha &+= line.isAlphaHDR ? 1 : 0
      first &+= 2 &* (Int(mode &>> 2) &+ 1)
    }
    return hdrCounts
  }

  /// Sets `weights`: of the first plane, and of the second where there is one.
  @inline(__always)
  func unpackTexelWeights(_ block: ASTCBlock, _ mode: ASTCBlockMode) {
    let count = Int(mode.gridWeightCount)
    // 64 numbers at most, unpacked to at most 66; the table has 32 entries a range, and codes are
    // below 32. Behind the last there is room for the neighbours that are read: 96 in all.
    let meanings = unsafe tables.gridWeights + Int(mode.range.rawValue) &* 32
    let gridWeights = unsafe gridWeights
    ASTCSequence.forEachCode(
      block.bitReversed, at: 0, count: count, bitCount: Int(mode.gridWeightBitCount),
      range: mode.range, digits: tables.digits
    ) { place, code in unsafe gridWeights[place] = meanings[code] }
    let width = Int(mode.width)
    if mode.isDualPlane {
      unsafe ASTCInfill.fillTwoPlanes(
        gridWeights, count: count &>> 1, width: width, into: words, stride: Self.planeStride)
      infill(mode, planeCount: 2)
    } else {
      unsafe ASTCInfill.fillWords(gridWeights, count: count, width: width, into: words)
      infill(mode, planeCount: 1)
    }
  }

  @inline(__always)
  private func infill(_ mode: ASTCBlockMode, planeCount: Int) {
    // A legal mode has 2 to 6 columns and rows: 25 grids of 36 texels for one plane and for two.
    // Weights are 0 to 64.
    let words = unsafe UnsafePointer(self.words)
    let weights = unsafe weights
    let grid = (planeCount &* 5 &+ Int(mode.width) &- 7) &* 5 &+ Int(mode.height) &- 2
    let infill = unsafe tables.infill + grid &* 36
    let numbers = unsafe tables.numbers
    for texel in 0..<36 {
      unsafe weights[texel] = numbers[infill[texel].weight(words)]
      if planeCount == 2 {
        unsafe weights[texel &+ 36] = numbers[infill[texel].weight(words + Self.planeStride)]
      }
    }
  }
}
