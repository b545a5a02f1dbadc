import PackedFormats

// Units of 256 elements whose codes choose points of a grid (`GGUFGrid`): IQ2 and IQ3 with signs of
// their own, IQ1 with a shift. The callers of these functions vouch for the bytes of one unit and
// room for its elements.
extension GGUFDequantizer {
  @inline(__always)
  private static func word(_ pointer: UnsafeRawPointer) -> UInt32 {
    unsafe UInt32(littleEndian: pointer.loadUnaligned(as: UInt32.self))
  }

  @inline(__always)
  private static func shortWord(_ pointer: UnsafeRawPointer) -> UInt16 {
    unsafe UInt16(littleEndian: pointer.loadUnaligned(as: UInt16.self))
  }

  /// The coordinates of a point times a scale, negated where a sign bit is set.
  @inline(__always)
  private static func write(
    _ point: UInt64, count: Int, signs: UInt8, scale: Float, _ out: UnsafeMutablePointer<Float>
  ) {
    for lane in 0..<count {
      let magnitude = Float(UInt8(truncatingIfNeeded: point &>> UInt64(8 * lane)))
      unsafe out[lane] = scale * magnitude * ((signs &>> UInt8(lane)) & 1 == 0 ? 1 : -1)
    }
  }

  /// 8 groups of 32: four points, four signs of 7 bits, a scale of 4 bits.
  @inline(__always)
  static func iq2XXS(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let factor = unsafe half(unit)
    let grid = GGUFGrid.iq2XXS
    for group in 0..<8 {
      let rest = unsafe word(unit + 2 + group * 8 + 4)
      let scale = factor * (0.5 + Float(rest >> 28)) * 0.25
      for part in 0..<4 {
        let point = unsafe grid[Int(byte(unit, 2 + group * 8 + part))]
        unsafe write(
          point, count: 8, signs: GGUFGrid.signs(rest &>> UInt32(7 * part)), scale: scale,
          out + group * 32 + part * 8)
      }
    }
  }

  /// 16 groups of 16: two points of 9 bits with 7 bits of signs each, a scale of 4 bits.
  @inline(__always)
  static func iq2XS(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let factor = unsafe half(unit)
    let grid = GGUFGrid.iq2XS
    for group in 0..<16 {
      let scaleCode = unsafe (byte(unit, 66 + group / 2) &>> UInt8(group % 2 * 4)) & 15
      let scale = factor * (0.5 + Float(scaleCode)) * 0.25
      for part in 0..<2 {
        let code = unsafe shortWord(unit + 2 + group * 4 + part * 2)
        unsafe write(
          grid[Int(code & 511)], count: 8, signs: GGUFGrid.signs(UInt32(code >> 9)), scale: scale,
          out + group * 16 + part * 8)
      }
    }
  }

  /// 16 groups of 16: two points of 10 bits, their signs, a scale of 4 bits.
  @inline(__always)
  static func iq2S(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let factor = unsafe half(unit)
    let grid = GGUFGrid.iq2S
    for part in 0..<32 {
      let scaleCode = unsafe (byte(unit, 74 + part / 4) &>> UInt8(part / 2 % 2 * 4)) & 15
      let high = unsafe (byte(unit, 66 + part / 4) &>> UInt8(part % 4 * 2)) & 3
      let point = unsafe grid[Int(byte(unit, 2 + part)) | Int(high) << 8]
      unsafe write(
        point, count: 8, signs: byte(unit, 34 + part),
        scale: factor * (0.5 + Float(scaleCode)) * 0.25, out + part * 8)
    }
  }

  /// 8 groups of 32: eight points of four, four signs of 7 bits, a scale of 4 bits.
  @inline(__always)
  static func iq3XXS(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let factor = unsafe half(unit)
    let grid = GGUFGrid.iq3XXS
    for group in 0..<8 {
      let rest = unsafe word(unit + 66 + group * 4)
      let scale = factor * (0.5 + Float(rest >> 28)) * 0.5
      for part in 0..<8 {
        let point = unsafe grid[Int(byte(unit, 2 + group * 8 + part))]
        let signs = GGUFGrid.signs(rest &>> UInt32(7 * (part / 2))) >> UInt8(part % 2 * 4)
        unsafe write(
          point, count: 4, signs: signs, scale: scale, out + group * 32 + part * 4)
      }
    }
  }

  /// 8 groups of 32: eight points of four with 9-bit codes, their signs, a scale of 4 bits.
  @inline(__always)
  static func iq3S(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let factor = unsafe half(unit)
    let grid = GGUFGrid.iq3S
    for group in 0..<8 {
      let scaleCode = unsafe (byte(unit, 106 + group / 2) &>> UInt8(group % 2 * 4)) & 15
      let scale = factor * Float(1 + 2 * Int32(scaleCode))
      for part in 0..<8 {
        let high = unsafe (byte(unit, 66 + group) &>> UInt8(part)) & 1
        let point = unsafe grid[Int(byte(unit, 2 + group * 8 + part)) | Int(high) << 8]
        let signs = unsafe byte(unit, 74 + group * 4 + part / 2) >> UInt8(part % 2 * 4)
        unsafe write(
          point, count: 4, signs: signs, scale: scale, out + group * 32 + part * 4)
      }
    }
  }

  /// The coordinates −1, 0 and 1 of a point, shifted by an eighth, times a scale.
  @inline(__always)
  private static func write(
    _ point: UInt64, shiftsDown: Bool, scale: Float, _ out: UnsafeMutablePointer<Float>
  ) {
    for lane in 0..<8 {
      let value = Int8(truncatingIfNeeded: point &>> UInt64(8 * lane))
      unsafe out[lane] = scale * (Float(value) + (shiftsDown ? -0.125 : 0.125))
    }
  }

  /// 8 groups of 32: four points of 11 bits, a scale of 3 bits, the shift's sign.
  @inline(__always)
  static func iq1S(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let factor = unsafe half(unit)
    let grid = GGUFGrid.iq1
    for group in 0..<8 {
      let rest = unsafe shortWord(unit + 34 + group * 2)
      let scale = factor * Float(2 * ((rest >> 12) & 7) + 1)
      for part in 0..<4 {
        let high = Int((rest &>> UInt16(3 * part)) & 7)
        let point = unsafe grid[Int(byte(unit, 2 + group * 4 + part)) | high << 8]
        unsafe write(
          point, shiftsDown: rest & 0x8000 != 0, scale: scale, out + group * 32 + part * 8)
      }
    }
  }

  /// 16 groups of 16: two points of 11 bits with a shift each, a scale of 3 bits; the factor's
  /// bits are the top nibbles of the four words of scales.
  @inline(__always)
  static func iq1M(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let grid = GGUFGrid.iq1
    var factorBits: UInt16 = 0
    for index in 0..<4 {
      let nibble = unsafe shortWord(unit + 48 + index * 2) >> 12
      factorBits |= nibble << UInt16(4 * index)
    }
    let factor = HalfPrecision.float(bits: factorBits)
    for part in 0..<32 {
      let group = part / 2
      let word = unsafe shortWord(unit + 48 + group / 4 * 2)
      let scale = factor * Float(2 * ((word &>> UInt16(group % 4 * 3)) & 7) + 1)
      let rest = unsafe (byte(unit, 32 + part / 2) &>> UInt8(part % 2 * 4)) & 15
      let point = unsafe grid[Int(byte(unit, part)) | Int(rest & 7) << 8]
      unsafe write(point, shiftsDown: rest & 8 != 0, scale: scale, out + part * 8)
    }
  }
}
