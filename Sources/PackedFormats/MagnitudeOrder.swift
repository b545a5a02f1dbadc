/// Magnitudes in ascending order, each with its importance, in memory that is kept from one group
/// to the next.
///
/// A counting sort into about as many equal intervals as there are numbers, then an insertion sort
/// that finds little left to do: linear for the usual distributions. Intervals that hold many are
/// sorted by comparison, so that no input costs more than O(n log n).
struct MagnitudeOrder {
  /// A magnitude's bits in the high half, its importance's in the low: sorts like the magnitude,
  /// since the bits of non-negative floats sort like their values.
  private(set) var sorted: [UInt64] = []
  private var ends: [Int32] = []

  /// The most numbers of an interval that are left to the insertion sort.
  private static let fewest = 24

  @inline(__always) static func magnitude(_ key: UInt64) -> Double {
    Double(Float(bitPattern: UInt32(truncatingIfNeeded: key >> 32)))
  }

  @inline(__always) static func importance(_ key: UInt64) -> Double {
    Double(Float(bitPattern: UInt32(truncatingIfNeeded: key)))
  }

  /// Orders the magnitudes of finite numbers.
  ///
  /// - Parameters:
  ///   - importance: a number for each of `x`; nil leaves the low halves zero.
  ///   - sum: of the magnitudes, about: it decides where the intervals are.
  mutating func sort(
    _ x: UnsafeBufferPointer<Float>, importance: UnsafeBufferPointer<Float>?, sum: Double
  ) {
    let count = x.count
    if sorted.count != count {
      sorted = [UInt64](repeating: 0, count: count)
      ends = [Int32](repeating: 0, count: count)
    }
    // The intervals cover four times the mean magnitude; the last one takes the rest.
    let factor = Float(Double(count) * Double(count) / (4 * sum))
    let last = Float(count - 1)
    /// Rises with the magnitude: at most `last`, which is below 2^22.
    @inline(__always) func interval(_ magnitude: Float) -> Int {
      let place = magnitude * factor
      // Not a number (0 times infinity) goes to the last one too: then all do.
      let clamped = place < last ? place : last
      return Int((clamped + 0x1p23).bitPattern &- 0x4B00_0000)
    }
    // Both arrays have `count` elements; intervals are below it, and so are the places that the
    // running ends name, since they sum up to it.
    unsafe sorted.withUnsafeMutableBufferPointer { sorted in
      unsafe ends.withUnsafeMutableBufferPointer { ends in
        unsafe ends.update(repeating: 0)
        for index in x.indices {
          unsafe ends[interval(x[index].magnitude)] &+= 1
        }
        var end: Int32 = 0
        var mostCrowded: Int32 = 0
        for index in 0..<count {
          let found = unsafe ends[index]
          mostCrowded = max(mostCrowded, found)
          unsafe ends[index] = end
          end &+= found
        }
        for index in x.indices {
          let magnitude = unsafe x[index].magnitude
          let weight = unsafe importance.map { unsafe $0[index].bitPattern } ?? 0
          let place = interval(magnitude)
          let to = unsafe Int(ends[place])
          unsafe ends[place] &+= 1
          unsafe sorted[to] = UInt64(magnitude.bitPattern) << 32 | UInt64(weight)
        }
        if mostCrowded > Self.fewest { unsafe Self.sortCrowded(sorted, ends: ends) }
        unsafe Self.insertionSort(sorted)
      }
    }
  }

  private static func sortCrowded(
    _ sorted: UnsafeMutableBufferPointer<UInt64>, ends: UnsafeMutableBufferPointer<Int32>
  ) {
    var begin = 0
    for index in ends.indices {
      let end = unsafe Int(ends[index])
      if end - begin > fewest {
        var part = unsafe UnsafeMutableBufferPointer(rebasing: sorted[begin..<end])
        unsafe part.sort()
      }
      begin = end
    }
  }

  private static func insertionSort(_ keys: UnsafeMutableBufferPointer<UInt64>) {
    var index = 1
    while index < keys.count {
      let key = unsafe keys[index]
      var place = index
      // `place` stays above 0 here.
      while place > 0, unsafe keys[place &- 1] > key {
        unsafe keys[place] = keys[place &- 1]
        place &-= 1
      }
      unsafe keys[place] = key
      index &+= 1
    }
  }
}
