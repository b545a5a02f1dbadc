import CKernels

/// `FloatProductFunction`. Pointers, strides and counts are under that contract.
///
/// Tiles of rows × tokens of dot products; each is one chain of 16 lanes over the columns, so
/// that an output does not depend on the tile that computed it.
@inline(__always)
func floatProductBody<L: FloatLanes, E: FloatElement>(
  _: L.Type, _: E.Type, _ arguments: UnsafePointer<CKFloatProduct>, rows: Int, tokens: Int
) {
  let product = unsafe arguments.pointee
  let tokenCount = unsafe product.tokenCount
  let end = unsafe product.rowEnd
  var row = unsafe product.rowBegin
  while row &+ rows <= end {
    var token = 0
    while token &+ tokens <= tokenCount {
      unsafe dotTile(L.self, E.self, product, row, token, rows: rows, tokens: tokens)
      token &+= tokens
    }
    row &+= rows
  }
  // What the tiles leave: the last tokens of their rows, and the last rows.
  var (single, first) = unsafe (product.rowBegin, tokenCount &- tokenCount % tokens)
  while single < end {
    if single == row { first = 0 }
    var token = first
    while token < tokenCount {
      unsafe dotTile(L.self, E.self, product, single, token, rows: 1, tokens: 1)
      token &+= 1
    }
    single &+= 1
  }
}

/// The dot products of 1, 2 or 4 rows with 1 or 2 tokens. `rows` and `tokens` are constants at
/// every call, so that the sums which a tile does not have disappear.
@inline(__always)
private func dotTile<L: FloatLanes, E: FloatElement>(
  _: L.Type, _: E.Type, _ product: CKFloatProduct, _ row: Int, _ token: Int,
  rows: Int, tokens: Int
) {
  let wStride = unsafe product.weightStride &* E.byteCount
  let xStride = unsafe product.activationStride &* 4
  var w0 = unsafe product.weights + row &* wStride
  var w2 = unsafe rows > 2 ? w0 + 2 &* wStride : w0
  var x = unsafe UnsafeRawPointer(product.activations) + token &* xStride
  var (s00, s01, s10, s11) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
  var (s20, s21, s30, s31) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)

  @inline(__always) func step(_ part: Int) {
    @inline(__always) func activations(_ place: UnsafeRawPointer) -> Lanes {
      unsafe part < 16 ? L.loadF32Part(place, part) : L.loadF32(place)
    }
    @inline(__always) func weights(_ place: UnsafeRawPointer) -> Lanes {
      unsafe part < 16 ? E.loadPart(L.self, place, part) : E.load(L.self, place)
    }
    let x0 = unsafe activations(x)
    let x1 = unsafe tokens > 1 ? activations(x + xStride) : .zero
    let v0 = unsafe weights(w0)
    s00 = L.multiplyAdd(s00, v0, x0)
    if tokens > 1 { s01 = L.multiplyAdd(s01, v0, x1) }
    if rows > 1 {
      let v1 = unsafe weights(w0 + wStride)
      s10 = L.multiplyAdd(s10, v1, x0)
      if tokens > 1 { s11 = L.multiplyAdd(s11, v1, x1) }
    }
    if rows > 2 {
      let v2 = unsafe weights(w2)
      s20 = L.multiplyAdd(s20, v2, x0)
      if tokens > 1 { s21 = L.multiplyAdd(s21, v2, x1) }
      let v3 = unsafe weights(w2 + wStride)
      s30 = L.multiplyAdd(s30, v3, x0)
      if tokens > 1 { s31 = L.multiplyAdd(s31, v3, x1) }
    }
  }
  var remaining = unsafe product.columnCount
  while remaining >= 16 {
    step(16)
    unsafe w0 += 16 &* E.byteCount
    if rows > 2 { unsafe w2 += 16 &* E.byteCount }
    unsafe x += 64
    remaining &-= 16
  }
  if remaining > 0 { step(remaining) }

  let yStride = unsafe product.outputStride
  let y = unsafe product.output + (token &* yStride &+ row)
  @inline(__always) func store(_ sum: Lanes, _ row: Int, _ token: Int) {
    if row < rows && token < tokens {
      unsafe y[token &* yStride &+ row] = L.sum(sum)
    }
  }
  store(s00, 0, 0)
  store(s01, 0, 1)
  store(s10, 1, 0)
  store(s11, 1, 1)
  store(s20, 2, 0)
  store(s21, 2, 1)
  store(s30, 3, 0)
  store(s31, 3, 1)
}
