import PackedFormats
import TensorCore

extension SafetensorsFile {
  /// Bytes that one read of tensor data asks for at most.
  private static let chunkByteCount = 1 << 18

  /// Writes some elements of a tensor, in row-major order, as float32.
  ///
  /// Exact for F32, F16, BF16 and integers up to 24 bits; F64 and wider integers are rounded to
  /// nearest even. NaN and infinity come through. Reads through a buffer of 256 KiB; may be called
  /// from several threads. The element type must be readable.
  package func readElements(
    _ range: Range<Int>, of tensor: SafetensorsTensor, into output: inout MutableSpan<Float>
  ) throws(InputError) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= tensor.shape.elementCount,
      "elements outside the tensor")
    precondition(output.count == range.count, "the output does not fit the elements")
    precondition(tensor.element.isReadable, "no real numbers")
    let width = tensor.element.bitCount / 8
    let step = Self.chunkByteCount / width
    let buffer = AlignedStorage(byteCount: min(step, range.count) * width)
    var done = 0
    while done < range.count {
      let count = min(step, range.count - done)
      // The buffer holds at least that many bytes and outlives this turn of the loop.
      var bytes = unsafe MutableRawSpan(
        _unsafeStart: buffer.baseAddress, byteCount: count * width)
      try read(
        at: tensor.offset + (range.lowerBound + done) * width, into: &bytes,
        place: "tensor \(tensor.name)")
      tensor.element.convert(buffer.bytes, count: count, into: &output, from: done)
      done += count
    }
  }

  /// Fills `output` with bytes of a tensor's data from `start` on.
  package func readBytes(
    from start: Int, of tensor: SafetensorsTensor, into output: inout MutableRawSpan
  ) throws(InputError) {
    precondition(
      start >= 0 && output.byteCount <= tensor.byteCount - start, "bytes outside the tensor")
    try read(at: tensor.offset + start, into: &output, place: "tensor \(tensor.name)")
  }
}

extension SafetensorsElement {
  /// Writes `count` elements as float32 into `output` from `start` on; little-endian, in order.
  func convert(
    _ bytes: RawSpan, count: Int, into output: inout MutableSpan<Float>, from start: Int
  ) {
    precondition(bytes.byteCount >= count * bitCount / 8, "not the bytes of the elements")
    precondition(start >= 0 && count <= output.count - start, "not room for the elements")

    @inline(__always) func each(_ value: (Int) -> Float) {
      for index in 0..<count { output[start + index] = value(index) }
    }
    @inline(__always) func load<Value: FixedWidthInteger & BitwiseCopyable>(
      _ index: Int, _: Value.Type
    ) -> Value {
      // The index is below `count`, whose bytes are there; every bit pattern is an integer.
      unsafe Value(
        littleEndian: bytes.unsafeLoadUnaligned(
          fromByteOffset: index * MemoryLayout<Value>.size, as: Value.self))
    }
    switch self {
    case .f32: each { Float(bitPattern: load($0, UInt32.self)) }
    case .f16: each { HalfPrecision.float(bits: load($0, UInt16.self)) }
    case .bf16: each { Float(bitPattern: UInt32(load($0, UInt16.self)) << 16) }
    case .f64: each { Float(Double(bitPattern: load($0, UInt64.self))) }
    case .u8, .bool: each { Float(load($0, UInt8.self)) }
    case .i8: each { Float(load($0, Int8.self)) }
    case .i16: each { Float(load($0, Int16.self)) }
    case .u16: each { Float(load($0, UInt16.self)) }
    case .i32: each { Float(load($0, Int32.self)) }
    case .u32: each { Float(load($0, UInt32.self)) }
    case .i64: each { Float(load($0, Int64.self)) }
    case .u64: each { Float(load($0, UInt64.self)) }
    case .f4, .f6e2m3, .f6e3m2, .f8e5m2, .f8e4m3, .f8e8m0, .f8e4m3fnuz, .f8e5m2fnuz, .c64:
      preconditionFailure("no real numbers")
    }
  }
}
