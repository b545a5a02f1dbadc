import CKernels

/// `SearchFunction`. Pointer and count are under that contract.
@inline(__always)
func argMaxBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKSearch>) {
  let values = unsafe UnsafeRawPointer(arguments.pointee.values)
  let count = unsafe arguments.pointee.count
  let tail = count & 15
  let end = (count &- tail) &* 4
  var maxima = Lanes(repeating: -Float.infinity)
  var unordered: UInt32 = 0
  var at = 0
  while at < end {
    let v = unsafe L.loadF32(values + at)
    unordered |= L.unordered(v)
    maxima = L.maximum(v, maxima)
    at &+= 64
  }
  var maximum = L.largest(maxima)
  while at < count &* 4 {
    let value = unsafe values.loadUnaligned(fromByteOffset: at, as: Float.self)
    if value.isNaN { unordered = 1 }
    if value > maximum { maximum = value }
    at &+= 4
  }
  unsafe arguments.pointee.index.pointee = -1
  if unordered != 0 { return }
  at = 0
  while at < end {
    let equal = unsafe L.equal(L.loadF32(values + at), maximum)
    if equal != 0 {
      unsafe arguments.pointee.index.pointee = at / 4 &+ equal.trailingZeroBitCount
      return
    }
    at &+= 64
  }
  while at < count &* 4 {
    if unsafe values.loadUnaligned(fromByteOffset: at, as: Float.self) == maximum {
      unsafe arguments.pointee.index.pointee = at / 4
      return
    }
    at &+= 4
  }
}
