import CKernels

// Pointers, strides and counts are under `CodePanelFunction`; every address below is inside of the
// shapes by the loop bounds.

/// One or two bundles of 16 columns, for one row of A.
protocol CodePanelBundle: BitwiseCopyable {
  associatedtype Primitives: CodePanelPrimitives
  associatedtype Codes: BitwiseCopyable
  static var columnCount: Int { get }
  static var zero: Self { get }
  static func pairs(_ codes: UnsafeRawPointer) -> Codes
  static func last(_ codes: UnsafeRawPointer) -> Codes
  mutating func add(_ codes: Codes, _ x: UnsafeRawPointer)
  func store(_ panel: CKCodePanel, row: Int, column: Int)
}

struct OneCodeBundle<P: CodePanelPrimitives>: CodePanelBundle {
  typealias Primitives = P
  var sums: P.Sums

  @inline(__always) static var columnCount: Int { 16 }
  @inline(__always) static var zero: Self { Self(sums: P.zeroSums) }

  @inline(__always)
  static func pairs(_ codes: UnsafeRawPointer) -> P.CodePairs {
    unsafe P.codePairs(codes)
  }

  @inline(__always) static func last(_ codes: UnsafeRawPointer) -> P.CodePairs {
    unsafe P.lastCodes(codes)
  }

  @inline(__always) mutating func add(_ codes: P.CodePairs, _ x: UnsafeRawPointer) {
    unsafe P.add(codes, x, to: &sums)
  }

  @inline(__always) func store(_ panel: CKCodePanel, row: Int, column: Int) {
    var values = unsafe P.reals(sums) * P.Reals.splat(panel.rowScales[row])
    if let scales = unsafe panel.columnScales {
      let bundle = unsafe UnsafeRawPointer(scales + column)
      values = unsafe values * bundle.loadUnaligned(as: P.Reals.self)
    }
    let place = unsafe UnsafeMutableRawPointer(panel.c + (row &* panel.cStride &+ column))
    if let factors = unsafe panel.rowFactors {
      let old = unsafe place.loadUnaligned(as: P.Reals.self) * P.Reals.splat(factors[row])
      values = old + values
    }
    unsafe place.storeBytes(of: values, as: P.Reals.self)
  }
}

struct TwoCodeBundles<P: CodePanelPrimitives>: CodePanelBundle {
  typealias Primitives = P
  typealias Codes = Halves<P.CodePairs>
  var low: OneCodeBundle<P>
  var high: OneCodeBundle<P>

  @inline(__always) static var columnCount: Int { 32 }
  @inline(__always) static var zero: Self { Self(low: .zero, high: .zero) }

  @inline(__always)
  static func pairs(_ codes: UnsafeRawPointer) -> Codes {
    unsafe Codes(low: P.codePairs(codes), high: P.codePairs(codes + 32))
  }

  @inline(__always) static func last(_ codes: UnsafeRawPointer) -> Codes {
    unsafe Codes(low: P.lastCodes(codes), high: P.lastCodes(codes + 32))
  }

  @inline(__always) mutating func add(_ codes: Codes, _ x: UnsafeRawPointer) {
    unsafe low.add(codes.low, x)
    unsafe high.add(codes.high, x)
  }

  @inline(__always) func store(_ panel: CKCodePanel, row: Int, column: Int) {
    unsafe low.store(panel, row: row, column: column)
    unsafe high.store(panel, row: row, column: column &+ 16)
  }
}

/// The sums of some rows of A with a bundle, in registers.
protocol CodePanelRows: BitwiseCopyable {
  associatedtype Bundle: CodePanelBundle
  static var rowCount: Int { get }
  static var zero: Self { get }
  mutating func add(_ codes: Bundle.Codes, _ x: UnsafePointer<Int16>, stride: Int)
  func store(_ panel: CKCodePanel, row: Int, column: Int)
}

struct OneCodeRow<Bundle: CodePanelBundle>: CodePanelRows {
  var bundle: Bundle

