import CKernels

/// `BlockSoftmaxFunction`. Pointers, strides and counts are under that contract.
@inline(__always)
func blockSoftmaxBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKBlockSoftmax>) {
  let block = unsafe arguments.pointee
  let rowCount = unsafe block.rowCount
  // The new maxima first, so that all decays become exponentials 16 at a time.
  var row = 0
  while row < rowCount {
    let begin = unsafe Int(block.begins[row])
    let count = unsafe Int(block.ends[row]) &- begin
    let old = unsafe block.maxima[row]
    var maximum = old
    if count > 0 {
      let scores = unsafe UnsafeMutableRawPointer(
        block.scores + (row &* block.scoreStride &+ begin))
      let largest = unsafe largestValue(L.self, scores, count)
      if largest > maximum { maximum = largest }
    }
    unsafe block.maxima[row] = maximum
    // All masked so far: nothing has been summed, and any finite decay does.
    unsafe block.decays[row] = maximum == -Float.infinity ? 0 : old - maximum
    row &+= 1
  }
  unsafe exponentiate(L.self, UnsafeMutableRawPointer(block.decays), rowCount)
  row = 0
  while row < rowCount {
    let sum = unsafe weighRow(L.self, block, row)
    unsafe block.sums[row] = unsafe block.sums[row] * block.decays[row] + sum
    row &+= 1
  }
}

/// e to the power of each value, in place.
@inline(__always)
private func exponentiate<L: FloatLanes>(
  _: L.Type, _ values: UnsafeMutableRawPointer, _ count: Int
) {
  var rest = count
  var place = unsafe values
  while rest > 0 {
    let part = rest < 16 ? rest : 16
    unsafe L.storeF32Part(place, exponential(L.self, L.loadF32Part(place, part)), part)
    unsafe place += 64
    rest &-= 16
  }
}

/// A row's scores become weights; returns their sum.
@inline(__always)
private func weighRow<L: FloatLanes>(_: L.Type, _ block: CKBlockSoftmax, _ row: Int) -> Float {
  let line = unsafe UnsafeMutableRawPointer(block.scores + row &* block.scoreStride)
  let begin = unsafe Int(block.begins[row]) &* 4
  let end = unsafe Int(block.ends[row]) &* 4
  let lineEnd = unsafe block.columnCount &* 4
  if end <= begin {
    unsafe clear(L.self, line, from: 0, to: lineEnd)
    return 0
  }
  let maximum = unsafe block.maxima[row]
  // All masked: exponentials of −infinity are zero with any finite maximum.
  let origin = Lanes(repeating: maximum == -Float.infinity ? 0 : maximum)
  var sums = Lanes.zero
  var at = begin
  while at &+ 64 <= end {
    let e = unsafe exponential(L.self, L.loadF32(line + at) - origin)
    unsafe L.storeF32(line + at, e)
    sums = sums + e
    at &+= 64
  }
  if at < end {
    let tail = (end &- at) &>> 2
    let e = unsafe exponential(L.self, L.loadF32Part(line + at, tail) - origin)
    unsafe L.storeF32Part(line + at, e, tail)
    // Lanes after the row come back as zero.
    sums = unsafe sums + L.loadF32Part(line + at, tail)
  }
  unsafe clear(L.self, line, from: 0, to: begin)
  unsafe clear(L.self, line, from: end, to: lineEnd)
  return L.sum(sums)
}

/// Zeros from one byte offset to another.
@inline(__always)
private func clear<L: FloatLanes>(
  _: L.Type, _ line: UnsafeMutableRawPointer, from begin: Int, to end: Int
) {
  var at = begin
  while at < end {
    let rest = (end &- at) &>> 2
    unsafe L.storeF32Part(line + at, Lanes.zero, rest < 16 ? rest : 16)
    at &+= 64
  }
}
