/// What unpacking looks up, computed from the rules once (a few milliseconds) and kept for good.
@safe struct ASTCTables: @unchecked Sendable {
  // Every pointer is to memory that is written before `shared` exists, then only read, and never
  // freed; so threads may share it.

  /// Of each 11-bit field; void extents count as reserved.
  let blockModes: UnsafePointer<ASTCBlockModeEntry>
  /// Of 8 packed bits: five trits, two bits each.
  let trits: UnsafePointer<UInt16>
  /// Of 7 packed bits: three quints, three bits each.
  let quints: UnsafePointer<UInt16>
  /// Of Σ tᵢ · 3ⁱ: the smallest packed bits.
  let packedTrits: UnsafePointer<UInt8>
  /// Of Σ qᵢ · 5ⁱ: the smallest packed bits.
  let packedQuints: UnsafePointer<UInt8>
  /// 32 a range: 0 to 64.
  let gridWeights: UnsafePointer<UInt8>
  /// 256 a range: 0 to 255.
  let endpoints: UnsafePointer<UInt8>
  /// 128 a number of endpoint pairs (0 to 9), by the bits there are: the raw value of the largest
  /// range, 255 where none fits.
  let endpointRanges: UnsafePointer<UInt8>
  /// 36 a pattern, 1024 patterns a partition count of 2, 3 and 4.
  let partitions: UnsafePointer<UInt8>

  /// 36 a grid, grids of 2 to 6 columns × 2 to 6 rows.
  let infill: UnsafePointer<ASTCInfill>

  static let shared = ASTCTables()

  private init() {
    unsafe blockModes = Self.keep((0..<1 << ASTCBlockMode.bitCount).map(ASTCBlockModeEntry.init))

    let trits = (0..<256).map(Self.trits)
    unsafe self.trits = Self.keep(trits.map { Self.joined($0, width: 2) })
    unsafe packedTrits = Self.keep(Self.inverse(trits, base: 3))
    let quints = (0..<128).map(Self.quints)
    unsafe self.quints = Self.keep(quints.map { Self.joined($0, width: 3) })
    unsafe packedQuints = Self.keep(Self.inverse(quints, base: 5))

    unsafe gridWeights = Self.keep(
      ASTCRange.allCases.filter { ASTCRange.gridWeightRanges ~= $0 }.flatMap { range in
        (0..<32).map { $0 < range.levelCount ? ASTCQuantization.gridWeight($0, range: range) : 0 }
      })
    unsafe endpoints = Self.keep(
      ASTCRange.allCases.flatMap { range in
        (0..<256).map { $0 < range.levelCount ? ASTCQuantization.endpoint($0, range: range) : 0 }
      })
    unsafe endpointRanges = Self.keep(
      (0..<10).flatMap { pairs in
        (0..<128).map { bits in
          ASTCRange.allCases.last {
            ASTCRange.endpointRanges ~= $0 && $0.sequenceBitCount(2 * pairs) <= bits
          }?.rawValue ?? 255
        }
      })
    unsafe partitions = Self.keep(
      (2...4).flatMap { count in
        (0..<ASTCPartitioning.seedCount).flatMap { seed in
          (0..<36).map { texel in
            UInt8(
              ASTCPartitioning.partition(seed: seed, count: count, x: texel % 6, y: texel / 6))
          }
        }
      })
    unsafe infill = Self.keep(
      (2...6).flatMap { width in
        (2...6).flatMap { height in
          (0..<36).map { ASTCInfill(x: $0 % 6, y: $0 / 6, width: width, height: height) }
        }
      })
  }

  /// A copy that stays; behind its end there is room for a vector to be read.
  static func keep<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
    let surplus = 64 / MemoryLayout<Element>.stride + 1
    let memory = UnsafeMutablePointer<Element>.allocate(capacity: elements.count + surplus)
    for index in 0..<elements.count + surplus {
      // Inside the allocation; the tables are never empty.
      unsafe (memory + index).initialize(to: elements[min(index, elements.count - 1)])
    }
    return unsafe UnsafePointer(memory)
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
