import CKernels

// Pointers: the arguments describe the whole matrix, all tokens and the output as the contract
// says; every address below is inside of one of them, by the loop bounds.

/// Bytes of codes between a load and the prefetch for a later one: see `gemvPerToken`.
private let prefetchDistance = 8192

/// Bands of 16 rows times one or a few tokens. The tiles of a band are read from memory once and
/// from cache for every further token.
@inline(__always)
func gemvASTC<P: ASTCPrimitives>(
  _: P.Type, isHDR: Bool, _ arguments: UnsafePointer<CKProduct>
) {
  let a = unsafe arguments.pointee
  var band = unsafe a.tileBegin
  while unsafe band < a.tileEnd {
    var token = 0
    while unsafe token < a.tokenCount {
      var walk = unsafe ASTCBandWalk<P>(a, band: band, token: token)
      unsafe walk.addTiles(a, isHDR: isHDR)
      let scales = unsafe (a.scales + band &* a.scaleTileBytes).loadUnaligned(as: P.Reals.self)
      let result = unsafe astcResult(walk.total, scales, isHDR: isHDR)
      unsafe store(result, a, tile: band, token: token)
      if unsafe isHDR && ASTCTile.hasUnknownKind(arguments, band: band, isHDR: true) {
        unsafe store(P.Reals.splat(.nan), arguments.pointee, tile: band, token: token)
      }
      token &+= 1
    }
    band &+= 1
  }
}

/// The rows' results from their sums.
@inline(__always)
func astcResult<Reals: RealVector>(_ total: Reals, _ scales: Reals, isHDR: Bool) -> Reals {
  isHDR ? total * scales : total * scales * .splat(257.0 / 64)
}

/// A block's part of the result from the integer sums' total, before the activations' scale.
@inline(__always)
func astcPart<P: ASTCPrimitives>(
  _: P.Type, _ total: P.Reals, unit: P.Reals, minimum: P.Reals, x: Float, isHDR: Bool
) -> P.Reals {
  isHDR ? unit * total + minimum * .splat(x) : total
}

/// One token's way along a band.
@unsafe private struct ASTCBandWalk<P: ASTCPrimitives> {
  var total = P.Reals.splat(0)
  let kinds: UnsafePointer<UInt8>
  var codes: UnsafeRawPointer
  var side: UnsafeRawPointer
  var x: UnsafeRawPointer
  let scales: UnsafePointer<Float>
  let sums: UnsafePointer<Float>
  let scratch: UnsafeMutableRawPointer

  @inline(__always) init(_ a: CKProduct, band: Int, token: Int) {
    let begin = unsafe a.codes + band &* a.codeTileBytes
    unsafe kinds = begin.assumingMemoryBound(to: UInt8.self)
    unsafe codes = begin + (a.chunkCount &+ 63) & ~63
    unsafe side = codes
    unsafe x = UnsafeRawPointer(a.activations + token &* a.activationStride)
    unsafe scales = a.activationScales + token &* a.activationScaleStride
    unsafe sums = a.groupSums + token &* a.groupSumStride
    unsafe scratch = a.scratch.unsafelyUnwrapped
  }

