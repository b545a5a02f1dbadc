/// Trits and quints, packed and apart: the tables of integer sequences.
@safe
struct ASTCDigits: @unchecked Sendable {
  // As in `ASTCTables`: written before `shared` exists, then only read, never freed.

  /// Of 8 packed bits: five trits, two bits each.
  let trits: UnsafePointer<UInt16>
  /// Of 7 packed bits: three quints, three bits each.
  let quints: UnsafePointer<UInt16>
  /// Of Σ tᵢ · 3ⁱ: the smallest packed bits.
  let packedTrits: UnsafePointer<UInt8>
  /// Of Σ qᵢ · 5ⁱ: the smallest packed bits.
  let packedQuints: UnsafePointer<UInt8>

  static let shared = ASTCDigits()

  private init() {
    let trits = (0..<256).map(Self.trits)
    unsafe self.trits = ASTCTables.keep(trits.map { Self.joined($0, width: 2) })
    unsafe packedTrits = ASTCTables.keep(Self.inverse(trits, base: 3))
    let quints = (0..<128).map(Self.quints)
    unsafe self.quints = ASTCTables.keep(quints.map { Self.joined($0, width: 3) })
    unsafe packedQuints = ASTCTables.keep(Self.inverse(quints, base: 5))
  }

  private static func joined(_ digits: [Int], width: Int) -> UInt16 {
    digits.reversed().reduce(0) { $0 << UInt16(width) | UInt16($1) }
  }

  /// By the number that the digits make, first digit lowest: the first place where they stand.
  private static func inverse(_ digits: [[Int]], base: Int) -> [UInt8] {
    let count = digits.first.map { (0..<$0.count).reduce(1) { product, _ in product * base } } ?? 0
    var places = [UInt8](repeating: 0, count: count)
    for place in digits.indices.reversed() {
      places[digits[place].reversed().reduce(0) { $0 * base + $1 }] = UInt8(place)
    }
    return places
  }

  /// Five trits of 8 bits, as the format defines them.
  private static func trits(_ t: Int) -> [Int] {
    func bit(_ value: Int, _ index: Int) -> Int { (value >> index) & 1 }
    var c = t & 31
    var t3: Int
    var t4: Int
    if (t >> 2) & 7 == 7 {
      c = (t >> 5) << 2 | t & 3
      (t4, t3) = (2, 2)
    } else if (t >> 5) & 3 == 3 {
      (t4, t3) = (2, bit(t, 7))
    } else {
      (t4, t3) = (bit(t, 7), (t >> 5) & 3)
    }
    if c & 3 == 3 {
      return [bit(c, 3) << 1 | bit(c, 2) & ~bit(c, 3), bit(c, 4), 2, t3, t4]
    }
    if (c >> 2) & 3 == 3 { return [c & 3, 2, 2, t3, t4] }
    return [bit(c, 1) << 1 | bit(c, 0) & ~bit(c, 1), (c >> 2) & 3, bit(c, 4), t3, t4]
  }

  /// Three quints of 7 bits, as the format defines them.
  private static func quints(_ q: Int) -> [Int] {
    let low = q & 1
    if (q >> 1) & 3 == 3 && (q >> 5) & 3 == 0 {
      return [4, 4, low << 2 | (((q >> 4) & 1) & ~low) << 1 | ((q >> 3) & 1) & ~low]
    }
    var q2 = (q >> 5) & 3
    var c = q & 31
    if (q >> 1) & 3 == 3 {
      c = ((q >> 3) & 3) << 3 | (~(q >> 5) & 3) << 1 | low
      q2 = 4
    }
    return c & 7 == 5 ? [(c >> 3) & 3, 4, q2] : [c & 7, (c >> 3) & 3, q2]
  }
}
