import PackedFormats

/// The values of GGUF's stored units, in the operation order of PyPI `gguf`'s NumPy code, so that
/// results are bit-equal: every scale is converted to binary32 first, products are rounded before
/// sums, and nothing is fused.
enum GGUFDequantizer {
  /// Writes the values of `unitCount` units.
  ///
  /// The caller guarantees that `bytes` holds unitCount × unitByteCount bytes and `output`
  /// unitCount × unitElementCount values; the functions below index no further.
  static func dequantize(
    _ type: GGUFTensorType, unitCount: Int, from bytes: UnsafeRawBufferPointer,
    into output: UnsafeMutableBufferPointer<Float>
  ) {
    precondition(bytes.count == unitCount * type.unitByteCount, "not the bytes of the units")
    precondition(output.count == unitCount * type.unitElementCount, "not room for the units")
    guard unitCount > 0, let source = bytes.baseAddress, let target = output.baseAddress else {
      return
    }
    switch type {
    case .f32:
      unsafe UnsafeMutableRawBufferPointer(output).copyMemory(from: bytes)
    case .f16:
      for index in 0..<unitCount { unsafe target[index] = half(source + index * 2) }
    case .bf16:
      for index in 0..<unitCount {
        let bits = unsafe (source + index * 2).loadUnaligned(as: UInt16.self)
        unsafe target[index] = Float(bitPattern: UInt32(UInt16(littleEndian: bits)) << 16)
      }
    case .q4_0: unsafe units(unitCount, type, source, target, q4_0)
    case .q4_1: unsafe units(unitCount, type, source, target, q4_1)
    case .q5_0: unsafe units(unitCount, type, source, target, q5_0)
    case .q5_1: unsafe units(unitCount, type, source, target, q5_1)
    case .q8_0: unsafe units(unitCount, type, source, target, q8_0)
    case .iq4NL: unsafe units(unitCount, type, source, target, iq4NL)
    case .q2K: unsafe units(unitCount, type, source, target, q2K)
    case .q3K: unsafe units(unitCount, type, source, target, q3K)
    case .q4K: unsafe units(unitCount, type, source, target, q4K)
    case .q5K: unsafe units(unitCount, type, source, target, q5K)
    case .q6K: unsafe units(unitCount, type, source, target, q6K)
    case .iq4XS: unsafe units(unitCount, type, source, target, iq4XS)
    case .iq2XXS: unsafe units(unitCount, type, source, target, iq2XXS)
    case .iq2XS: unsafe units(unitCount, type, source, target, iq2XS)
    case .iq2S: unsafe units(unitCount, type, source, target, iq2S)
    case .iq3XXS: unsafe units(unitCount, type, source, target, iq3XXS)
    case .iq3S: unsafe units(unitCount, type, source, target, iq3S)
    case .iq1S: unsafe units(unitCount, type, source, target, iq1S)
    case .iq1M: unsafe units(unitCount, type, source, target, iq1M)
    case .tq1_0: unsafe units(unitCount, type, source, target, tq1_0)
    case .tq2_0: unsafe units(unitCount, type, source, target, tq2_0)
    case .mxfp4: unsafe units(unitCount, type, source, target, mxfp4)
    case .nvfp4: unsafe units(unitCount, type, source, target, nvfp4)
    case .i8: unsafe numbers(unitCount, source, target, Int8.self) { Float($0) }
    case .i16: unsafe numbers(unitCount, source, target, Int16.self) { Float($0) }
    case .i32: unsafe numbers(unitCount, source, target, Int32.self) { Float($0) }
    case .i64: unsafe numbers(unitCount, source, target, Int64.self) { Float($0) }
    case .f64:
      unsafe numbers(unitCount, source, target, UInt64.self) { Float(Double(bitPattern: $0)) }
    }
  }

  @inline(__always)
  private static func units(
    _ count: Int, _ type: GGUFTensorType, _ source: UnsafeRawPointer,
    _ target: UnsafeMutablePointer<Float>,
    _ body: (UnsafeRawPointer, UnsafeMutablePointer<Float>) -> Void
  ) {
    let byteCount = type.unitByteCount
    let elementCount = type.unitElementCount
    for index in 0..<count {
      unsafe body(source + index * byteCount, target + index * elementCount)
    }
  }

