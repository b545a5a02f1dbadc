/// The partition patterns of one partition count that differ, each once: many seeds give the same
/// partitions under other numbers, or leave one empty.
///
/// 521 of the 1024 seeds remain for two partitions, 333 for three.
@safe struct ASTCPatternSet: @unchecked Sendable {
  // The pointers are to memory that is written before the set exists, then only read, and never
  // freed.

  let partitionCount: Int
  let count: Int
  /// The smallest seed of each pattern.
  let seeds: UnsafePointer<UInt16>
  /// `partitionCount` masks a pattern: byte r holds the texels of row r that belong to the
  /// partition, from the low bit up.
  let masks: UnsafePointer<UInt64>

  static let two = ASTCPatternSet(partitionCount: 2)
  static let three = ASTCPatternSet(partitionCount: 3)

  static func of(_ partitionCount: Int) -> ASTCPatternSet { partitionCount == 2 ? two : three }

  private init(partitionCount: Int) {
    self.partitionCount = partitionCount
    var seen: Set<[UInt64]> = []
    var patterns: [Pattern] = []
    for seed in 0..<ASTCPartitioning.seedCount {
      var masks = [UInt64](repeating: 0, count: partitionCount)
      let pattern = unsafe ASTCPartitioning.pattern(seed: seed, count: partitionCount)
      for texel in 0..<ASTCBlock.texelCount {
        masks[unsafe Int(pattern[texel])] |= 1 << UInt64(texel / 6 * 8 + texel % 6)
      }
      guard !masks.contains(0), seen.insert(masks.sorted()).inserted else { continue }
      patterns.append(Pattern(seed: UInt16(seed), masks: masks))
    }
    if partitionCount == 2 { Self.spread(&patterns) }
    count = patterns.count
    unsafe seeds = ASTCTables.keep(patterns.map { $0.seed })
    unsafe masks = ASTCTables.keep(patterns.flatMap { $0.masks })
  }

  private struct Pattern {
    var seed: UInt16
    var masks: [UInt64]
  }

  /// Orders patterns of two partitions so that any first few of them are balanced and unlike each
  /// other: each next one is farthest from those before it, counted in texels that change sides.
  private static func spread(_ patterns: inout [Pattern]) {
    func isBalanced(_ pattern: Pattern) -> Bool { 12...24 ~= pattern.masks[0].nonzeroBitCount }
    var distances = patterns.map { isBalanced($0) ? 100 : 50 }
    for position in patterns.indices {
      let rest = position..<patterns.endIndex
      guard let next = rest.max(by: { distances[$0] < distances[$1] }) else { return }
      patterns.swapAt(position, next)
      distances.swapAt(position, next)
      for other in rest {
        let changed = (patterns[other].masks[0] ^ patterns[position].masks[0]).nonzeroBitCount
        let distance = min(changed, 36 - changed) + (isBalanced(patterns[other]) ? 18 : 0)
        distances[other] = min(distances[other], distance)
      }
    }
  }
}
