import CKernels

/// `RotationFunction` for pairs (i, i + pairCount). Pointers and counts are under that contract.
@inline(__always)
func rotateHalvesBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKRotation>) {
  let cosines = unsafe UnsafeRawPointer(arguments.pointee.cosines)
  let sines = unsafe UnsafeRawPointer(arguments.pointee.sines)
  let pairCount = unsafe arguments.pointee.pairCount
  let tail = pairCount & 15
  var head = unsafe UnsafeMutableRawPointer(arguments.pointee.values)
  var remaining = unsafe arguments.pointee.headCount
  while remaining > 0 {
    let other = unsafe head + pairCount &* 4
    var at = 0
    while at < (pairCount &- tail) &* 4 {
      let (c, s) = unsafe (L.loadF32(cosines + at), L.loadF32(sines + at))
      let (x, y) = unsafe (L.loadF32(head + at), L.loadF32(other + at))
      unsafe L.storeF32(head + at, L.multiplyAdd(x * c, Lanes.zero - y, s))
      unsafe L.storeF32(other + at, L.multiplyAdd(y * c, x, s))
      at &+= 64
    }
    if tail > 0 {
      let c = unsafe L.loadF32Part(cosines + at, tail)
      let s = unsafe L.loadF32Part(sines + at, tail)
      let x = unsafe L.loadF32Part(head + at, tail)
      let y = unsafe L.loadF32Part(other + at, tail)
      unsafe L.storeF32Part(head + at, L.multiplyAdd(x * c, Lanes.zero - y, s), tail)
      unsafe L.storeF32Part(other + at, L.multiplyAdd(y * c, x, s), tail)
    }
    unsafe head += arguments.pointee.headStride &* 4
    remaining &-= 1
  }
}

/// `RotationFunction` for pairs (2i, 2i + 1). Pointers and counts are under that contract.
@inline(__always)
func rotateAdjacentBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKRotation>) {
  let cosines = unsafe UnsafeRawPointer(arguments.pointee.cosines)
  let sines = unsafe UnsafeRawPointer(arguments.pointee.sines)
  let pairCount = unsafe arguments.pointee.pairCount
  let tail = pairCount & 7
  var head = unsafe UnsafeMutableRawPointer(arguments.pointee.values)
  var remaining = unsafe arguments.pointee.headCount
  while remaining > 0 {
    var at = 0
    while at < (pairCount &- tail) &* 4 {
      let c = unsafe duplicated((cosines + at).loadUnaligned(as: SIMD8<Float>.self))
      let s = unsafe duplicated((sines + at).loadUnaligned(as: SIMD8<Float>.self))
      let v = unsafe L.loadF32(head + at &* 2)
      unsafe L.storeF32(head + at &* 2, rotated(L.self, v, c, s))
      at &+= 32
    }
    if tail > 0 {
      let c = unsafe duplicated(L.loadF32Part(cosines + at, tail).lowHalf)
      let s = unsafe duplicated(L.loadF32Part(sines + at, tail).lowHalf)
      let v = unsafe L.loadF32Part(head + at &* 2, tail &* 2)
      unsafe L.storeF32Part(head + at &* 2, rotated(L.self, v, c, s), tail &* 2)
    }
    unsafe head += arguments.pointee.headStride &* 4
    remaining &-= 1
  }
}

/// Each lane twice, side by side.
@inline(__always)
private func duplicated(_ v: SIMD8<Float>) -> Lanes {
  Lanes(
    v[0], v[0], v[1], v[1], v[2], v[2], v[3], v[3],
    v[4], v[4], v[5], v[5], v[6], v[6], v[7], v[7])
}

/// (x, y) → (x·c − y·s, y·c + x·s) on adjacent lanes.
@inline(__always)
private func rotated<L: FloatLanes>(_: L.Type, _ v: Lanes, _ c: Lanes, _ s: Lanes) -> Lanes {
  let swapped = Lanes(
    -v[1], v[0], -v[3], v[2], -v[5], v[4], -v[7], v[6],
    -v[9], v[8], -v[11], v[10], -v[13], v[12], -v[15], v[14])
  return L.multiplyAdd(v * c, swapped, s)
}
