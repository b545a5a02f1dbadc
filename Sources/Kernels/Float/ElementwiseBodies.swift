import CKernels

/// One operation on pairs of lanes.
protocol LaneOperation {
  static func apply<L: FloatLanes>(_: L.Type, _ a: Lanes, _ b: Lanes) -> Lanes
}

enum Addition: LaneOperation {
  @inline(__always)
  static func apply<L: FloatLanes>(_: L.Type, _ a: Lanes, _ b: Lanes) -> Lanes { a + b }
}

enum Multiplication: LaneOperation {
  @inline(__always)
  static func apply<L: FloatLanes>(_: L.Type, _ a: Lanes, _ b: Lanes) -> Lanes { a * b }
}

/// silu(a) · b with silu(a) = a / (1 + e^−a).
enum GatedProduct: LaneOperation {
  @inline(__always)
  static func apply<L: FloatLanes>(_: L.Type, _ a: Lanes, _ b: Lanes) -> Lanes {
    let e = exponential(L.self, Lanes.zero - a)
    // Below −88 the quotient is under 1e-36 in magnitude: zero, also for −infinity.
    let silu = L.zero(a / (Lanes(repeating: 1) + e), where: a, isBelow: -88)
    return silu * b
  }
}

/// `ElementwiseFunction`. Pointers and counts are under that contract.
@inline(__always)
func elementwiseBody<L: FloatLanes, O: LaneOperation>(
  _: L.Type, _: O.Type, _ arguments: UnsafePointer<CKElementwise>
) {
  let a = unsafe UnsafeRawPointer(arguments.pointee.a)
  let b = unsafe UnsafeRawPointer(arguments.pointee.b)
  let output = unsafe UnsafeMutableRawPointer(arguments.pointee.output)
  let count = unsafe arguments.pointee.count
  let tail = count & 15
  let end = (count &- tail) &* 4
  var at = 0
  while at < end {
    let result = unsafe O.apply(L.self, L.loadF32(a + at), L.loadF32(b + at))
    unsafe L.storeF32(output + at, result)
    at &+= 64
  }
  if tail > 0 {
    let result = unsafe O.apply(
      L.self, L.loadF32Part(a + end, tail), L.loadF32Part(b + end, tail))
    unsafe L.storeF32Part(output + end, result, tail)
  }
}

/// `ScalingFunction`. Pointer and count are under that contract.
@inline(__always)
func scaleBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKScaling>) {
  let values = unsafe UnsafeMutableRawPointer(arguments.pointee.values)
  let factor = unsafe Lanes(repeating: arguments.pointee.factor)
  let count = unsafe arguments.pointee.count
  let tail = count & 15
  let end = (count &- tail) &* 4
  var at = 0
  while at < end {
    unsafe L.storeF32(values + at, L.loadF32(values + at) * factor)
    at &+= 64
  }
  if tail > 0 {
    unsafe L.storeF32Part(values + end, L.loadF32Part(values + end, tail) * factor, tail)
  }
}
