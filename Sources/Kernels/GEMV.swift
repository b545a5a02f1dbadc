import CKernels

// Pointers: the arguments describe the whole matrix, all tokens and the output as the contract
// says; every address below is inside of one of them, by the loop bounds.

/// Bytes of codes between a load and the prefetch for a later one: about what arrives from memory
/// while one core works through them.
private let prefetchDistance = 8192

/// Rows of one tile times one or a few tokens, scales per channel. The codes of a tile are read
/// from memory once and from cache for every further token.
@inline(__always)
func gemvPerChannel<Codes: PackedCodes>(_: Codes.Type, _ arguments: UnsafePointer<CKProduct>) {
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
      let result = unsafe reals * scales * .splat(a.tokenScales[token] * Codes.factor)
      unsafe store(result, a, tile: tile, token: token)
      token &+= 1
    }
    tile &+= 1
  }
}

/// The same with scales per group.
@inline(__always)
func gemvPerGroup<Codes: PackedCodes, Scales: GroupScales>(
  _: Codes.Type, _: Scales.Type, _ arguments: UnsafePointer<CKProduct>
) where Codes.Primitives == Scales.Primitives {
  typealias P = Codes.Primitives
  let a = unsafe arguments.pointee
  let groupCount = unsafe a.chunkCount &* 64 / Codes.quadColumns
  let sumsPerGroup = Codes.quadColumns / 32
  var tile = unsafe a.tileBegin
  while unsafe tile < a.tileEnd {
    var token = 0
    while unsafe token < a.tokenCount {
      var codes = unsafe a.codes + tile &* a.codeTileBytes
      var scales = unsafe a.scales + tile &* a.scaleTileBytes
      var x = unsafe UnsafeRawPointer(a.activations + token &* a.activationStride)
      var groupSums = unsafe a.groupSums + token &* a.groupSumStride
      var total = P.Reals.splat(0)
      var group = 0
      while group < groupCount {
        unsafe prefetch(codes + prefetchDistance)
        unsafe ck_prefetch(scales + prefetchDistance / 8)
        var accumulator = Codes.Quad.zero
        unsafe accumulator.add(codes, x)
        let part = unsafe Scales.apply(
          Scales.load(scales), P.smallReals(accumulator.sums), offset: Scales.offset(groupSums))
        total = total + part
        unsafe codes += 256
        unsafe scales += Scales.byteCount
        unsafe x += Codes.quadColumns
        unsafe groupSums += sumsPerGroup
        group &+= 1
      }
      let result = unsafe total * .splat(a.tokenScales[token])
      unsafe store(result, a, tile: tile, token: token)
      token &+= 1
    }
    tile &+= 1
  }
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
