/// The values of a row out of the layout alone: what a kernel must compute, in the order of the
/// formula.
extension ASTCTileLayout {
  /// Writes the values of a row, as `WeightFormat.dequantize` gives them for the canonical planes.
  ///
  /// Throws where the row's bytes are not those of the layout.
  package func dequantize(
    row: Int, codes: RawSpan, scales: RawSpan, into output: inout MutableSpan<Float>
  ) throws(ASTCLayoutError) {
    precondition(0..<rows ~= row, "no such row")
    precondition(output.count == columns, "the output is not as long as a row")
    precondition(
      codes.byteCount == byteCount(of: .codes) && scales.byteCount == byteCount(of: .scales),
      "not the layout's planes")
    let band = row / 16
    let scale = scales.extracting(row * 4..<row * 4 + 4).littleEndianFloat
    let bytes = codes.extracting(band * bandByteCount..<(band + 1) * bandByteCount)
    for tile in 0..<blockCount {
      // The buffer lives for the call.
      let (block, minimum) = try unsafe bytes.withUnsafeBytes { bytes throws(ASTCLayoutError) in
        let block = try unsafe part(row: row % 16, tile: tile, band: band, in: bytes)
        let minimum =
          unsafe format == .astc6x6HDR ? minimumBits(row: row % 16, tile: tile, in: bytes) : 0
        return (block, HalfPrecision.float(bits: minimum))
      }
      let lines = (0..<block.mode.partitionCount).map {
        Line(block, partition: $0, profile: profile)
      }
      let first = tile * 36
      for column in 0..<min(36, columns - first) {
        let line = lines[block.partition(column: column)]
        let weight = Int(
          ASTCQuantization.gridWeight(block.code(column: column), range: block.mode.codeRange))
        let c = (line.first * (64 - weight) + line.second * weight + 32) >> 6
        if format == .astc6x6LDR {
          output[first + column] = (Float(c) - 32767.5) * scale
        } else {
          let result = line.isLogarithm ? Self.exponential(c) : Self.fraction(c)
          output[first + column] = (minimum + result) * scale
        }
      }
    }
  }

  /// Σ value · x over a row's columns, one after another in binary32.
  package func product(
    row: Int, codes: RawSpan, scales: RawSpan, activations: Span<Float>
  ) throws(ASTCLayoutError) -> Float {
    precondition(activations.count == columns, "not an activation a column")
    var values = [Float](repeating: 0, count: columns)
    var span = values.mutableSpan
    try dequantize(row: row, codes: codes, scales: scales, into: &span)
    var sum: Float = 0
    for column in 0..<columns { sum += values[column] * activations[column] }
    return sum
  }

  /// The two ends of a partition, in 16 bits.
  private struct Line {
    var first: Int
    var second: Int
    /// Whether they are logarithms.
    var isLogarithm = false

    init(_ block: ASTCWeightBlock, partition: Int, profile: ASTCProfile) {
      let range = block.mode.endpointRange
      let v0 = Int(ASTCQuantization.endpoint(block.number(2 * partition), range: range))
      let v1 = Int(ASTCQuantization.endpoint(block.number(2 * partition + 1), range: range))
      switch block.mode.endpointMode {
      case 0:
        (first, second) = (v0 * 257, v1 * 257)
      case 1:
        let base = v0 >> 2 | v1 & 0xC0
        (first, second) = (base * 257, min(base + (v1 & 0x3F), 255) * 257)
      default:
        // HDR luminance, small range: 12-bit logarithms.
        let isFine = v0 & 0x80 == 0
        let base =
          isFine ? (v1 & 0xF0) << 4 | (v0 & 0x7F) << 1 : (v1 & 0xE0) << 4 | (v0 & 0x7F) << 2
        let offset = isFine ? (v1 & 0x0F) << 1 : (v1 & 0x1F) << 2
        (first, second) = (base << 4, min(base + offset, 0xFFF) << 4)
        isLogarithm = true
      }
    }
  }

  /// The binary16 that 16 bits of logarithm stand for.
  private static func exponential(_ c: Int) -> Float {
    let m = c & 0x7FF
    let bent = m < 512 ? 3 * m : m < 1536 ? 4 * m - 512 : 5 * m - 2048
    return HalfPrecision.float(bits: UInt16(min(((c >> 11) << 10) + (bent >> 3), 0x7BFF)))
  }

  /// C/65536 as a binary16, rounded toward zero; 1 for 65535.
  private static func fraction(_ c: Int) -> Float {
    guard c < 65535 else { return 1 }
    let value = Float(c) * 0x1p-16
    let rounded = HalfPrecision.bits(value)
    return HalfPrecision.float(
      bits: HalfPrecision.float(bits: rounded) > value ? rounded - 1 : rounded)
  }
}

extension ASTCWeightBlock {
  /// The partition of a column.
  package func partition(column: Int) -> Int {
    ASTCPartitioning.partition(
      seed: Int(seed), count: mode.partitionCount, x: column % 6, y: column / 6)
  }
}

extension RawSpan {
  /// Four bytes as a binary32.
  fileprivate var littleEndianFloat: Float {
    // Any four bytes are a binary32.
    Float(bitPattern: UInt32(littleEndian: unsafe unsafeLoadUnaligned(as: UInt32.self)))
  }
}
