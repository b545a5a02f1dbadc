import CKernels

/// `NormFunction`. Pointers and counts are under that contract.
@inline(__always)
func rmsNormBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKNorm>) {
  let input = unsafe UnsafeRawPointer(arguments.pointee.input)
  let weight = unsafe UnsafeRawPointer(arguments.pointee.weight)
  let output = unsafe UnsafeMutableRawPointer(arguments.pointee.output)
  let count = unsafe arguments.pointee.count
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
  let root = unsafe L.squareRoot(mean + arguments.pointee.epsilon)
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
