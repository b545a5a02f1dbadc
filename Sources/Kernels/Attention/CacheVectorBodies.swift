import CKernels

/// `CacheVectorFunction` to 8-bit codes of a given scale. Pointers and count are under that contract.
@inline(__always)
func cacheS8Body<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKCacheVector>) {
  let vector = unsafe arguments.pointee
  let values = unsafe UnsafeRawPointer(vector.values)
  let scale = unsafe Lanes(repeating: vector.scale)
  let count = unsafe vector.count
  var at = 0
  while at < count {
    let part = count &- at < 16 ? count &- at : 16
    let quotient = unsafe L.loadF32Part(values + at &* 4, part) / scale
    unsafe L.storeS8Part(vector.codes + at, limited(L.self, quotient, -127, 127), part)
    at &+= 16
  }
}

/// Values inside of two limits of which one is not positive and one not negative; 0 for NaN.
@inline(__always)
private func limited<L: FloatLanes>(_: L.Type, _ v: Lanes, _ low: Float, _ high: Float) -> Lanes {
  // The second operand is returned for NaN, so that both parts are 0 then.
  let above = L.minimum(Lanes(repeating: high), L.maximum(v, Lanes.zero))
  let below = L.maximum(Lanes(repeating: low), L.minimum(v, Lanes.zero))
  return above + below
}

/// The lanes from `count` on, zeros before them.
@inline(__always)
private func outside<L: FloatLanes>(_: L.Type, _ v: Lanes, _ count: Int) -> Lanes {
  let lane = Lanes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  return L.zero(v, where: lane, isBelow: Float(count) - 0.5)
}

/// `CacheVectorFunction` to 4-bit codes. Pointers and count are under that contract.
@inline(__always)
func cacheU4Body<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKCacheVector>) {
  let vector = unsafe arguments.pointee
  let count = unsafe vector.count
  guard let scales = unsafe vector.scales, let minimums = unsafe vector.minimums else { return }
  var group = 0
  while group &* 32 < count {
    let rest = count &- group &* 32
    let values = unsafe UnsafeRawPointer(vector.values + group &* 32)
    let codes = unsafe vector.codes + group &* 16
    unsafe storeGroup(
      L.self, values, codes, scales + group, minimums + group, rest < 32 ? rest : 32)
    group &+= 1
  }
}

/// One group of at most 32 values: scale and minimum cover it, in binary16, before codes are chosen.
@inline(__always)
private func storeGroup<L: FloatLanes>(
  _: L.Type, _ values: UnsafeRawPointer, _ codes: UnsafeMutableRawPointer,
  _ scale: UnsafeMutablePointer<UInt16>, _ minimum: UnsafeMutablePointer<UInt16>, _ count: Int
) {
  let lowCount = count < 16 ? count : 16
  let highCount = count &- lowCount
  let low = unsafe limited(L.self, L.loadF32Part(values, lowCount), -65504, 65504)
  var high = Lanes.zero
  if highCount > 0 {
    high = unsafe limited(L.self, L.loadF32Part(values + 64, highCount), -65504, 65504)
  }
  // Lanes behind the group repeat its first value, which changes neither limit.
  let first = Lanes(repeating: low[0])
  let lowFilled = low + outside(L.self, first, lowCount)
  let highFilled = high + outside(L.self, first, highCount)
  let largest = L.largest(L.maximum(lowFilled, highFilled))
  let smallest = -L.largest(L.maximum(Lanes.zero - lowFilled, Lanes.zero - highFilled))
  unsafe storeHalf(L.self, smallest, minimum)
  var bottom = unsafe loadHalf(L.self, minimum)
  if bottom > smallest {
    // The next binary16 below: of a positive number's bits one less, of another's one more.
    let bits = unsafe minimum.pointee
    unsafe minimum.pointee = bottom > 0 ? bits &- 1 : bottom == 0 ? 0x8001 : bits &+ 1
    bottom = unsafe loadHalf(L.self, minimum)
  }
  unsafe storeHalf(L.self, (largest - bottom) / 15, scale)
  let step = unsafe Lanes(repeating: loadHalf(L.self, scale))
  let origin = Lanes(repeating: bottom)
  // A byte a code first, behind what is packed already.
  unsafe L.storeS8Part(codes, limited(L.self, (low - origin) / step, 0, 15), lowCount)
  if highCount > 0 {
    unsafe L.storeS8Part(codes + 16, limited(L.self, (high - origin) / step, 0, 15), highCount)
  }
  var pair = 0
  while pair &* 2 < count {
    let both = unsafe codes.loadUnaligned(fromByteOffset: 2 &* pair, as: UInt16.self)
    unsafe codes.storeBytes(
      of: UInt8(truncatingIfNeeded: both | both &>> 4), toByteOffset: pair, as: UInt8.self)
    pair &+= 1
  }
}

@inline(__always)
private func storeHalf<L: FloatLanes>(
  _: L.Type, _ value: Float, _ place: UnsafeMutablePointer<UInt16>
) {
  unsafe L.storeF16Part(UnsafeMutableRawPointer(place), Lanes(repeating: value), 1)
}

@inline(__always)
private func loadHalf<L: FloatLanes>(_: L.Type, _ place: UnsafeMutablePointer<UInt16>) -> Float {
  unsafe L.loadF16Part(UnsafeRawPointer(place), 1)[0]
}