  @inline(__always) static var rowCount: Int { 1 }
  @inline(__always) static var zero: Self { Self(bundle: .zero) }

  @inline(__always)
  mutating func add(_ codes: Bundle.Codes, _ x: UnsafePointer<Int16>, stride: Int) {
    unsafe bundle.add(codes, UnsafeRawPointer(x))
  }

  @inline(__always) func store(_ panel: CKCodePanel, row: Int, column: Int) {
    unsafe bundle.store(panel, row: row, column: column)
  }
}

/// Twice as many rows.
struct DoubledCodeRows<Half: CodePanelRows>: CodePanelRows {
  typealias Bundle = Half.Bundle
  var low: Half
  var high: Half

  @inline(__always) static var rowCount: Int { 2 &* Half.rowCount }
  @inline(__always) static var zero: Self { Self(low: .zero, high: .zero) }

  @inline(__always)
  mutating func add(_ codes: Bundle.Codes, _ x: UnsafePointer<Int16>, stride: Int) {
    unsafe low.add(codes, x, stride: stride)
    unsafe high.add(codes, x + Half.rowCount &* stride, stride: stride)
  }

  @inline(__always) func store(_ panel: CKCodePanel, row: Int, column: Int) {
    unsafe low.store(panel, row: row, column: column)
    unsafe high.store(panel, row: row &+ Half.rowCount, column: column)
  }
}

/// Three rows: what is left of most models' groups of query heads, with one look at B.
struct ThreeCodeRows<Bundle: CodePanelBundle>: CodePanelRows {
  var two: TwoCodeRows<Bundle>
  var one: OneCodeRow<Bundle>

  @inline(__always) static var rowCount: Int { 3 }
  @inline(__always) static var zero: Self { Self(two: .zero, one: .zero) }

  @inline(__always)
  mutating func add(_ codes: Bundle.Codes, _ x: UnsafePointer<Int16>, stride: Int) {
    unsafe two.add(codes, x, stride: stride)
    unsafe one.add(codes, x + 2 &* stride, stride: stride)
  }

  @inline(__always) func store(_ panel: CKCodePanel, row: Int, column: Int) {
    unsafe two.store(panel, row: row, column: column)
    unsafe one.store(panel, row: row &+ 2, column: column)
  }
}

typealias TwoCodeRows<B: CodePanelBundle> = DoubledCodeRows<OneCodeRow<B>>
typealias FourCodeRows<B: CodePanelBundle> = DoubledCodeRows<TwoCodeRows<B>>
typealias EightCodeRows<B: CodePanelBundle> = DoubledCodeRows<FourCodeRows<B>>

/// `CodePanelFunction`, four rows and one bundle at a time, as 16 registers allow.
@inline(__always)
func codePanelInFours<P: CodePanelPrimitives>(
  _: P.Type, _ arguments: UnsafePointer<CKCodePanel>
) {
  let panel = unsafe arguments.pointee
  let ahead = unsafe CodePanelAhead(panel, rows: 4, columns: 16)
  var column = 0
  while unsafe column &+ 16 <= panel.columnCount {
    unsafe addFours(OneCodeBundle<P>.self, panel, column, from: 0, ahead, rowsInTile: 4)
    column &+= 16
  }
  unsafe addColumns(panel, from: column)
}

/// `CodePanelFunction`, eight rows and two bundles at a time, as 32 registers allow; four rows of the
/// one bundle that may be left.
@inline(__always)
func codePanelInEights<P: CodePanelPrimitives>(
  _: P.Type, _ arguments: UnsafePointer<CKCodePanel>
) {
  let panel = unsafe arguments.pointee
  let ahead = unsafe CodePanelAhead(panel, rows: 8, columns: 32)
  var column = 0
  while unsafe column &+ 32 <= panel.columnCount {
    unsafe addEights(TwoCodeBundles<P>.self, panel, column, ahead)
    column &+= 32
  }
  while unsafe column &+ 16 <= panel.columnCount {
    unsafe addFours(OneCodeBundle<P>.self, panel, column, from: 0, ahead, rowsInTile: 8)
    column &+= 16
  }
  unsafe addColumns(panel, from: column)
}

