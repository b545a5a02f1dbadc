/// Chooses the block that stands for 36 numbers with the least squared error.
///
/// Works in *levels*: endpoint e of an LDR block is level e, 0 to 255, and the decoded 16-bit
/// result C is level C / 257. One encoder serves one thread; it allocates its scratch memory once
/// (about 80 KB) and nothing per block.
///
/// All arithmetic is binary32 without fused operations and in a fixed order, so the same numbers
/// give the same block on every machine.
package struct ASTCEncoder: ~Copyable {
  let plan: Plan
  let scratch: Scratch

  /// Whether results are rounded to binary16, as the HDR profile does.
  var isHDR = false

  /// The best block so far.
  var best = Choice()

  /// Sums over the 36 levels, from `prepare`.
  var statistics = Statistics()

  package init(
    effort: QuantizationOptions.Effort, partitionLimit: Int? = nil
  ) {
    plan = Plan(effort: effort, partitionLimit: partitionLimit)
    scratch = Scratch()
  }

  deinit { scratch.deallocate() }

  /// What a block will hold, but for the codes, which follow from it.
  struct Choice {
    var mode = ASTCWeightMode.one
    var seed: UInt16 = 0
    /// The stored numbers, two a partition.
    var numbers = SIMD8<UInt8>(repeating: 0)
    /// CEM 2 instead of 3, for `oneHDR` alone: only in images.
    var isLargeRange = false
    /// The minimum's bits and the six levels, for `oneHDR` alone.
    var minimum: UInt16 = 0
    var palette = SIMD8<Float>(repeating: .infinity)
    /// The squared error, weighted by importance, in levels.
    var error = Float.infinity
  }

  struct Statistics {
    /// Σ importance, and its part in the mean below.
    var weight: Float = 0
    var mean: Float = 0
    var deviation: Float = 0
    var low: Float = 0
    var high: Float = 0
    /// Σ importance · (level − mean)².
    var energy: Float = 0
  }
}

extension ASTCEncoder {
  /// How far a search goes.
  struct Plan {
    /// Starts of the line fit, how many are fitted to the end, and in how many steps at most.
    var startCount: Int
    var lineCount: Int
    var passCount: Int
    /// Whether neighbouring endpoints are tried.
    var refines: Bool
    /// Patterns tried of two and of three partitions.
    var patternCounts: (two: Int, three: Int)
    /// Endpoint pairs kept at most.
    var pairLimit: Int
    /// Patterns whose error is then computed exactly.
    var candidateCount: Int
    /// Whether both modes of two partitions are searched in rows of middling spread.
    var searchesBothTwos: Bool { candidateCount > 1 }
    /// Whether pairs are searched that the spread of the row makes unlikely.
    var searchesAllModes: Bool

    init(effort: QuantizationOptions.Effort, partitionLimit: Int?) {
      switch effort {
      case .fast:
        (startCount, lineCount, passCount, refines) = (12, 1, 3, false)
        patternCounts = (96, 0)
        (pairLimit, candidateCount, searchesAllModes) = (24, 1, false)
      case .medium:
        (startCount, lineCount, passCount, refines) = (32, 3, 4, true)
        patternCounts = (.max, 0)
        (pairLimit, candidateCount, searchesAllModes) = (64, 2, false)
      case .thorough:
        (startCount, lineCount, passCount, refines) = (32, 4, 6, true)
        patternCounts = (.max, .max)
        (pairLimit, candidateCount, searchesAllModes) = (256, 8, true)
      }
      let limit = partitionLimit ?? 3
      if limit < 3 { patternCounts.three = 0 }
      if limit < 2 { patternCounts.two = 0 }
    }
  }

  /// Memory that every block reuses. Freed by the encoder that owns it.
  @safe struct Scratch {
    // All pointers are into one allocation, each with room for what its comment says, and are used
    // by one thread.

