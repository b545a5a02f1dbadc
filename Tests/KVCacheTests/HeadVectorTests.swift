import KVCache
import TestSupport
import Testing

/// What one key or value becomes in each element: bytes by the documented layout, reals by the
/// documented formula.
@Suite struct HeadVectorTests {
  private func sequence(
    _ element: CacheElement, dimension: Int, page: Int = 4, scale: Float = 0.5
  ) throws -> CacheSequence {
    let group = CacheGroup(
      geometry: CacheGeometry(
        storeCount: 1, headCount: 1, headDimension: dimension, pagePositions: page,
        keyElement: element, valueElement: element),
      staticScales: element == .s8Static ? StaticScales(keys: [scale], values: [2 * scale]) : nil)
    let layout = CacheLayout(groups: [group], layers: [StorePlace(group: 0, store: 0)])
    let sequence = CacheSequence(
      pool: try PagePool(layout: layout, byteBudget: layout.pageByteCount),
      maximumPositions: page)
    try sequence.reserve(page)
    return sequence
  }

  private func key(_ sequence: CacheSequence, _ position: Int) -> [Float] {
    var values = Array(repeating: Float.nan, count: sequence.geometry.headDimension)
    var span = values.mutableSpan
    sequence.readKey(into: &span, store: 0, head: 0, position: position)
    return values
  }

  private func value(_ sequence: CacheSequence, _ position: Int) -> [Float] {
    var values = Array(repeating: Float.nan, count: sequence.geometry.headDimension)
    var span = values.mutableSpan
    sequence.readValue(into: &span, store: 0, head: 0, position: position)
    return values
  }

  /// The worked example of the page *Page layout*.
  @Test func theWorkedExampleIsRight() throws {
    let sequence = try sequence(.u4g32, dimension: 4)
    let numbers: [Float] = [-1, 0, 0.5, 2.75]
    sequence.storeKey(numbers.span, store: 0, head: 0, position: 1)
    sequence.storeValue(numbers.span, store: 0, head: 0, position: 1)
    #expect(sequence.geometry.pageByteCount == 256)
    // The sequence holds the page of 256 bytes.
    let page = unsafe sequence.headPage(store: 0, head: 0, page: 0)
    let bytes = (0..<256).map { unsafe page.keys.load(fromByteOffset: $0, as: UInt8.self) }
    var expected = Array(repeating: UInt8(0), count: 256)
    // Codes 0, 4, 6 and 15: keys in column 1 of two rows of four, values in row 1 of two bytes.
    expected[1] = 0x40
    expected[5] = 0xF6
    expected[64 + 2] = 0x40
    expected[64 + 3] = 0xF6
    // Scales 0.25 of four positions, then minimums −1, of keys and of values.
    for plane in [128, 192] {
      expected[plane + 2 + 1] = 0x34
      expected[plane + 8 + 2 + 1] = 0xBC
    }
    #expect(bytes == expected)
    #expect(key(sequence, 1) == numbers)
    #expect(value(sequence, 1) == numbers)
    #expect(unsafe page.valueScalePlane - page.keys == 192)
  }

  /// The formulas of *Page layout* for codes of a byte, where neither count is even.
  @Test func byteCodesStandInPairs() throws {
    let sequence = try sequence(.s8Static, dimension: 3, page: 5, scale: 1)
    for position in 0..<5 {
      let numbers = (0..<3).map { Float(10 * $0 + position + 1) }
      // The scale of values is twice that of keys.
      let doubled = numbers.map { 2 * $0 }
      sequence.storeKey(numbers.span, store: 0, head: 0, position: position)
      sequence.storeValue(doubled.span, store: 0, head: 0, position: position)
    }
    // Two parts of 64 bytes; the sequence holds the page.
    #expect(sequence.geometry.pageByteCount == 128)
    let page = unsafe sequence.headPage(store: 0, head: 0, page: 0)
    let bytes = (0..<128).map { unsafe page.keys.load(fromByteOffset: $0, as: UInt8.self) }
    var expected = Array(repeating: UInt8(0), count: 128)
    for position in 0..<5 {
      for element in 0..<3 {
        let code = UInt8(10 * element + position + 1)
        expected[2 * (element / 2 * 5 + position) + element % 2] = code
        expected[64 + 2 * (position / 2 * 3 + element) + position % 2] = code
      }
    }
    #expect(bytes == expected)
  }

