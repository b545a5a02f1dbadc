import CKernels

/// `SoftmaxFunction`. Pointer and count are under that contract.
@inline(__always)
func softmaxBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKScaling>) {
  let values = unsafe UnsafeMutableRawPointer(arguments.pointee.values)
  let scale = unsafe Lanes(repeating: arguments.pointee.factor)
  let count = unsafe arguments.pointee.count
  let tail = count & 15
  let end = (count &- tail) &* 4
  let maximum = unsafe largestValue(L.self, values, count)
  // All masked: exponentials of −infinity are zero with any finite maximum.
  let origin = Lanes(repeating: maximum == -Float.infinity ? 0 : maximum)
  var sums = Lanes.zero
  var at = 0
  while at < end {
    let e = unsafe exponential(L.self, (L.loadF32(values + at) - origin) * scale)
    unsafe L.storeF32(values + at, e)
    sums = sums + e
    at &+= 64
  }
  if tail > 0 {
    let e = unsafe exponential(L.self, (L.loadF32Part(values + end, tail) - origin) * scale)
    unsafe L.storeF32Part(values + end, e, tail)
    // Lanes after the row come back as zero.
    sums = unsafe sums + L.loadF32Part(values + end, tail)
  }
  let sum = L.sum(sums)
  let factor = Lanes(repeating: sum == 0 ? 0 : 1 / sum)
  at = 0
  while at < end {
    unsafe L.storeF32(values + at, L.loadF32(values + at) * factor)
    at &+= 64
  }
  if tail > 0 {
    unsafe L.storeF32Part(values + end, L.loadF32Part(values + end, tail) * factor, tail)
  }
}

/// The largest of `count` floats; NaN is ignored, and −infinity where there is no number.
@inline(__always)
func largestValue<L: FloatLanes>(
  _: L.Type, _ values: UnsafeMutableRawPointer, _ count: Int
) -> Float {
  let tail = count & 15
  let end = (count &- tail) &* 4
  var maxima = Lanes(repeating: -Float.infinity)
  var at = 0
  while at < end {
    maxima = unsafe L.maximum(L.loadF32(values + at), maxima)
    at &+= 64
  }
  var result = L.largest(maxima)
  while at < count &* 4 {
    let value = unsafe values.loadUnaligned(fromByteOffset: at, as: Float.self)
    if value > result { result = value }
    at &+= 4
  }
  return result
}
