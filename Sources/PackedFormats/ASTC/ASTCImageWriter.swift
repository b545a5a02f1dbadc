import TensorCore

/// Blocks for an image of one component, a row of blocks at a time.
///
/// Results are red = green = blue. In LDR a value v from 0 to 1 stands for C = 65535 v, in HDR a
/// value from 0 to 65504 for itself; what is beyond is moved to the edge and counted. Where 6 does
/// not divide a dimension, the texels outside repeat the nearest one of the image with importance
/// zero.
///
/// Blocks are those of `ASTCWeightMode`, and in HDR also blocks of one partition of 6 codes and CEM
/// 2 (two 12-bit logarithms), which the weight formats have no use for: their minimum keeps a block
/// within an octave.
package struct ASTCImageWriter: ~Copyable {
  private let image: ASTCImageFile
  private let profile: ASTCProfile
  private var encoder: ASTCEncoder
  /// Values outside the profile's range so far.
  package private(set) var clippedCount = 0

  /// A writer in profile `ldr` or `hdr`.
  package init(
    _ image: ASTCImageFile, profile: ASTCProfile, effort: QuantizationOptions.Effort = .medium
  ) {
    precondition(profile == .ldr || profile == .hdr, "no profile that images are written in")
    self.image = image
    self.profile = profile
    encoder = ASTCEncoder(effort: effort)
    encoder.isHDR = profile == .hdr
  }

  /// The largest value that is not clipped; the smallest is 0.
  package var largestValue: Float { profile == .hdr ? 65504 : 1 }

  /// The index of the first value that no block can stand for, not even clipped: NaN or infinite,
  /// or negative in HDR.
  package func firstFault(_ values: [Float]) -> Int? {
    values.firstIndex { !$0.isFinite || (profile == .hdr && $0 < 0) }
  }

  /// Encodes block row `row`: up to 6 rows of `width` values without faults.
  package mutating func blocks(row: Int, values: [Float]) -> [UInt8] {
    precondition(0..<image.blockRowCount ~= row, "no such row of blocks")
    let rows = min(6, image.height - row * 6)
    precondition(values.count == rows * image.width, "not the values of a row of blocks")
    for value in values where value < 0 || value > largestValue { clippedCount += 1 }
    // 65535 levels of 1/257 or, in HDR, 65536.
    let levelsPerUnit = profile == .hdr ? ASTCEncoder.levelsPerUnit : 255
    var bytes: [UInt8] = []
    bytes.reserveCapacity(image.blockColumnCount * ASTCBlock.byteCount)
    for column in 0..<image.blockColumnCount {
      let columns = min(6, image.width - column * 6)
      for texel in 0..<ASTCBlock.texelCount {
        let (y, x) = (texel / 6, texel % 6)
        let value = values[min(y, rows - 1) * image.width + column * 6 + min(x, columns - 1)]
        encoder.setTexel(
          texel, level: min(max(value, 0), largestValue) * levelsPerUnit,
          importance: y < rows && x < columns ? 1 : 0)
      }
      bytes += encoder.tile().bytes
    }
    return bytes
  }
}

extension ASTCEncoder {
  /// Gives `tile` one of its 36 texels.
  fileprivate func setTexel(_ texel: Int, level: Float, importance: Float) {
    precondition(0..<ASTCBlock.texelCount ~= texel, "no such texel")
    unsafe scratch.levels[texel] = level
    unsafe scratch.importance[texel] = importance
  }

  /// The best block for the texels, as they are: no minimum is taken from them.
  fileprivate mutating func tile() -> ASTCBlock {
    var low = Float.infinity
    var high = -Float.infinity
    for texel in 0..<ASTCBlock.texelCount {
      // 36 levels.
      let level = unsafe scratch.levels[texel]
      low = min(low, level)
      high = max(high, level)
    }
    best = Choice()
    // LDR endpoint modes reach from 0 to 1.
    if high <= Self.levelsPerUnit * 257 / 256 { search(spread: 2) }
    if isHDR { searchLogarithms(low: low / Self.levelsPerUnit, high: high / Self.levelsPerUnit) }
    _ = assign(best)
    return block(best)
  }