  private func image(_ sequence: CacheSequence) -> [UInt8] {
    var images: [UInt8] = []
    sequence.forEachPageImage { (bytes: RawSpan) in
      for offset in bytes.byteOffsets {
        images.append(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
      }
    }
    return images
  }

  /// What a page held before, behind the positions that are stored now, is in no image.
  @Test(arguments: CacheElement.allCases)
  func imagesHoldWhatIsStored(_ element: CacheElement) throws {
    let dimension = element == .u4g32 ? 34 : 7
    for count in 1...5 {
      let (used, fresh) = (
        try sequence(element, dimension: dimension, page: 5),
        try sequence(element, dimension: dimension, page: 5)
      )
      for position in 0..<5 {
        let numbers = (0..<dimension).map { Float($0 + 3 * position + 1) }
        for sequence in position < count ? [used, fresh] : [used] {
          sequence.storeKey(numbers.span, store: 0, head: 0, position: position)
          sequence.storeValue(numbers.span, store: 0, head: 0, position: position)
        }
      }
      used.advance(count)
      fresh.advance(count)
      #expect(image(used) == image(fresh), "\(count) positions")
      #expect(image(used).contains { $0 != 0 })
    }
  }

  /// Errors stay within half a step of the group or vector, whatever the numbers.
  @Test(arguments: CacheElement.allCases, [2, 30, 32, 64, 98])
  func errorsAreHalfAStep(_ element: CacheElement, _ dimension: Int) throws {
    var generator = SeededGenerator(seed: UInt64(dimension))
    let sequence = try sequence(element, dimension: dimension, scale: 0.05)
    for position in [0, 3] {
      let factor: Float = position == 0 ? 1 : 6
      let numbers = (0..<dimension).map { _ in
        Float.random(in: -1...1, using: &generator) * factor
      }
      sequence.storeKey(numbers.span, store: 0, head: 0, position: position)
      sequence.storeValue(numbers.span, store: 0, head: 0, position: position)
      for (kind, found) in [key(sequence, position), value(sequence, position)].enumerated() {
        for index in 0..<dimension {
          let group = numbers[(index / 32 * 32)..<min(dimension, index / 32 * 32 + 32)]
          let range = (group.max() ?? 0) - (group.min() ?? 0)
          let largest = numbers.reduce(0) { max($0, abs($1)) }
          let step: Float =
            switch element {
            case .f32: 0
            case .f16: abs(numbers[index]) / 1024
            case .s8: largest / 127
            case .s8Static: kind == 0 ? 0.05 : 0.1
            // Scale and minimum are rounded too.
            case .u4g32: range / 15 * 1.1
            }
          #expect(
            abs(found[index] - numbers[index]) <= step / 2 + 1e-6,
            "\(element) \(dimension): \(numbers[index]) became \(found[index])")
        }
      }
    }
    // Positions in between were not touched.
    #expect(key(sequence, 1).allSatisfy { $0 == 0 } && value(sequence, 2).allSatisfy { $0 == 0 })
  }

  /// Nothing that an engine can come up with traps or turns into something unreadable.
  @Test(arguments: CacheElement.allCases) func extremesAreStored(_ element: CacheElement) throws {
    let sequence = try sequence(element, dimension: 8)
    let extremes: [[Float]] = [
      [.nan, 1, -1, 0, 0.5, 2, 3, 4], [.infinity, -.infinity, 1, 0, 0, 0, 0, 0],
      [3e38, -3e38, 1e30, 0, 0, 0, 0, 0], Array(repeating: 0, count: 8),
      [.leastNonzeroMagnitude, 0, 0, -.leastNonzeroMagnitude, 0, 0, 0, 0],
      Array(repeating: -7.25, count: 8),
    ]
    for numbers in extremes {
      sequence.storeKey(numbers.span, store: 0, head: 0, position: 2)
      sequence.storeValue(numbers.span, store: 0, head: 0, position: 2)
      for found in [key(sequence, 2), value(sequence, 2)] where element.bitCount <= 8 {
        #expect(found.allSatisfy { $0.isFinite }, "\(element): \(numbers) became \(found)")
      }
    }
    let constant = key(sequence, 2)
    #expect(constant.allSatisfy { abs($0 + 7.25) <= 0.25 }, "\(constant)")
  }

  /// Codes beyond what a static scale covers are its ends.
  @Test func staticScalesSaturate() throws {
    let sequence = try sequence(.s8Static, dimension: 4, scale: 0.5)
    let numbers: [Float] = [1_000, -1_000, 0.26, -0.24]
    sequence.storeKey(numbers.span, store: 0, head: 0, position: 0)
    sequence.storeValue(numbers.span, store: 0, head: 0, position: 0)
    #expect(key(sequence, 0) == [63.5, -63.5, 0.5, 0])
    #expect(value(sequence, 0) == [127, -127, 0, 0])
  }
}
