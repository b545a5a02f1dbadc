import CKernels

/// `RowCodesFunction`. Pointers, strides and counts are under that contract.
@inline(__always)
func rowCodesBody<L: FloatLanes>(_: L.Type, _ arguments: UnsafePointer<CKRowCodes>) {
  let rows = unsafe arguments.pointee
  var row = 0
  while unsafe row < rows.rowCount {
    unsafe codesOfRow(L.self, rows, row)
    row &+= 1
  }
}

/// Up to 16 values, times the scales of their columns where there are any.
@inline(__always)
private func scaled<L: FloatLanes>(
  _: L.Type, _ v: Lanes, _ scales: UnsafePointer<Float>?, _ column: Int, _ part: Int
) -> Lanes {
  guard let scales = unsafe scales else { return v }
  let place = unsafe UnsafeRawPointer(scales + column)
  return unsafe v * (part == 16 ? L.loadF32(place) : L.loadF32Part(place, part))
}

@inline(__always)
private func codesOfRow<L: FloatLanes>(_: L.Type, _ rows: CKRowCodes, _ row: Int) {
  let input = unsafe UnsafeRawPointer(rows.input + row &* rows.inputStride)
  let output = unsafe UnsafeMutableRawPointer(rows.codes + row &* rows.codeStride)
  let scales = unsafe rows.columnScales
  let count = unsafe rows.columnCount
  let tail = count & 15
  let end = count &- tail
  var maxima = Lanes.zero
  // A product with zero is NaN for an infinity or NaN and zero for all else.
  var witness = Lanes.zero
  var at = 0
  while at < end {
    let v = unsafe scaled(L.self, L.loadF32(input + at &* 4), scales, at, 16)
    maxima = L.maximum(L.maximum(v, Lanes.zero - v), maxima)
    witness = L.multiplyAdd(witness, v, Lanes.zero)
    at &+= 16
  }
  if tail > 0 {
    let v = unsafe scaled(L.self, L.loadF32Part(input + end &* 4, tail), scales, end, tail)
    maxima = L.maximum(L.maximum(v, Lanes.zero - v), maxima)
    witness = L.multiplyAdd(witness, v, Lanes.zero)
  }
  let magnitude = L.largest(maxima)
  let isFinite = L.sum(witness) == 0
  let isUsable = isFinite && magnitude >= 0x1p-110
  let scale = isFinite ? (isUsable ? magnitude / 32767 : 0) : Float.nan
  unsafe rows.rowScales[row] = unsafe scale * rows.factor
  if !isUsable {
    at = 0
    while at < count {
      unsafe L.storeS16Part(output + at &* 2, Lanes.zero, count &- at < 16 ? count &- at : 16)
      at &+= 16
    }
    return
  }
  let factor = Lanes(repeating: 32767 / magnitude)
  at = 0
  while at < end {
    let v = unsafe scaled(L.self, L.loadF32(input + at &* 4), scales, at, 16)
    unsafe L.storeS16Part(output + at &* 2, v * factor, 16)
    at &+= 16
  }
  if tail > 0 {
    let v = unsafe scaled(L.self, L.loadF32Part(input + end &* 4, tail), scales, end, tail)
    unsafe L.storeS16Part(output + end &* 2, v * factor, tail)
  }
}