  /// Compares blocks of CEM 2 and 3 with the best block so far, from the values' range and a little
  /// inside it; then, but for the fast effort, neighbours of the better endpoints.
  private mutating func searchLogarithms(low: Float, high: Float) {
    let (low, high) = (ASTCLogarithm.nearest(low), ASTCLogarithm.nearest(high))
    let cut = (high - low) / 14
    for isLargeRange in [true, false] {
      for (low, high) in [
        (low, high), (low + cut, high - cut), (low, high - 2 * cut),
      ] {
        var ends = ASTCLogarithm(low: low, high: high, isLargeRange: isLargeRange)
        var error = tryLogarithm(ends)
        var isBetter = plan.refines
        while isBetter {
          isBetter = false
          for neighbour in ends.neighbours {
            let found = tryLogarithm(neighbour)
            guard found < error else { continue }
            (ends, error, isBetter) = (neighbour, found, true)
          }
        }
      }
    }
  }

  private mutating func tryLogarithm(_ ends: ASTCLogarithm) -> Float {
    var choice = Choice()
    choice.mode = .oneHDR
    choice.isLargeRange = ends.isLargeRange
    (choice.numbers[0], choice.numbers[1]) = ends.numbers
    let (first, second) = ends.endpoints
    for code in 0..<6 {
      let weight = Int(ASTCWeightMode.one.sortedGridWeights[code])
      choice.palette[code] = Self.result(first, second, weight) * Self.levelsPerUnit
    }
    choice.error = error(of: choice.palette)
    if choice.error < best.error { best = choice }
    return choice.error
  }
}

/// Endpoints of CEM 2 (large range) or CEM 3, in steps of the mode.
private struct ASTCLogarithm {
  var isLargeRange: Bool
  /// CEM 2: both ends in steps of 16 of the 12-bit logarithm. CEM 3: the lower end and the distance
  /// of the other in steps of 4.
  var first: Int
  var second: Int

  init(low: Int, high: Int, isLargeRange: Bool) {
    self.isLargeRange = isLargeRange
    if isLargeRange {
      first = min(max((low + 8) / 16, 0), 255)
      second = min(max((high + 8) / 16, first), 255)
    } else {
      first = min(max((low + 2) / 4, 0), 1023)
      second = min(max((high - low + 2) / 4, 0), 31)
    }
  }

  /// The stored numbers.
  var numbers: (UInt8, UInt8) {
    if isLargeRange { return (UInt8(first), UInt8(second)) }
    return (UInt8(0x80 | first & 0x7F), UInt8((first >> 7) << 5 | second))
  }

  /// The 12-bit endpoints.
  var endpoints: (Int, Int) {
    isLargeRange ? (first * 16, second * 16) : (first * 4, min((first + second) * 4, 0xFFF))
  }

  /// Those one step away.
  var neighbours: [ASTCLogarithm] {
    var found: [ASTCLogarithm] = []
    for (a, b) in [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, 1), (1, -1), (1, 1), (-1, -1)] {
      var next = self
      next.first += a
      next.second += b
      let isLegal =
        isLargeRange
        ? 0...255 ~= next.first && next.first...255 ~= next.second
        : 0...1023 ~= next.first && 0...31 ~= next.second
      if isLegal { found.append(next) }
    }
    return found
  }

  /// The 12-bit logarithm whose value is nearest below a value from 0 to 65504.
  static func nearest(_ value: Float) -> Int {
    let bits = Int(HalfPrecision.bits(min(value, 65504)))
    // The mantissa of binary16 is linear, and so nearly is that of the logarithm.
    return (bits >> 10) << 7 | (bits & 0x3FF) >> 3
  }
}
