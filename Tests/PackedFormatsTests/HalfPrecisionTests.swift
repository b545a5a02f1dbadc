import PackedFormats
import TestSupport
import Testing

@Suite struct HalfPrecisionTests {
  @Test func widensAllBitPatterns() {
    for bits in UInt16.min...UInt16.max {
      let expected = Float(Float16(bitPattern: bits))
      let found = HalfPrecision.float(bits: bits)
      let same = expected.isNaN ? found.isNaN : found.bitPattern == expected.bitPattern
      #expect(same, "bits \(bits)")
    }
  }

  /// Every boundary between two neighbours, one unit to either side, and random bits.
  @Test func narrowsToTheNearest() {
    func check(_ value: Float) {
      let expected = Float16(value)
      let found = Float16(bitPattern: HalfPrecision.bits(value))
      let same = expected.isNaN ? found.isNaN : found.bitPattern == expected.bitPattern
      #expect(same, "\(value)")
    }
    for bits in UInt16(0)...0x7BFF {
      let lower = Float(Float16(bitPattern: bits))
      let upper = bits == 0x7BFF ? 65536 : Float(Float16(bitPattern: bits + 1))
      let middle = (lower + upper) / 2
      for value in [lower, middle, middle.nextUp, middle.nextDown] {
        check(value)
        check(-value)
      }
    }
    var generator = SeededGenerator(seed: 77)
    for _ in 0..<100_000 {
      check(Float(bitPattern: UInt32(truncatingIfNeeded: generator.next())))
    }
  }

  @Test func roundsDown() {
    var generator = SeededGenerator(seed: 78)
    for _ in 0..<10_000 {
      let value = Float.random(in: -65504...65504, using: &generator)
      let down = HalfPrecision.roundedDown(value)
      #expect(down <= value && Float(Float16(down).nextUp) > value)
    }
    #expect(HalfPrecision.roundedDown(1e30) == 65504)
    #expect(HalfPrecision.roundedDown(1e-30) == 0)
  }
}
