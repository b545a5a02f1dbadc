import CKernels

/// `PanelFunction`. Pointers, strides and counts are under that contract.
///
/// Columns of B go by in bundles that stay in registers for up to four rows of A; every element of
/// C is one chain of multiply-adds in the order of depth, whatever the tile.
@inline(__always)
func panelBody<L: FloatLanes, E: FloatElement>(
  _: L.Type, _: E.Type, _ arguments: UnsafePointer<CKPanel>
) {
  let panel = unsafe arguments.pointee
  let (rows, columns) = unsafe (panel.rowCount, panel.columnCount)
  var column = 0
  if rows == 1 {
    while column &+ 64 <= columns {
      unsafe tile1(L.self, E.self, FourBundle.self, panel, 0, column)
      column &+= 64
    }
  }
  if L.panelVectorCount == 2 {
    while column &+ 32 <= columns {
      unsafe allRows(L.self, E.self, TwoBundle.self, panel, column)
      column &+= 32
    }
  } else if rows == 2 {
    while column &+ 32 <= columns {
      unsafe tile2(L.self, E.self, TwoBundle.self, panel, 0, column)
      column &+= 32
    }
  }
  while column &+ 16 <= columns {
    unsafe allRows(L.self, E.self, OneBundle.self, panel, column)
    column &+= 16
  }
  var row = column < columns ? 0 : rows
  while row < rows {
    unsafe tile1(L.self, E.self, PartBundle.self, panel, row, column, columns &- column)
    row &+= 1
  }
}

/// All rows of a bundle of columns.
@inline(__always)
private func allRows<L: FloatLanes, E: FloatElement, B: LaneBundle>(
  _: L.Type, _: E.Type, _: B.Type, _ panel: CKPanel, _ column: Int
) {
  let rows = unsafe panel.rowCount
  var row = 0
  while row &+ 4 <= rows {
    unsafe tile4(L.self, E.self, B.self, panel, row, column)
    row &+= 4
  }
  switch rows &- row {
  case 3: unsafe tile3(L.self, E.self, B.self, panel, row, column)
  case 2: unsafe tile2(L.self, E.self, B.self, panel, row, column)
  case 1: unsafe tile1(L.self, E.self, B.self, panel, row, column)
  default: break
  }
}

/// Four rows of A times a bundle of columns.
@inline(__always)
private func tile4<L: FloatLanes, E: FloatElement, B: LaneBundle>(
  _: L.Type, _: E.Type, _: B.Type, _ panel: CKPanel, _ row: Int, _ column: Int, _ part: Int = 16
) {
  var (s0, s1, s2, s3) = (B.zero, B.zero, B.zero, B.zero)
  let stride = unsafe panel.aStride
  var a0 = unsafe panel.a + row &* stride
  var a2 = unsafe a0 + 2 &* stride
  var b = unsafe panel.b + column &* E.byteCount
  let bStride = unsafe panel.bStride &* E.byteCount
  var depth = unsafe panel.depth
  while depth > 0 {
    let v = unsafe B.load(L.self, E.self, b, part)
    s0 = unsafe s0.adding(L.self, Lanes(repeating: a0[0]), times: v)
    s1 = unsafe s1.adding(L.self, Lanes(repeating: a0[stride]), times: v)
    s2 = unsafe s2.adding(L.self, Lanes(repeating: a2[0]), times: v)
    s3 = unsafe s3.adding(L.self, Lanes(repeating: a2[stride]), times: v)
    unsafe a0 += 1
    unsafe a2 += 1
    unsafe b += bStride
    depth &-= 1
  }
  let cStride = unsafe panel.cStride &* 4
  let cOffset = row &* cStride &+ column &* 4
  let c = unsafe UnsafeMutableRawPointer(panel.c) + cOffset
  let factors = unsafe panel.rowFactors
  unsafe s0.store(L.self, c, part, row, factors: factors)
  unsafe s1.store(L.self, c + cStride, part, row &+ 1, factors: factors)
  unsafe s2.store(L.self, c + 2 &* cStride, part, row &+ 2, factors: factors)
  unsafe s3.store(L.self, c + 3 &* cStride, part, row &+ 3, factors: factors)
}

