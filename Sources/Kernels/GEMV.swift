import CKernels

// Pointers: the arguments describe the whole matrix, all tokens and the output as the contract
// says; every address below is inside of one of them, by the loop bounds.

/// Bytes of codes between a load and the prefetch for a later one: about what arrives from memory
/// while one core works through them.
private let prefetchDistance = 8192

/// Rows of one tile times one or a few tokens that have a scale each, and weights that have a scale
/// per channel. The codes of a tile are read from memory once and from cache for every further
/// token.
@inline(__always)
func gemvPerToken<Codes: PerTokenCodes>(_: Codes.Type, _ arguments: UnsafePointer<CKProduct>) {
  typealias P = Codes.Primitives
  let a = unsafe arguments.pointee
  let quadCount = unsafe a.chunkCount &* 64 / Codes.quadColumns
  var tile = unsafe a.tileBegin
  while unsafe tile < a.tileEnd {
    let scales = unsafe (a.scales + tile &* a.scaleTileBytes).loadUnaligned(as: P.Reals.self)
    var token = 0
    while unsafe token < a.tokenCount {
      var codes = unsafe a.codes + tile &* a.codeTileBytes
      var x = unsafe UnsafeRawPointer(a.activations + token &* a.activationStride)
      var accumulator = Codes.Quad.zero
      var quad = 0
      while quad < quadCount {
        unsafe prefetch(codes + prefetchDistance)
        unsafe accumulator.add(codes, x)
        unsafe codes += 256
        unsafe x += Codes.quadColumns
        quad &+= 1
      }
      let reals = unsafe P.reals(
        P.affine(
          accumulator.sums, multiplier: Codes.multiplier,
          offset: Codes.zeroPoint &* a.tokenSums[token]))
      let result = unsafe reals * scales * .splat(a.activationScales[token] * Codes.factor)
      unsafe store(result, a, tile: tile, token: token)
      token &+= 1
    }
    tile &+= 1
  }
}

/// The same for activations with a scale per chunk of 64 columns.
@inline(__always)
func gemvPerChunk<Codes: PackedCodes, Scales: WeightScales>(
  _: Codes.Type, _: Scales.Type, _ arguments: UnsafePointer<CKProduct>
) where Codes.Primitives == Scales.Primitives {
  typealias P = Codes.Primitives
  let a = unsafe arguments.pointee
  let groupCount = unsafe a.chunkCount &* 64 / Codes.groupColumns
  let groupBytes = Codes.groupColumns / Codes.quadColumns &* 256
  let sumsPerGroup = Codes.groupColumns / 32
  var tile = unsafe a.tileBegin
  while unsafe tile < a.tileEnd {
    let tileScales = unsafe a.scales + tile &* a.scaleTileBytes
    var token = 0
    while unsafe token < a.tokenCount {
      var codes = unsafe a.codes + tile &* a.codeTileBytes
      var scales = unsafe tileScales
      var x = unsafe UnsafeRawPointer(a.activations + token &* a.activationStride)
      let chunkScales = unsafe a.activationScales + token &* a.activationScaleStride
      var groupSums = unsafe a.groupSums + token &* a.groupSumStride
      var total = P.Reals.splat(0)
      var group = 0
      while group < groupCount {
        if Scales.byteCount > 0 { unsafe ck_prefetch(scales + prefetchDistance / 8) }
        let sums = unsafe groupProducts(Codes.self, codes, x)
        let part = unsafe Scales.apply(
          Scales.load(scales), P.smallReals(sums), offset: Scales.offset(groupSums))
        let chunkScale = unsafe chunkScales[group &* Codes.groupColumns / 64]
        total = total + part * .splat(chunkScale)
        unsafe codes += groupBytes
        unsafe scales += Scales.byteCount
        unsafe x += Codes.groupColumns
        unsafe groupSums += sumsPerGroup
        group &+= 1
      }
      unsafe store(Scales.finish(total, tileScales), a, tile: tile, token: token)
      token &+= 1
    }
    tile &+= 1
  }
}

/// The integer sums of one group of columns, of one quad, two or four.
@inline(__always)
private func groupProducts<Codes: PackedCodes>(
  _: Codes.Type, _ codes: UnsafeRawPointer, _ x: UnsafeRawPointer
) -> Codes.Primitives.Sums {
  var accumulator = Codes.Quad.zero
  unsafe prefetch(codes + prefetchDistance)
  unsafe accumulator.add(codes, x)
  // By hand: trampolines are optimized for size, and would keep a loop.
  if Codes.groupColumns >= 2 &* Codes.quadColumns {
    unsafe prefetch(codes + (prefetchDistance &+ 256))
    unsafe accumulator.add(codes + 256, x + Codes.quadColumns)
  }
  if Codes.groupColumns == 4 &* Codes.quadColumns {
    unsafe prefetch(codes + (prefetchDistance &+ 512))
    unsafe accumulator.add(codes + 512, x + 2 &* Codes.quadColumns)
    unsafe prefetch(codes + (prefetchDistance &+ 768))
    unsafe accumulator.add(codes + 768, x + 3 &* Codes.quadColumns)
  }
  return accumulator.sums
}

/// Asks for the four cache lines of a quad.
@inline(__always) private func prefetch(_ codes: UnsafeRawPointer) {
  unsafe ck_prefetch(codes)
  unsafe ck_prefetch(codes + 64)
  unsafe ck_prefetch(codes + 128)
  unsafe ck_prefetch(codes + 192)
}

/// Stores those of a tile's 16 results that are rows of the matrix.
@inline(__always)
func store<Reals: BitwiseCopyable>(
  _ reals: Reals, _ a: CKProduct, tile: Int, token: Int
) {
  let row = tile &* 16
  let output = unsafe a.output + (token &* a.outputStride &+ row)
  let count = unsafe min(16, a.rowCount &- row)
  if count == 16 {
    unsafe UnsafeMutableRawPointer(output).storeBytes(of: reals, as: Reals.self)
  } else {
    var copy = reals
    // 16 floats lie in `Reals`, row after row.
    unsafe withUnsafeBytes(of: &copy) { bytes in
      guard let from = bytes.baseAddress else { return }
      unsafe copyFloats(count, from: from, to: UnsafeMutableRawPointer(output))
    }
  }
}