    let base: UnsafeMutableRawPointer
    /// The 36 levels, as given.
    let levels: UnsafeMutablePointer<Float>
    /// The 36 levels less their mean.
    let centered: UnsafeMutablePointer<Float>
    /// The 36 importances; 0 for padding.
    let importance: UnsafeMutablePointer<Float>
    /// The 36 codes, in the order of what they mean.
    let codes: UnsafeMutablePointer<UInt8>
    /// Up to 256 endpoint pairs: their places in the codebook, low ends, codes a level, levels a
    /// code.
    let pairs: UnsafeMutablePointer<UInt16>
    let lows: UnsafeMutablePointer<Float>
    let densities: UnsafeMutablePointer<Float>
    let steps: UnsafeMutablePointer<Float>
    /// 36 vectors of errors for each 8 of the pairs.
    let errors: UnsafeMutablePointer<SIMD8<Int16>>
    /// Sums over any texels of a row: 6 rows of 64 vectors.
    let sums: UnsafeMutablePointer<SIMD8<Int16>>
    /// The least sums so far: 3 for each of up to 521 patterns.
    let least: UnsafeMutablePointer<SIMD8<Int16>>

    static let pairCapacity = 256
    /// All patterns of two partitions, and eight more to fill the last vector.
    static let patternCapacity = 529

    init() {
      let vector = 16
      let sizes = [
        160, 160, 160, 64, Self.pairCapacity * 2, Self.pairCapacity * 4, Self.pairCapacity * 4,
        Self.pairCapacity * 4, Self.pairCapacity / 8 * 36 * vector, 384 * vector,
        Self.patternCapacity * 3 * vector,
      ]
      let total = sizes.reduce(0) { $0 + ($1 + 63) / 64 * 64 }
      let base = UnsafeMutableRawPointer.allocate(byteCount: total, alignment: 64)
      unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: total)
      var offset = 0
      var index = 0
      func next<T>(_: T.Type) -> UnsafeMutablePointer<T> {
        let start = unsafe base + offset
        let count = sizes[index] / MemoryLayout<T>.stride
        offset += (sizes[index] + 63) / 64 * 64
        index += 1
        return unsafe start.bindMemory(to: T.self, capacity: count)
      }
      unsafe self.base = base
      unsafe levels = next(Float.self)
      unsafe centered = next(Float.self)
      unsafe importance = next(Float.self)
      unsafe codes = next(UInt8.self)
      unsafe pairs = next(UInt16.self)
      unsafe lows = next(Float.self)
      unsafe densities = next(Float.self)
      unsafe steps = next(Float.self)
      unsafe errors = next(SIMD8<Int16>.self)
      unsafe sums = next(SIMD8<Int16>.self)
      unsafe least = next(SIMD8<Int16>.self)
    }

    func deallocate() { unsafe base.deallocate() }
  }
}

extension ASTCEncoder {
  /// Chooses the best block for the levels and importances in `scratch`.
  ///
  /// - Parameter spread: half the range of levels over the standard deviation of the row: how many
  ///   deviations the levels 0 to 255 reach on either side. It decides which modes are worth
  ///   trying; any positive number gives a legal block.
  mutating func search(spread: Float, partitions: Bool = true) {
    best = Choice()
    prepare()
    fitLine()
    // Nothing left that partitions could gain: a block of equal levels.
    guard partitions, best.error > 0.001 else { return }
    if plan.patternCounts.two > 0 {
      if spread < 5.5 || plan.searchesBothTwos { searchPartitions(.two) }
      if spread > 4.4 || plan.searchesAllModes { searchPartitions(.twoOffset) }
    }
    if plan.patternCounts.three > 0 {
      if spread < 8 || plan.searchesAllModes { searchPartitions(.three) }
      if spread > 4.4 || plan.searchesAllModes { searchPartitions(.threeOffset) }
    }
  }

  /// Sums over the levels.
  private mutating func prepare() {
    // 36 numbers each.
    let levels = unsafe scratch.levels
    let importance = unsafe scratch.importance
    var found = Statistics()
    var sum: Float = 0
    found.low = .infinity
    found.high = -.infinity
    for index in 0..<36 {
      let weight = unsafe importance[index]
      let level = unsafe levels[index]
      found.weight += weight
      sum += weight * level
      if weight > 0 {
        found.low = level < found.low ? level : found.low
        found.high = level > found.high ? level : found.high
      }
    }
    guard found.weight > 0 else {
      // Nobody cares what this block holds.
      for index in 0..<36 { unsafe importance[index] = 1 }
      return prepare()
    }
    found.mean = sum / found.weight
    for index in 0..<36 {
      let distance = unsafe levels[index] - found.mean
      unsafe scratch.centered[index] = distance
      found.energy += unsafe importance[index] * distance * distance
    }
    found.deviation = (found.energy / found.weight).squareRoot()
    statistics = found
  }
}