/// Three rows of A times a bundle of columns.
@inline(__always)
private func tile3<L: FloatLanes, E: FloatElement, B: LaneBundle>(
  _: L.Type, _: E.Type, _: B.Type, _ panel: CKPanel, _ row: Int, _ column: Int, _ part: Int = 16
) {
  var (s0, s1, s2) = (B.zero, B.zero, B.zero)
  let stride = unsafe panel.aStride
  var a0 = unsafe panel.a + row &* stride
  var a2 = unsafe a0 + 2 &* stride
  var b = unsafe panel.b + column &* E.byteCount
  let bStride = unsafe panel.bStride &* E.byteCount
  var depth = unsafe panel.depth
  while depth > 0 {
    let v = unsafe B.load(L.self, E.self, b, part)
    s0 = unsafe s0.adding(L.self, Lanes(repeating: a0[0]), times: v)
    s1 = unsafe s1.adding(L.self, Lanes(repeating: a0[stride]), times: v)
    s2 = unsafe s2.adding(L.self, Lanes(repeating: a2[0]), times: v)
    unsafe a0 += 1
    unsafe a2 += 1
    unsafe b += bStride
    depth &-= 1
  }
  let cStride = unsafe panel.cStride &* 4
  let cOffset = row &* cStride &+ column &* 4
  let c = unsafe UnsafeMutableRawPointer(panel.c) + cOffset
  let factors = unsafe panel.rowFactors
  unsafe s0.store(L.self, c, part, row, factors: factors)
  unsafe s1.store(L.self, c + cStride, part, row &+ 1, factors: factors)
  unsafe s2.store(L.self, c + 2 &* cStride, part, row &+ 2, factors: factors)
}

/// Two rows of A times a bundle of columns.
@inline(__always)
private func tile2<L: FloatLanes, E: FloatElement, B: LaneBundle>(
  _: L.Type, _: E.Type, _: B.Type, _ panel: CKPanel, _ row: Int, _ column: Int, _ part: Int = 16
) {
  var (s0, s1) = (B.zero, B.zero)
  let stride = unsafe panel.aStride
  var a0 = unsafe panel.a + row &* stride
  var b = unsafe panel.b + column &* E.byteCount
  let bStride = unsafe panel.bStride &* E.byteCount
  var depth = unsafe panel.depth
  while depth > 0 {
    let v = unsafe B.load(L.self, E.self, b, part)
    s0 = unsafe s0.adding(L.self, Lanes(repeating: a0[0]), times: v)
    s1 = unsafe s1.adding(L.self, Lanes(repeating: a0[stride]), times: v)
    unsafe a0 += 1
    unsafe b += bStride
    depth &-= 1
  }
  let cStride = unsafe panel.cStride &* 4
  let cOffset = row &* cStride &+ column &* 4
  let c = unsafe UnsafeMutableRawPointer(panel.c) + cOffset
  let factors = unsafe panel.rowFactors
  unsafe s0.store(L.self, c, part, row, factors: factors)
  unsafe s1.store(L.self, c + cStride, part, row &+ 1, factors: factors)
}

/// One row of A times a bundle of columns.
@inline(__always)
private func tile1<L: FloatLanes, E: FloatElement, B: LaneBundle>(
  _: L.Type, _: E.Type, _: B.Type, _ panel: CKPanel, _ row: Int, _ column: Int, _ part: Int = 16
) {
  var s0 = B.zero
  var a0 = unsafe panel.a + row &* panel.aStride
  var b = unsafe panel.b + column &* E.byteCount
  let bStride = unsafe panel.bStride &* E.byteCount
  var depth = unsafe panel.depth
  while depth > 0 {
    let v = unsafe B.load(L.self, E.self, b, part)
    s0 = unsafe s0.adding(L.self, Lanes(repeating: a0[0]), times: v)
    unsafe a0 += 1
    unsafe b += bStride
    depth &-= 1
  }
  let cOffset = unsafe (row &* panel.cStride &+ column) &* 4
  let c = unsafe UnsafeMutableRawPointer(panel.c) + cOffset
  let factors = unsafe panel.rowFactors
  unsafe s0.store(L.self, c, part, row, factors: factors)
}
