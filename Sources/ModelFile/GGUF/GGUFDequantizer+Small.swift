// Ternary units, units of 4-bit floats, and plain numbers. The callers of these functions vouch for
// the bytes of one unit and room for its elements.
extension GGUFDequantizer {
  /// 256 elements of three levels: five a byte in 48 bytes, four a byte in four, then the scale. A
  /// byte is a fraction of 256; multiplying by three brings the next level above its top.
  @inline(__always)
  static func tq1_0(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scale = unsafe half(unit + 52)
    var element = 0
    for (start, width, digits) in [(0, 32, 5), (32, 16, 5), (48, 4, 4)] {
      var power: UInt8 = 1
      for _ in 0..<digits {
        for lane in 0..<width {
          let rest = unsafe byte(unit, start + lane) &* power
          let level = Int32((UInt16(rest) * 3) >> 8) - 1
          unsafe out[element] = scale * Float(level)
          element += 1
        }
        power &*= 3
      }
    }
  }

  /// 256 elements of 2 bits: 32 bytes hold four runs of 32.
  @inline(__always)
  static func tq2_0(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scale = unsafe half(unit + 64)
    for run in 0..<8 {
      for lane in 0..<32 {
        let code = unsafe (byte(unit, run / 4 * 32 + lane) &>> UInt8(run % 4 * 2)) & 3
        unsafe out[run * 32 + lane] = scale * Float(Int32(code) - 1)
      }
    }
  }

  /// Twice the value of a 4-bit float with two exponent bits.
  @inline(__always)
  private static func doubledFloat4(_ code: UInt8) -> Float {
    let levels: SIMD16<Int8> = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12]
    return Float(levels[Int(code & 15)])
  }

  /// 32 4-bit floats with an exponent in common.
  @inline(__always)
  static func mxfp4(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let exponent = unsafe UInt32(byte(unit, 0))
    // Half of 2^(exponent − 127), since the levels are doubled.
    let bits = exponent < 2 ? 0x0020_0000 << exponent : (exponent - 1) << 23
    let scale = Float(bitPattern: bits)
    for lane in 0..<16 {
      let packed = unsafe byte(unit, 1 + lane)
      unsafe out[lane] = scale * doubledFloat4(packed & 15)
      unsafe out[lane + 16] = scale * doubledFloat4(packed >> 4)
    }
  }

  /// 4 groups of 16 4-bit floats, with an 8-bit float each.
  @inline(__always)
  static func nvfp4(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    for group in 0..<4 {
      let scale = unsafe halvedFloat8(byte(unit, group))
      for lane in 0..<8 {
        let packed = unsafe byte(unit, 4 + group * 8 + lane)
        unsafe out[group * 16 + lane] = scale * doubledFloat4(packed & 15)
        unsafe out[group * 16 + lane + 8] = scale * doubledFloat4(packed >> 4)
      }
    }
  }

  /// Half the value of an 8-bit float with four exponent bits, its sign bit ignored; 0 for the
  /// positive NaN.
  @inline(__always)
  private static func halvedFloat8(_ code: UInt8) -> Float {
    if code == 0x7F { return 0 }
    let exponent = Int((code >> 3) & 15)
    let fraction = Float(code & 7)
    if exponent == 0 { return fraction * 0x1p-10 }
    return (8 + fraction) * Float(sign: .plus, exponent: exponent - 11, significand: 1)
  }

  /// Numbers of another width, rounded to nearest even.
  @inline(__always)
  static func numbers<Value: FixedWidthInteger & BitwiseCopyable>(
    _ count: Int, _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<Float>,
    _: Value.Type, _ value: (Value) -> Float
  ) {
    for index in 0..<count {
      let bits = unsafe (source + index * MemoryLayout<Value>.size).loadUnaligned(as: Value.self)
      unsafe target[index] = value(Value(littleEndian: bits))
    }
  }
}
