/// Unpacks blocks into texels.
///
/// It owns the room that takes, so one serves many blocks, on one thread at a time. Any 128 bits
/// are accepted.
@safe
package struct ASTCUnpacker: ~Copyable {
  package let profile: ASTCProfile

  // Room for one block's numbers, longer than what a legal block can have: sequences are unpacked in
  // whole groups, and neighbours of the last grid weight are read (and count nothing).

  /// Stored numbers: at most 64, in groups of 5.
  private let codes: UnsafeMutablePointer<UInt8>
  /// What the endpoints' stand for: at most 18.
  private let endpointValues: UnsafeMutablePointer<UInt8>
  /// What the grid weights stand for, one plane after the other.
  private let gridWeights: UnsafeMutablePointer<UInt8>
  private static let planeStride = 72
  /// The weight of each texel, 0 to 64; those of the second plane 36 behind.
  let weights: UnsafeMutablePointer<Float>
  /// The lines of the partitions.
  let lines: UnsafeMutablePointer<ASTCLine>
  /// The partition of every texel where there is one partition.
  private let zeros: UnsafeMutablePointer<UInt8>

  /// Allocates under 1 kB.
  package init(profile: ASTCProfile) {
    func allocate<Element>(_ count: Int, _ value: Element) -> UnsafeMutablePointer<Element> {
      let memory = UnsafeMutablePointer<Element>.allocate(capacity: count)
      unsafe memory.initialize(repeating: value, count: count)
      return unsafe memory
    }
    self.profile = profile
    unsafe codes = allocate(80, 0)
    unsafe endpointValues = allocate(32, 0)
    unsafe gridWeights = allocate(2 * Self.planeStride, 0)
    unsafe weights = allocate(72, 0)
    unsafe lines = allocate(4, ASTCLine())
    unsafe zeros = allocate(36, 0)
  }

  deinit {
    // Allocated by `init`, and nobody else has them.
    unsafe codes.deallocate()
    unsafe endpointValues.deallocate()
    unsafe gridWeights.deallocate()
    unsafe weights.deallocate()
    unsafe lines.deallocate()
    unsafe zeros.deallocate()
  }

  /// A block ready to be interpolated: `weights` and `lines` are set.
  @safe
  struct Prepared {
    /// The partition of each of 36 texels.
    var partitions: UnsafePointer<UInt8>
    var partitionCount: Int
    /// The component whose weights are the second plane's; nil where there is one plane.
    var secondPlaneComponent: Int?
  }

  /// Unpacks the numbers of a block that is no void extent.
  @inline(__always)
  func prepare(_ block: ASTCBlock) throws(ASTCBlockFault) -> Prepared {
    let header = try ASTCBlockHeader(block)
    unpackEndpoints(block, header)
    unpackWeights(block, header.mode)
    let count = header.partitionCount
    return unsafe Prepared(
      partitions: count == 1
        ? UnsafePointer(zeros)
        : ASTCPartitioning.table(seed: header.partitionSeed, count: count),
      partitionCount: count,
      secondPlaneComponent: header.mode.isDualPlane ? header.secondPlaneComponent : nil)
  }

  @inline(__always)
  private func unpackEndpoints(_ block: ASTCBlock, _ header: ASTCBlockHeader) {
    let count = header.endpointValueCount
    let range = header.endpointRange
    // 18 numbers at most, unpacked to at most 20; the table has 256 entries a range.
    unsafe ASTCSequence.unpack(
      block, at: header.endpointOffset, count: count, range: range, into: codes)
    let meanings = unsafe ASTCTables.shared.endpoints + Int(range.rawValue) &* 256
    for index in 0..<count {
      unsafe endpointValues[index] = meanings[Int(codes[index])]
    }
    var first = 0
    for partition in 0..<header.partitionCount {
      let mode = header.endpointModes[partition]
      // The header counted the numbers of all modes: they lie in the room.
      unsafe lines[partition] = ASTCLine(
        ASTCEndpoints(mode: mode, values: endpointValues + first, profile: profile))
      first &+= 2 &* (Int(mode &>> 2) &+ 1)
    }
  }

  @inline(__always)
  private func unpackWeights(_ block: ASTCBlock, _ mode: ASTCBlockMode) {
    let count = Int(mode.gridWeightCount)
    // 64 numbers at most, unpacked to at most 66; the table has 32 entries a range, and codes are
    // below 32.
    unsafe ASTCSequence.unpack(
      block.bitReversed, at: 0, count: count, range: mode.range, into: codes)
    let meanings = unsafe ASTCTables.shared.gridWeights + Int(mode.range.rawValue) &* 32
    if mode.isDualPlane {
      for index in 0..<count &>> 1 {
        unsafe gridWeights[index] = meanings[Int(codes[2 &* index])]
        unsafe gridWeights[index &+ Self.planeStride] = meanings[Int(codes[2 &* index &+ 1])]
      }
      infill(mode, plane: 0)
      infill(mode, plane: 1)
    } else if mode.isFullGrid {
      for index in 0..<36 {
        unsafe weights[index] = Float(meanings[Int(codes[index])])
      }
    } else {
      for index in 0..<count {
        unsafe gridWeights[index] = meanings[Int(codes[index])]
      }
      infill(mode, plane: 0)
    }
  }

  @inline(__always)
  private func infill(_ mode: ASTCBlockMode, plane: Int) {
    // The last place is below 36, its lower right neighbour 7 further: inside the plane's 72.
    let grid = unsafe gridWeights + plane &* Self.planeStride
    let output = unsafe weights + plane &* 36
    let width = Int(mode.width)
    let infill = unsafe ASTCInfill.grid(width: mode.width, height: mode.height)
    for texel in 0..<36 {
      let at = unsafe infill[texel]
      let upper = unsafe grid + Int(at.place)
      let lower = unsafe upper + width
      let first = unsafe Int32(upper[0]) &* Int32(at.share00) &+ Int32(upper[1]) &* Int32(at.share01)
      let second = unsafe Int32(lower[0]) &* Int32(at.share10) &+ Int32(lower[1]) &* Int32(at.share11)
      unsafe output[texel] = Float((first &+ second &+ 8) &>> 4)
    }
  }
}

/// The interpolation of a partition: 2²³ + C, where C is the 16-bit result of the format.
///
/// C = ⌊(first · (64 − w) + second · w + 32) / 64⌋. With 16-bit endpoints all of first + 1/128 +
/// (second − first) / 64 · w is exact in binary32. The sum is C and a rest from 1/128 to 1 − 1/128,
/// less one half: adding 2²³ rounds it to the nearest integer, which is C.
struct ASTCLine: BitwiseCopyable {
  var base = SIMD4<Float>()
  var slope = SIMD4<Float>()
  var isColorHDR = false
  var isAlphaHDR = false

  static let magic: Float = 0x1p23

  init() {}

  @inline(__always)
  init(_ endpoints: ASTCEndpoints) {
    // Not a vector conversion, which would check every lane for a range it cannot leave.
    let first = endpoints.first
    let difference = endpoints.second &- first
    base = SIMD4(Float(first.x), Float(first.y), Float(first.z), Float(first.w)) + 0x1p-7
    slope =
      SIMD4(
        Float(difference.x), Float(difference.y), Float(difference.z), Float(difference.w))
      * 0x1p-6
    isColorHDR = endpoints.isColorHDR
    isAlphaHDR = endpoints.isAlphaHDR
  }

  /// 2²³ + C for a weight of each component.
  @inline(__always)
  func shifted(_ weight: SIMD4<Float>) -> SIMD4<Float> {
    (base + slope * weight) + SIMD4(repeating: Self.magic)
  }
}
