/// The columns of u2c, u2g64 and u2t that share a scale: value = (code − 1.5) · scale.
enum TwoBitGroup {
  /// Writes the nearest codes, four a byte from the low bits up; a zero scale gets the code 2
  /// throughout, which means +0. `codes` holds a quarter byte for each of `x`, rounded up.
  static func encode(
    _ x: UnsafeBufferPointer<Float>, scale: Float, codes: UnsafeMutableRawBufferPointer
  ) {
    guard scale > 0 else {
      for byte in codes.indices {
        unsafe codes[byte] = packed(min(4, x.count - byte * 4)) { _ in 2 }
      }
      return
    }
    let input = UnsafeRawBufferPointer(x)
    let places = SIMD4<Int32>(1, 4, 16, 64)
    let lowest = SIMD4<Float>(repeating: -scale)
    let highest = SIMD4<Float>(repeating: scale)
    let whole = x.count / 4
    var byte = 0
    while byte < whole {
      // 16 bytes of `x` lie there.
      let four = unsafe input.loadUnaligned(fromByteOffset: byte &* 16, as: SIMD4<Float>.self)
      // 0 below −s, 1 below 0, 2 below s, else 3: each threshold passed adds one.
      let none = SIMD4<Int32>.zero
      let sum =
        none.replacing(with: places, where: four .>= lowest)
        &+ none.replacing(with: places, where: four .>= .zero)
        &+ none.replacing(with: places, where: four .>= highest)
      unsafe codes[byte] = UInt8(truncatingIfNeeded: sum.wrappedSum())
      byte &+= 1
    }
    if byte < codes.count {
      unsafe codes[byte] = packed(x.count - whole * 4) { lane in
        let value = unsafe x[whole * 4 + lane]
        return (value >= -scale ? 1 : 0) + (value >= 0 ? 1 : 0) + (value >= scale ? 1 : 0)
      }
    }
  }

  /// A byte of up to four codes.
  private static func packed(_ count: Int, code: (Int) -> UInt8) -> UInt8 {
    (0..<count).reduce(0) { $0 | code($1) << UInt8($1 * 2) }
  }
}
