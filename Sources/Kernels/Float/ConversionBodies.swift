import CKernels

/// `ConversionFunction` from f32 to f16. Pointers and count are under that contract.
@inline(__always)
func toF16Body<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKConversion>) {
  let input = unsafe arguments.pointee.input
  let output = unsafe arguments.pointee.output
  let count = unsafe arguments.pointee.count
  let tail = count & 15
  var at = 0
  while at < count &- tail {
    unsafe L.storeF16(output + at &* 2, L.loadF32(input + at &* 4))
    at &+= 16
  }
  if tail > 0 {
    unsafe L.storeF16Part(output + at &* 2, L.loadF32Part(input + at &* 4, tail), tail)
  }
}

/// `ConversionFunction` from f16 to f32. Pointers and count are under that contract.
@inline(__always)
func fromF16Body<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKConversion>) {
  let input = unsafe arguments.pointee.input
  let output = unsafe arguments.pointee.output
  let count = unsafe arguments.pointee.count
  let tail = count & 15
  var at = 0
  while at < count &- tail {
    unsafe L.storeF32(output + at &* 4, L.loadF16(input + at &* 2))
    at &+= 16
  }
  if tail > 0 {
    unsafe L.storeF32Part(output + at &* 4, L.loadF16Part(input + at &* 2, tail), tail)
  }
}

/// Integers that floats become, with a scale.
protocol CodeElement {
  static var byteCount: Int { get }
  static var largest: Float { get }
  /// Rounds to nearest even; the values lie in −largest…largest.
  static func store<L: FloatLanes>(
    _: L.Type, _ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int)
}

enum S8Code: CodeElement {
  @inline(__always) static var byteCount: Int { 1 }
  @inline(__always) static var largest: Float { 127 }
  @inline(__always)
  static func store<L: FloatLanes>(
    _: L.Type, _ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int
  ) {
    unsafe L.storeS8Part(target, v, count)
  }
}

enum S16Code: CodeElement {
  @inline(__always) static var byteCount: Int { 2 }
  @inline(__always) static var largest: Float { 32767 }
  @inline(__always)
  static func store<L: FloatLanes>(
    _: L.Type, _ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int
  ) {
    unsafe L.storeS16Part(target, v, count)
  }
}

/// `ConversionFunction` from f32 to s8 or s16 with a scale. Pointers and count are under that
/// contract.
@inline(__always)
func toCodesBody<L: FloatLanes, C: CodeElement>(
  _: L.Type, _: C.Type, _ arguments: UnsafePointer<CKConversion>
) {
  let input = unsafe arguments.pointee.input
  let output = unsafe arguments.pointee.output
  let count = unsafe arguments.pointee.count
  let tail = count & 15
  var maxima = Lanes.zero
  // A product with zero is NaN for an infinity or NaN and zero for all else.
  var witness = Lanes.zero
  var at = 0
  while at < count &- tail {
    let v = unsafe L.loadF32(input + at &* 4)
    maxima = L.maximum(L.maximum(v, Lanes.zero - v), maxima)
    witness = L.multiplyAdd(witness, v, Lanes.zero)
    at &+= 16
  }
  if tail > 0 {
    let v = unsafe L.loadF32Part(input + at &* 4, tail)
    maxima = L.maximum(L.maximum(v, Lanes.zero - v), maxima)
    witness = L.multiplyAdd(witness, v, Lanes.zero)
  }
  let magnitude = L.largest(maxima)
  let isFinite = L.sum(witness) == 0
  let isUsable = isFinite && magnitude >= 0x1p-110
  unsafe arguments.pointee.scale.pointee = isFinite ? (isUsable ? magnitude / C.largest : 0) : Float.nan
  if !isUsable {
    at = 0
    while at < count {
      let part = count &- at < 16 ? count &- at : 16
      unsafe C.store(L.self, output + at &* C.byteCount, Lanes.zero, part)
      at &+= 16
    }
    return
  }
  let factor = Lanes(repeating: C.largest / magnitude)
  at = 0
  while at < count &- tail {
    unsafe C.store(L.self, output + at &* C.byteCount, L.loadF32(input + at &* 4) * factor, 16)
    at &+= 16
  }
  if tail > 0 {
    unsafe C.store(L.self, output + at &* C.byteCount, L.loadF32Part(input + at &* 4, tail) * factor, tail)
  }
}
