/// What unpacking looks up, computed from the rules once (a few milliseconds) and kept for good.
@safe
struct ASTCTables: @unchecked Sendable {
  // Every pointer is to memory that is written before `shared` exists, then only read, and never
  // freed; so threads may share it.

  /// Of each 11-bit field; void extents count as reserved.
  let blockModes: UnsafePointer<ASTCBlockModeEntry>
  /// 32 a range: 0 to 64.
  let gridWeights: UnsafePointer<UInt16>
  /// 256 a range: 0 to 255.
  let endpoints: UnsafePointer<UInt8>
  /// 128 a number of endpoint pairs (0 to 9), by the bits there are: the raw value of the largest
  /// range, 255 where none fits.
  let endpointRanges: UnsafePointer<UInt8>
  /// 36 a pattern, 1024 patterns a partition count of 2, 3 and 4.
  let partitions: UnsafePointer<UInt8>

  /// 36 a grid, grids of 2 to 6 columns × 2 to 6 rows, of one plane and then of two.
  let infill: UnsafePointer<ASTCInfill>
  /// 0 to 127 as binary32.
  let numbers: UnsafePointer<Float>
  /// Of each 11-bit field: the raw value of the range of a full grid in one plane, else 255.
  let fullGridModes: UnsafePointer<UInt8>

  /// Of the five ranges that full grids have.
  let fullGrids: UnsafePointer<ASTCFullGrid>
  let digits = ASTCDigits.shared
  /// See `ASTCDigits`.
  var packedTrits: UnsafePointer<UInt8> { unsafe digits.packedTrits }
  /// See `ASTCDigits`.
  var packedQuints: UnsafePointer<UInt8> { unsafe digits.packedQuints }

  static let shared = ASTCTables()

  private init() {
    unsafe blockModes = Self.keep((0..<1 << ASTCBlockMode.bitCount).map(ASTCBlockModeEntry.init))

    unsafe gridWeights = Self.keep(
      ASTCRange.allCases.filter { ASTCRange.gridWeightRanges ~= $0 }.flatMap { range in
        (0..<32).map {
          $0 < range.levelCount ? UInt16(ASTCQuantization.gridWeight($0, range: range)) : 0
        }
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
      (1...2).flatMap { planeCount in
        (2...6).flatMap { width in
          (2...6).flatMap { height in
            (0..<36).map {
              ASTCInfill(
                x: $0 % 6, y: $0 / 6, width: width, height: height, planeCount: planeCount)
            }
          }
        }
      })
    unsafe numbers = Self.keep((0..<128).map { Float($0) })
    unsafe fullGridModes = Self.keep(
      (0..<1 << ASTCBlockMode.bitCount).map { field in
        let entry = ASTCBlockModeEntry(field: field)
        let isFull = entry.fault == nil && entry.mode.isFullGrid && !entry.mode.isDualPlane
        return isFull ? entry.mode.range.rawValue : ASTCFullGrid.none
      })
    unsafe fullGrids = Self.keep(
      ASTCRange.allCases.prefix(ASTCFullGrid.rangeCount).map { ASTCFullGrid(range: $0) })
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
}