  @inline(__always) mutating func addTiles(_ a: CKProduct, isHDR: Bool) {
    let sideBytes = ASTCTile.sideBytes(isHDR: isHDR)
    var tile = 0
    while unsafe tile < a.chunkCount {
      let end = unsafe min(tile &+ ASTCTile.runTiles, a.chunkCount)
      unsafe side = codes + (end &- tile) &* ASTCTile.codeBytes
      while tile < end {
        // Kinds that many tiles have get loops of their own. The last loop of a profile takes all
        // bytes that are no kind as well: every round of this one advances, whatever the memory
        // holds. The rows' results are no numbers then; in HDR `gemvASTC` sees to that.
        while unsafe isHDR && P.pairsPalettes && tile &+ 1 < end
          && kinds[tile] & kinds[tile &+ 1] == 1 && kinds[tile] | kinds[tile &+ 1] == 1
        {
          unsafe prefetch()
          unsafe addTwoPalettes(tile)
          tile &+= 2
        }
        while unsafe tile < end && kinds[tile] == (isHDR ? 1 : 0) {
          unsafe prefetch()
          unsafe isHDR ? addPalette(tile) : addLine(tile, isHDR: false)
          unsafe advance(sideBytes)
          tile &+= 1
        }
        while unsafe tile < end && kinds[tile] == 2 {
          unsafe prefetch()
          unsafe addParts(a, tile, hasThree: false, isHDR: isHDR)
          unsafe advance(sideBytes)
          tile &+= 1
        }
        while unsafe tile < end && (isHDR ? kinds[tile] == 3 : kinds[tile] & 0xFD != 0) {
          unsafe prefetch()
          unsafe addParts(a, tile, hasThree: true, isHDR: isHDR)
          if unsafe !isHDR && kinds[tile] != 3 { unsafe total = .splat(.nan) }
          unsafe advance(sideBytes)
          tile &+= 1
        }
        while unsafe isHDR && tile < end && kinds[tile] &- 1 > 2 {
          unsafe addLine(tile, isHDR: true)
          unsafe advance(sideBytes)
          tile &+= 1
        }
      }
      // The next run begins behind the side records.
      unsafe codes = side
    }
  }

  @inline(__always) private func prefetch() {
    unsafe ck_prefetch(codes + prefetchDistance)
    unsafe ck_prefetch(codes + (prefetchDistance &+ 64))
    unsafe ck_prefetch(codes + (prefetchDistance &+ 128))
    unsafe ck_prefetch(side + prefetchDistance)
  }

  @inline(__always) private mutating func advance(_ sideBytes: Int) {
    unsafe codes += ASTCTile.codeBytes
    unsafe side += sideBytes
    unsafe x += ASTCTile.columns
  }

  @inline(__always)
  private mutating func add(_ sums: P.Reals, unit: P.Reals, _ tile: Int, isHDR: Bool) {
    let minimum = unsafe isHDR ? P.halves(side + 56) : .splat(0)
    let part = unsafe astcPart(
      P.self, sums, unit: unit, minimum: minimum, x: self.sums[tile], isHDR: isHDR)
    unsafe total = total + part * .splat(scales[tile])
  }

  /// Kind 0.
  @inline(__always) private mutating func addLine(_ tile: Int, isHDR: Bool) {
    let products = unsafe P.lineSums(codes, side, x, scratch)
    let line = unsafe P.line(side, center: isHDR ? 0 : ASTCTile.center)
    let sums = unsafe P.total(products, line, x: sums[tile])
    unsafe add(sums, unit: line.unit, tile, isHDR: isHDR)
  }

  /// Kind 1.
  @inline(__always) private mutating func addPalette(_ tile: Int) {
    let products = unsafe P.paletteSums(codes, side, x, scratch)
    let sums = unsafe P.total(products.sums, products.factors, x: sums[tile])
    unsafe add(sums, unit: products.factors.unit, tile, isHDR: true)
  }

  /// Kind 1, this tile and the next.
  @inline(__always) private mutating func addTwoPalettes(_ tile: Int) {
    let sideBytes = ASTCTile.sideBytes(isHDR: true)
    let products = unsafe P.twoPaletteSums(codes, side, x, scratch)
    let (first, second) = products.factors
    let low = unsafe P.total(products.sums.low, first, x: sums[tile])
    unsafe add(low, unit: first.unit, tile, isHDR: true)
    unsafe advance(sideBytes)
    unsafe prefetch()
    let high = unsafe P.total(products.sums.high, second, x: sums[tile &+ 1])
    unsafe add(high, unit: second.unit, tile &+ 1, isHDR: true)
    unsafe advance(sideBytes)
  }

  /// Kinds 2 and 3.
  @inline(__always)
  private mutating func addParts(_ a: CKProduct, _ tile: Int, hasThree: Bool, isHDR: Bool) {
    let products = unsafe P.partSums(
      codes, side, x, total: ASTCTile.integer(sums[tile]), center: isHDR ? 0 : ASTCTile.center,
      hasThree: hasThree, isHDR: isHDR, tables: a.tables.unsafelyUnwrapped, scratch: scratch)
    unsafe add(P.reals(products.sums), unit: products.unit, tile, isHDR: isHDR)
  }
}