@inline(__always)
private func addEights<B: CodePanelBundle>(
  _: B.Type, _ panel: CKCodePanel, _ column: Int, _ ahead: CodePanelAhead
) {
  var row = 0
  while unsafe row &+ 8 <= panel.rowCount {
    let next = unsafe ahead.begin(rowTile: row &>> 3, columnTile: column &>> 5)
    unsafe addTile(EightCodeRows<B>.self, panel, row, column, ahead, next)
    row &+= 8
  }
  unsafe addFours(B.self, panel, column, from: row, ahead, rowsInTile: 8)
}

/// The rows from `first` on, four at a time and what is left together; the parts of what is asked for go by tiles
/// of four or of eight rows and, with eight, of two bundles.
@inline(__always)
private func addFours<B: CodePanelBundle>(
  _: B.Type, _ panel: CKCodePanel, _ column: Int, from first: Int, _ ahead: CodePanelAhead,
  rowsInTile: Int
) {
  let shift = rowsInTile == 8 ? 3 : 2
  let columnTile = column &>> (rowsInTile == 8 ? 5 : 4)
  var row = first
  while unsafe row &+ 4 <= panel.rowCount {
    let next = unsafe ahead.begin(rowTile: row &>> shift, columnTile: columnTile)
    unsafe addTile(FourCodeRows<B>.self, panel, row, column, ahead, next)
    row &+= 4
  }
  let next = unsafe ahead.begin(rowTile: row &>> shift, columnTile: columnTile)
  switch unsafe panel.rowCount &- row {
  case 3: unsafe addTile(ThreeCodeRows<B>.self, panel, row, column, ahead, next)
  case 2: unsafe addTile(TwoCodeRows<B>.self, panel, row, column, ahead, next)
  case 1: unsafe addTile(OneCodeRow<B>.self, panel, row, column, ahead, next)
  default: break
  }
}

/// Some rows of A times a bundle of columns.
@inline(__always)
private func addTile<R: CodePanelRows>(
  _: R.Type, _ panel: CKCodePanel, _ row: Int, _ column: Int, _ ahead: CodePanelAhead,
  _ next: UnsafeRawPointer
) {
  var rows = R.zero
  let stride = unsafe panel.bStride
  var a = unsafe panel.a + row &* panel.aStride
  var b = unsafe UnsafeRawPointer(panel.b + 2 &* column)
  var next = unsafe next
  var depth = unsafe panel.depth
  while depth >= 2 {
    unsafe ahead.ask(&next)
    unsafe rows.add(R.Bundle.pairs(b), a, stride: panel.aStride)
    unsafe a += 2
    unsafe b += stride
    depth &-= 2
  }
  if depth == 1 { unsafe rows.add(R.Bundle.last(b), a, stride: panel.aStride) }
  unsafe rows.store(panel, row: row, column: column)
}

/// The columns behind the last whole bundle, one by one.
@inline(__always)
private func addColumns(_ panel: CKCodePanel, from first: Int) {
  var column = first
  while unsafe column < panel.columnCount {
    var row = 0
    while unsafe row < panel.rowCount {
      var sum: Int32 = 0
      var d = 0
      while unsafe d < panel.depth {
        let place = unsafe (d &>> 1) &* panel.bStride &+ 2 &* column &+ (d & 1)
        let code = unsafe Int32(panel.b[place])
        sum = unsafe sum &+ Int32(panel.a[row &* panel.aStride &+ d]) &* code
        d &+= 1
      }
      var value = unsafe Float(sum) * panel.rowScales[row]
      if let scales = unsafe panel.columnScales { value = unsafe value * scales[column] }
      let place = unsafe panel.c + (row &* panel.cStride &+ column)
      if let factors = unsafe panel.rowFactors {
        value = unsafe place.pointee * factors[row] + value
      }
      unsafe place.pointee = value
      row &+= 1
    }
    column &+= 1
  }
}
