import KernelReference
import PackedFormats
import QuantKernels
import RandomNumbers

/// Blocks of a case, in all modes and every mixture of them that a tile can be of.
struct ASTCProductData {
  private let test: ProductCase
  private let blocks: [ASTCWeightBlock]
  private let scales: [Float]
  private let minimums: [Float]

  private var blockCount: Int { (test.columns + 35) / 36 }

  init(_ test: ProductCase, _ random: inout SplitMix64) {
    self.test = test
    let isHDR = test.format == .astc6x6HDR
    let blockCount = (test.columns + 35) / 36
    let bandCount = (test.rows + 15) / 16
    let modes = ASTCWeightMode.allCases.filter { isHDR || $0 != .oneHDR }
    // A tile's blocks are all of one mode, or mixed; half of the tiles are of the first kinds.
    let mixtures: [[ASTCWeightMode]] =
      modes.map { [$0] } + [
        [.one], [isHDR ? .oneHDR : .one], [isHDR ? .oneHDR : .one], [.one],
        modes.filter { $0.partitionCount < 3 }, modes,
      ]
    let choices = (0..<bandCount * blockCount).map { _ in
      mixtures[Int(random.next() % UInt64(mixtures.count))]
    }
    blocks = (0..<test.rows * blockCount).map { index in
      let choice = choices[index / blockCount / 16 * blockCount + index % blockCount]
      let mode = choice[Int(random.next() % UInt64(choice.count))]
      return Self.block(mode, test.fill, index, &random)
    }
    let scaleCount = isHDR ? 1 : test.rows
    scales = (0..<scaleCount).map { _ in Float(random.next() >> 40) * 0x1p-38 }
    minimums =
      isHDR
      ? (0..<test.rows * blockCount).map { _ in
        // One in sixteen is subnormal.
        let unit = Float(random.next() >> 40) * 0x1p-23 - 1
        return Float(Float16(unit * (random.next() % 16 == 0 ? 0x1p-14 : 1)))
      } : []
  }

  private static func block(
    _ mode: ASTCWeightMode, _ fill: ProductCase.Fill, _ index: Int, _ random: inout SplitMix64
  ) -> ASTCWeightBlock {
    let levels = mode.endpointRange.levelCount
    let width = mode.partitionCount == 1 ? 8 : 5
    func draw(_ count: Int, _ high: Int) -> UInt64 {
      switch fill {
      case .random: random.next() % UInt64(count)
      case .extreme, .opposed: UInt64(high)
      case .lowest: 0
      }
    }
    // The highest stored number means the highest endpoint in all ranges but the scrambled ones,
    // where 1 does.
    let high = mode.partitionCount == 1 ? levels - 1 : 1
    var numbers: UInt32 = 0
    for place in 0..<2 * mode.partitionCount {
      // First to last and back: 0, high, high, 0, 0, high.
      let isLow = fill == .opposed && (place + index) % 4 % 3 == 0
      numbers |= UInt32(isLow ? 0 : draw(levels, high)) << UInt32(width * place)
    }
    // The code of the largest grid weight, which is scrambled too where there are six.
    let highCode = mode.partitionCount == 1 ? 1 : mode.codeRange.levelCount - 1
    var codes: [UInt64] = [0, 0]
    for column in 0..<36 {
      let code = draw(mode.codeRange.levelCount, highCode)
      codes[column / 20] |= code << UInt64(3 * (column % 20))
    }
    let drawn = fill == .opposed ? UInt64(index) : random.next()
    let seed = mode.partitionCount == 1 ? 0 : UInt16(drawn % 1024)
    return ASTCWeightBlock(
      mode: mode, seed: seed, numbers: numbers, lowCodes: codes[0], highCodes: codes[1])
  }

  var reference: ASTCProductReference {
    ASTCProductReference(
      format: test.format, rows: test.rows, columns: test.columns, blocks: blocks,
      scales: scales, minimums: minimums)
  }

  /// The matrix, by way of the canonical planes.
  func matrix() throws(InputFailure) -> PackedMatrix {
    var codes = [UInt8](repeating: 0, count: blocks.count * 16)
    unsafe codes.withUnsafeMutableBytes { bytes in
      for (index, block) in blocks.enumerated() {
        // 16 bytes for every block.
        unsafe block.block.store(to: bytes, at: index * 16)
      }
    }
    let scaleBytes = scales.flatMap { scale in
      (0..<4).map { UInt8(truncatingIfNeeded: scale.bitPattern >> UInt32(8 * $0)) }
    }
    let minimumBytes = minimums.flatMap { minimum in
      let bits = Float16(minimum).bitPattern
      return [UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8)]
    }
    do {
      return unsafe try PackedMatrix(
        format: test.format, rows: test.rows, columns: test.columns, codes: codes.span.bytes,
        scales: scaleBytes.span.bytes, minimums: minimumBytes.span.bytes)
    } catch {
      throw InputFailure(reason: error.description)
    }
  }
}