  @inline(__always)
  static func half(_ pointer: UnsafeRawPointer) -> Float {
    let bits = unsafe pointer.loadUnaligned(as: UInt16.self)
    return HalfPrecision.float(bits: UInt16(littleEndian: bits))
  }

  @inline(__always)
  static func byte(_ pointer: UnsafeRawPointer, _ index: Int) -> UInt8 {
    unsafe pointer.load(fromByteOffset: index, as: UInt8.self)
  }
}

// Units of 32 elements. Low nibbles are the first 16 elements, high nibbles the last 16.
extension GGUFDequantizer {
  @inline(__always)
  private static func q4_0(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scale = unsafe half(unit)
    for index in 0..<16 {
      let packed = unsafe byte(unit, 2 + index)
      unsafe out[index] = scale * Float(Int32(packed & 15) - 8)
      unsafe out[index + 16] = scale * Float(Int32(packed >> 4) - 8)
    }
  }

  @inline(__always)
  private static func q4_1(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scale = unsafe half(unit)
    let minimum = unsafe half(unit + 2)
    for index in 0..<16 {
      let packed = unsafe byte(unit, 4 + index)
      unsafe out[index] = scale * Float(packed & 15) + minimum
      unsafe out[index + 16] = scale * Float(packed >> 4) + minimum
    }
  }

  /// The fifth bit of element i is bit i of a 32-bit word.
  @inline(__always)
  private static func fifthBits(_ pointer: UnsafeRawPointer) -> UInt32 {
    unsafe UInt32(littleEndian: pointer.loadUnaligned(as: UInt32.self))
  }

  @inline(__always)
  private static func q5_0(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scale = unsafe half(unit)
    let fifth = unsafe fifthBits(unit + 2)
    for index in 0..<16 {
      let packed = unsafe UInt32(byte(unit, 6 + index))
      let low = (packed & 15) | ((fifth &>> UInt32(index)) & 1) << 4
      let high = (packed >> 4) | ((fifth &>> UInt32(index + 16)) & 1) << 4
      unsafe out[index] = scale * Float(Int32(bitPattern: low) &- 16)
      unsafe out[index + 16] = scale * Float(Int32(bitPattern: high) &- 16)
    }
  }

  @inline(__always)
  private static func q5_1(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scale = unsafe half(unit)
    let minimum = unsafe half(unit + 2)
    let fifth = unsafe fifthBits(unit + 4)
    for index in 0..<16 {
      let packed = unsafe UInt32(byte(unit, 8 + index))
      let low = (packed & 15) | ((fifth &>> UInt32(index)) & 1) << 4
      let high = (packed >> 4) | ((fifth &>> UInt32(index + 16)) & 1) << 4
      unsafe out[index] = scale * Float(Int32(bitPattern: low)) + minimum
      unsafe out[index + 16] = scale * Float(Int32(bitPattern: high)) + minimum
    }
  }

  @inline(__always)
  private static func q8_0(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scale = unsafe half(unit)
    for index in 0..<32 {
      unsafe out[index] = Float(Int8(bitPattern: byte(unit, 2 + index))) * scale
    }
  }

  /// The 16 levels of the IQ4 types.
  @inline(__always)
  static func nonlinearLevel(_ code: UInt8) -> Float {
    let levels: SIMD16<Int8> = [
      -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
    ]
    return Float(levels[Int(code & 15)])
  }

  @inline(__always)
  private static func iq4NL(_ unit: UnsafeRawPointer, _ out: UnsafeMutablePointer<Float>) {
    let scale = unsafe half(unit)
    for index in 0..<16 {
      let packed = unsafe byte(unit, 2 + index)
      unsafe out[index] = scale * nonlinearLevel(packed & 15)
      unsafe out[index + 16] = scale * nonlinearLevel(packed >> 4)
    }
  }
}
