import KernelContract
import PackedFormats

/// The scalar twin of `PackedProductFunction` over ASTC blocks, from canonical planes: slow, obvious,
/// allocating.
package struct ASTCProductReference: ProductReference {
  package let format: WeightFormat
  package let rows: Int
  package let columns: Int
  /// Row-major, 36 columns each.
  package let blocks: [ASTCWeightBlock]
  /// One a row, or one in all.
  private let scales: [Float]
  /// One a block, in HDR.
  private let minimums: [Float]

  /// Takes blocks of the modes that the layout has.
  package init(
    format: WeightFormat, rows: Int, columns: Int, blocks: [ASTCWeightBlock], scales: [Float],
    minimums: [Float]
  ) {
    precondition(format.isASTC, "\(format.name) has no packed blocks")
    self.format = format
    self.rows = rows
    self.columns = columns
    self.blocks = blocks
    self.scales = scales
    self.minimums = minimums
  }

  package var blockCount: Int { (columns + 35) / 36 }
  private var isHDR: Bool { format == .astc6x6HDR }

  /// A block's values v in its columns as integers, and the unit they count in HDR.
  private func values(_ block: ASTCWeightBlock) -> (values: [Int], unit: Float) {
    guard block.mode != .oneHDR else { return logarithmicValues(block) }
    let lines = (0..<block.mode.partitionCount).map { ends(block, partition: $0) }
    let values = (0..<36).map { column in
      let (first, second) = lines[block.partition(column: column)]
      return 64 * first + (second - first) * gridWeight(block, column)
    }
    return (values, 257 * 0x1p-22)
  }

  private func gridWeight(_ block: ASTCWeightBlock, _ column: Int) -> Int {
    Int(
      ASTCQuantization.gridWeight(block.code(column: column), range: block.mode.codeRange))
  }

  /// The endpoints of a line, 0 to 255.
  private func ends(_ block: ASTCWeightBlock, partition: Int) -> (Int, Int) {
    let range = block.mode.endpointRange
    let v0 = Int(ASTCQuantization.endpoint(block.number(2 * partition), range: range))
    let v1 = Int(ASTCQuantization.endpoint(block.number(2 * partition + 1), range: range))
    guard block.mode.endpointMode == 1 else { return (v0, v1) }
    let base = v0 >> 2 | v1 & 0xC0
    return (base, min(base + (v1 & 0x3F), 255))
  }

  private func logarithmicValues(_ block: ASTCWeightBlock) -> (values: [Int], unit: Float) {
    let (v0, v1) = (block.number(0), block.number(1))
    let isFine = v0 & 0x80 == 0
    let base = isFine ? (v1 & 0xF0) << 4 | (v0 & 0x7F) << 1 : (v1 & 0xE0) << 4 | (v0 & 0x7F) << 2
    let offset = isFine ? (v1 & 0x0F) << 1 : (v1 & 0x1F) << 2
    let (first, second) = (base << 4, min(base + offset, 0xFFF) << 4)
    let exponent = max(1, min(base >> 7, 30))
    /// The binary16 of a grid weight, over 2^(exponent − 25).
    func integer(_ weight: Int) -> Int {
      let c = (first * (64 - weight) + second * weight + 32) >> 6
      let m = c & 0x7FF
      let bent = m < 512 ? 3 * m : m < 1536 ? 4 * m - 512 : 5 * m - 2048
      let half = Float16(bitPattern: UInt16(min(((c >> 11) << 10) + (bent >> 3), 0x7BFF)))
      return Int(Float(half) * Float(sign: .plus, exponent: 25 - exponent, significand: 1))
    }
    let lowest = integer(0)
    let range = integer(64) - lowest
    var shift = 0
    while range >> shift > 127 { shift += 1 }
    let half = shift == 0 ? 0 : 1 << (shift - 1)
    let values = (0..<36).map { column in
      let difference = integer(gridWeight(block, column)) - lowest
      return lowest + ((difference + half) >> shift) << shift
    }
    return (values, Float(sign: .plus, exponent: exponent - 25, significand: 1))
  }

  private func scale(row: Int) -> Float { isHDR ? scales[0] : scales[row] }

  /// The result of one row and token.
  package func multiply(row: Int, _ token: QuantizedToken) -> Float {
    precondition(token.grouping == .perBlock, "activations of another grouping")
    var total: Float = 0
    for index in 0..<blockCount {
      let (values, unit) = values(blocks[row * blockCount + index])
      var products = 0
      var sum = 0
      for column in index * 36..<min(columns, index * 36 + 36) {
        let x = Int(token.activations[column])
        products += (values[column - index * 36] - (isHDR ? 0 : 8160)) * x
        sum += x
      }
      var part = Float(products)
      if isHDR { part = unit * part + minimums[row * blockCount + index] * Float(sum) }
      total += token.scales[index] * part
    }
    return isHDR ? total * scale(row: row) : total * scale(row: row) * (257.0 / 64)
  }

  /// Within the contract's distance of what the format gives.
  package func value(row: Int, column: Int) -> Float {
    let block = row * blockCount + column / 36
    let (values, unit) = values(blocks[block])
    let value = Float(values[column % 36])
    return isHDR
      ? (minimums[block] + unit * value) * scale(row: row)
      : (value - 8160) * scale(row: row) * (257.0 / 64)
  }
}
