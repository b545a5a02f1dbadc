/// Stored numbers of a range and what they stand for: grid weights 0 to 64, endpoints 0 to 255.
package enum ASTCQuantization {
  /// What code `code` of a range means as a grid weight, 0 to 64.
  package static func gridWeight(_ code: Int, range: ASTCRange) -> UInt8 {
    precondition(range <= .levels32 && 0..<range.levelCount ~= code, "no such grid weight")
    var value: Int
    switch range {
    case .levels3: value = [0, 32, 63][code]
    case .levels5: value = [0, 16, 32, 47, 63][code]
    case .levels6: value = scrambled(code, range, factor: 50, layout: "0000000")
    case .levels10: value = scrambled(code, range, factor: 28, layout: "0000000")
    case .levels12: value = scrambled(code, range, factor: 23, layout: "b000b0b")
    case .levels20: value = scrambled(code, range, factor: 13, layout: "b0000b0")
    case .levels24: value = scrambled(code, range, factor: 11, layout: "cb000cb")
    default: value = replicated(code, bits: range.bitCount, to: 6)
    }
    if value > 32 { value += 1 }
    return UInt8(value)
  }

  /// What code `code` of a range means as an endpoint, 0 to 255.
  package static func endpoint(_ code: Int, range: ASTCRange) -> UInt8 {
    precondition(0..<range.levelCount ~= code, "no such endpoint")
    let value: Int
    switch range {
    case .levels6: value = scrambled(code, range, factor: 204, layout: "000000000")
    case .levels10: value = scrambled(code, range, factor: 113, layout: "000000000")
    case .levels12: value = scrambled(code, range, factor: 93, layout: "b000b0bb0")
    case .levels20: value = scrambled(code, range, factor: 54, layout: "b0000bb00")
    case .levels24: value = scrambled(code, range, factor: 44, layout: "cb000cbcb")
    case .levels40: value = scrambled(code, range, factor: 26, layout: "cb0000cbc")
    case .levels48: value = scrambled(code, range, factor: 22, layout: "dcb000dcb")
    case .levels80: value = scrambled(code, range, factor: 13, layout: "dcb0000dc")
    case .levels96: value = scrambled(code, range, factor: 11, layout: "edcb000ed")
    case .levels160: value = scrambled(code, range, factor: 6, layout: "edcb0000e")
    case .levels192: value = scrambled(code, range, factor: 5, layout: "fedcb000f")
    // No endpoint has these two.
    case .levels3: value = [0, 128, 255][code]
    case .levels5: value = [0, 64, 128, 191, 255][code]
    default: value = replicated(code, bits: range.bitCount, to: 8)
    }
    return UInt8(value)
  }

  /// The bits repeated from the top down.
  private static func replicated(_ code: Int, bits: Int, to width: Int) -> Int {
    var value = 0
    for position in 0..<width {
      value = value << 1 | (code >> (bits - 1 - position % bits)) & 1
    }
    return value
  }

  /// The bit manipulation for ranges with a digit: A is the lowest bit everywhere, B the other bits
  /// in the layout (a is the lowest bit), C the factor, D the digit.
  private static func scrambled(
    _ code: Int, _ range: ASTCRange, factor: Int, layout: String
  ) -> Int {
    let width = layout.utf8.count
    let all = code & 1 == 0 ? 0 : (1 << width) - 1
    let spread = layout.utf8.reduce(0) { sum, letter in
      let bit = letter == UInt8(ascii: "0") ? 0 : (code >> Int(letter - UInt8(ascii: "a"))) & 1
      return sum << 1 | bit
    }
    let digit = code >> range.bitCount
    let value = (digit * factor + spread) ^ all
    return (all & (1 << (width - 2))) | value >> 2
  }

  /// The code of each grid weight 0 to 64 whose meaning is nearest; of two equally near the smaller.
  package static func nearestGridWeightCodes(_ range: ASTCRange) -> [UInt8] {
    nearest(to: 0...64, levelCount: range.levelCount) { gridWeight($0, range: range) }
  }

  /// The code of each endpoint 0 to 255 whose meaning is nearest; of two equally near the smaller.
  package static func nearestEndpointCodes(_ range: ASTCRange) -> [UInt8] {
    nearest(to: 0...255, levelCount: range.levelCount) { endpoint($0, range: range) }
  }

  private static func nearest(
    to values: ClosedRange<Int>, levelCount: Int, _ meaning: (Int) -> UInt8
  ) -> [UInt8] {
    let levels = (0..<levelCount).map { (code: $0, value: Int(meaning($0))) }
      .sorted { ($0.value, $0.code) < ($1.value, $1.code) }
    return values.map { value in
      let best = levels.min { abs($0.value - value) < abs($1.value - value) }
      return UInt8(best?.code ?? 0)
    }
  }

  /// The largest range in which the numbers of so many endpoint pairs fit into so many bits; nil
  /// where not even 0…5 does.
  @inline(__always)
  package static func endpointRange(pairCount: Int, bitCount: Int) -> ASTCRange? {
    guard 0..<10 ~= pairCount, bitCount >= 0 else { return nil }
    // 128 entries for each of 10 counts.
    let raw = unsafe ASTCTables.shared.endpointRanges[pairCount * 128 + min(bitCount, 127)]
    return ASTCRange(rawValue: raw)
  }
}
