// Units of 256 elements, whose groups have scales that are themselves stored as small integers.
extension GGUFDequantizer {
  /// 16 groups of 16: scale and minimum nibbles, 2-bit codes, then the two factors.
  @inline(__always)
  static func q2K(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scaleFactor = unsafe half(unit + 80)
    let minimumFactor = unsafe half(unit + 82)
    for group in 0..<16 {
      let packed = unsafe byte(unit, group)
      let scale = scaleFactor * Float(packed & 15)
      let minimum = minimumFactor * Float(packed >> 4)
      // Groups 2s and 2s+1 of a half share bytes: lanes 0…15 and 16…31 at shift 2s.
      let start = 16 + group / 8 * 32 + group % 2 * 16
      let shift = UInt8(group / 2 % 4 * 2)
      for lane in 0..<16 {
        let code = unsafe (byte(unit, start + lane) &>> shift) & 3
        unsafe out[group * 16 + lane] = scale * Float(code) - minimum
      }
    }
  }

  /// 16 groups of 16: a bit mask (set means nothing is subtracted), 2-bit codes, 6-bit scales.
  @inline(__always)
  static func q3K(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let factor = unsafe half(unit + 108)
    for group in 0..<16 {
      let low = unsafe (byte(unit, 96 + group % 8) &>> UInt8(group / 8 * 4)) & 15
      let high = unsafe (byte(unit, 104 + group % 4) &>> UInt8(group / 4 * 2)) & 3
      let scale = factor * Float(Int32(low | high << 4) - 32)
      let start = 32 + group / 8 * 32 + group % 2 * 16
      let shift = UInt8(group / 2 % 4 * 2)
      let maskBit = UInt8(group / 2)
      for lane in 0..<16 {
        let code = unsafe (byte(unit, start + lane) &>> shift) & 3
        let kept = unsafe (byte(unit, group % 2 * 16 + lane) &>> maskBit) & 1
        unsafe out[group * 16 + lane] = scale * Float(Int32(code) - 4 * Int32(kept ^ 1))
      }
    }
  }

  /// The 6-bit scale and minimum of one of 8 groups, out of 12 bytes.
  @inline(__always)
  private static func scaleAndMinimum(
    _ bytes: UnsafeRawPointer, _ group: Int
  ) -> (scale: Float, minimum: Float) {
    if group < 4 {
      return unsafe (Float(byte(bytes, group) & 63), Float(byte(bytes, group + 4) & 63))
    }
    let low = unsafe byte(bytes, group + 4)
    let scale = unsafe (low & 15) | ((byte(bytes, group - 4) >> 2) & 0x30)
    let minimum = unsafe (low >> 4) | ((byte(bytes, group) >> 2) & 0x30)
    return (Float(scale), Float(minimum))
  }

  /// 8 groups of 32: 4-bit codes; groups 2c and 2c+1 are the nibbles of the same 32 bytes.
  @inline(__always)
  static func q4K(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scaleFactor = unsafe half(unit)
    let minimumFactor = unsafe half(unit + 2)
    for group in 0..<8 {
      let packed = unsafe scaleAndMinimum(unit + 4, group)
      let scale = scaleFactor * packed.scale
      let minimum = minimumFactor * packed.minimum
      let start = 16 + group / 2 * 32
      let shift = UInt8(group % 2 * 4)
      for lane in 0..<32 {
        let code = unsafe (byte(unit, start + lane) &>> shift) & 15
        unsafe out[group * 32 + lane] = scale * Float(code) - minimum
      }
    }
  }

  /// As Q4_K, with the fifth bit of group g's lane l in bit g of byte l.
  @inline(__always)
  static func q5K(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scaleFactor = unsafe half(unit)
    let minimumFactor = unsafe half(unit + 2)
    for group in 0..<8 {
      let packed = unsafe scaleAndMinimum(unit + 4, group)
      let scale = scaleFactor * packed.scale
      let minimum = minimumFactor * packed.minimum
      let start = 48 + group / 2 * 32
      let shift = UInt8(group % 2 * 4)
      for lane in 0..<32 {
        let low = unsafe (byte(unit, start + lane) &>> shift) & 15
        let high = unsafe (byte(unit, 16 + lane) &>> UInt8(group)) & 1
        unsafe out[group * 32 + lane] = scale * Float(low | high << 4) - minimum
      }
    }
  }

  /// 16 groups of 16: 4 low bits, 2 high bits, signed 8-bit scales.
  @inline(__always)
  static func q6K(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let factor = unsafe half(unit + 208)
    for group in 0..<16 {
      let scale = unsafe factor * Float(Int8(bitPattern: byte(unit, 192 + group)))
      let lowStart = group / 8 * 64 + group % 4 * 16
      let lowShift = UInt8(group / 4 % 2 * 4)
      let highStart = 128 + group / 8 * 32 + group % 2 * 16
      let highShift = UInt8(group / 2 % 4 * 2)
      for lane in 0..<16 {
        let low = unsafe (byte(unit, lowStart + lane) &>> lowShift) & 15
        let high = unsafe (byte(unit, highStart + lane) &>> highShift) & 3
        unsafe out[group * 16 + lane] = scale * Float(Int32(low | high << 4) - 32)
      }
    }
  }

  /// 8 groups of 32 with the levels of IQ4_NL and 6-bit scales: 2 high bits, then 4 low bits each.
  @inline(__always)
  static func iq4XS(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let factor = unsafe half(unit)
    let highBits = unsafe UInt16(littleEndian: (unit + 2).loadUnaligned(as: UInt16.self))
    for group in 0..<8 {
      let low = unsafe (byte(unit, 4 + group / 2) &>> UInt8(group % 2 * 4)) & 15
      let high = UInt8(truncatingIfNeeded: (highBits &>> UInt16(group * 2)) & 3)
      let scale = factor * Float(Int32(low | high << 4) - 32)
      for lane in 0..<16 {
        let packed = unsafe byte(unit, 8 + group * 16 + lane)
        unsafe out[group * 32 + lane] = scale * nonlinearLevel(packed & 15)
        unsafe out[group * 32 + lane + 16] = scale * nonlinearLevel(packed >> 4)
      }
    }
  }
}
