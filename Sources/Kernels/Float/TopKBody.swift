import CKernels

// A value and its place as one number, larger for what comes first: the value's bits in the order of
// the values, then the place, smaller ones first. −0 counts as +0. Pointers and counts are under
// `TopKFunction`; every index below is less than k, or than the count.

@inline(__always) private func key(_ value: Float, _ index: Int) -> UInt64 {
  let bits = value == 0 ? 0 : value.bitPattern
  let ordered = bits >> 31 == 0 ? bits | 0x8000_0000 : ~bits
  return UInt64(ordered) &<< 32 | UInt64(~UInt32(truncatingIfNeeded: index))
}

@inline(__always) private func value(_ key: UInt64) -> Float {
  let ordered = UInt32(truncatingIfNeeded: key &>> 32)
  return Float(bitPattern: ordered >> 31 == 0 ? ~ordered : ordered & 0x7FFF_FFFF)
}

/// `TopKFunction`: a heap of the k best so far, the worst at its root; values that are not larger
/// than that are passed over 16 at a time.
@inline(__always)
func topKBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKTopK>) {
  let search = unsafe arguments.pointee
  let (keys, k, count) = unsafe (search.keys, search.k, search.count)
  var unordered: UInt32 = 0
  var i = 0
  while i < k {
    let v = unsafe search.values[i]
    if v.isNaN { unordered = 1 }
    unsafe keys[i] = key(v, i)
    i &+= 1
  }
  var parent = k / 2
  while parent > 0 {
    parent &-= 1
    unsafe sink(keys, from: parent, count: k)
  }
  var worst = unsafe value(keys[0])
  while i &+ 16 <= count {
    let lanes = unsafe L.loadF32(UnsafeRawPointer(search.values + i))
    unordered |= L.unordered(lanes)
    var above = L.above(lanes, worst)
    while above != 0 {
      let place = i &+ above.trailingZeroBitCount
      unsafe worst = offer(search.values[place], place, keys, k, worst)
      above &= above &- 1
    }
    i &+= 16
  }
  while i < count {
    let v = unsafe search.values[i]
    if v.isNaN { unordered = 1 }
    unsafe worst = offer(v, i, keys, k, worst)
    i &+= 1
  }
  unsafe search.found.pointee = unordered == 0 ? k : -1
  if unordered != 0 { return }
  // The worst of those that remain goes behind them.
  var rest = k
  while rest > 1 {
    rest &-= 1
    let last = unsafe keys[rest]
    unsafe keys[rest] = keys[0]
    unsafe keys[0] = last
    unsafe sink(keys, from: 0, count: rest)
  }
  i = 0
  while i < k {
    unsafe search.indices[i] = Int32(bitPattern: ~UInt32(truncatingIfNeeded: keys[i]))
    i &+= 1
  }
}

/// Puts a value in the place of the worst, if it is larger; returns the worst afterwards.
@inline(__always)
private func offer(
  _ candidate: Float, _ index: Int, _ keys: UnsafeMutablePointer<UInt64>, _ k: Int, _ worst: Float
) -> Float {
  guard candidate > worst else { return worst }
  unsafe keys[0] = key(candidate, index)
  unsafe sink(keys, from: 0, count: k)
  return unsafe value(keys[0])
}

/// Restores the order of a heap below a place.
@inline(__always)
private func sink(_ keys: UnsafeMutablePointer<UInt64>, from start: Int, count: Int) {
  var parent = start
  let moved = unsafe keys[parent]
  while true {
    var child = 2 &* parent &+ 1
    if child >= count { break }
    if unsafe child &+ 1 < count && keys[child &+ 1] < keys[child] { child &+= 1 }
    if unsafe moved <= keys[child] { break }
    unsafe keys[parent] = keys[child]
    parent = child
  }
  unsafe keys[parent] = moved
}
