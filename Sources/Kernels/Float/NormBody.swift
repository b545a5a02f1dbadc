import CKernels

/// `NormFunction`. Pointers and counts are under that contract.
@inline(__always)
func rmsNormBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKNorm>) {
  unsafe normalize(
    L.self, arguments.pointee.input, arguments.pointee.weight, arguments.pointee.output,
    count: arguments.pointee.count, epsilon: arguments.pointee.epsilon)
}

/// `HeadNormFunction`. Pointers and counts are under that contract.
@inline(__always)
func headNormBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKHeadNorm>) {
  let heads = unsafe arguments.pointee
  var head = unsafe UnsafeMutableRawPointer(heads.values)
  var rest = unsafe heads.headCount
  while rest > 0 {
    unsafe normalize(
      L.self, head, heads.weight, head, count: heads.dimension, epsilon: heads.epsilon)
    unsafe head += heads.headStride &* 4
    rest &-= 1
  }
}

/// One row, in place or not.
@inline(__always)
private func normalize<L: FloatLanes>(
  _: L.Type, _ input: UnsafeRawPointer, _ weight: UnsafeRawPointer,
  _ output: UnsafeMutableRawPointer, count: Int, epsilon: Float
) {
  let tail = count & 15
  let end = (count &- tail) &* 4
  var squares = Lanes.zero
  var at = 0
  while at < end {
    let x = unsafe L.loadF32(input + at)
    squares = L.multiplyAdd(squares, x, x)
    at &+= 64
  }
  if tail > 0 {
    let x = unsafe L.loadF32Part(input + end, tail)
    squares = L.multiplyAdd(squares, x, x)
  }
  let mean = L.sum(squares) / Float(count)
  let root = L.squareRoot(mean + epsilon)
  let factor = Lanes(repeating: 1 / root)
  at = 0
  while at < end {
    let y = unsafe (L.loadF32(input + at) * factor) * L.loadF32(weight + at)
    unsafe L.storeF32(output + at, y)
    at &+= 64
  }
  if tail > 0 {
    let x = unsafe L.loadF32Part(input + end, tail)
    let y = unsafe (x * factor) * L.loadF32Part(weight + end, tail)
    unsafe L.storeF32Part(output + end, y, tail)
  }
}
