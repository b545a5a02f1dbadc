import CKernels

// Pointers: the arguments describe the whole matrix, all tokens, the output and the scratch as the
// contract says; every address below is inside of one of them, by the loop bounds.

/// One panel: a tile or two of rows, unpacked to bytes over all columns in the thread's scratch, so
/// that every token tile after the first finds it in cache.
@unsafe private struct Panel<Codes: PackedCodes> {
  /// Sums or reals of the token tile at work: [tokens][tiles][16].
  let accumulators: UnsafeMutableRawPointer
  /// [steps][tiles][64].
  let codes: UnsafeMutableRawPointer
  let tile: Int
  /// Tiles that are rows of this call: one less than the panel's at an odd end.
  let liveTileCount: Int

  /// Bytes of one step of 4 columns.
  @inline(__always) static var stepBytes: Int { Codes.Panel.tileCount &* 64 }

  @inline(__always) init(_ a: CKProduct, tile: Int) {
    let scratch = unsafe a.scratch.unsafelyUnwrapped
    unsafe accumulators = scratch
    unsafe codes = scratch + Int(CK_ACCUMULATOR_BYTES)
    unsafe self.tile = tile
    unsafe liveTileCount = unsafe min(Codes.Panel.tileCount, a.tileEnd &- tile)
    let quadBytes = unsafe Codes.quadColumns / 4 &* Self.stepBytes
    let quadCount = unsafe a.chunkCount &* 64 / Codes.quadColumns
    var part = 0
    while part < Codes.Panel.tileCount {
      // A panel's missing tile repeats the last one; its results go nowhere.
      let source = min(tile &+ part, unsafe a.tileEnd &- 1)
      var from = unsafe a.codes + source &* a.codeTileBytes
      var to = unsafe codes + part &* 64
      var quad = 0
      while quad < quadCount {
        unsafe Codes.unpack(from, to: to, stride: Self.stepBytes)
        unsafe from += 256
        unsafe to += quadBytes
        quad &+= 1
      }
      part &+= 1
    }
  }

  /// Sets the accumulators of the first tokens, all 64 bytes of each tile's.
  @inline(__always) func clear<Vector: BitwiseCopyable>(_ tokenCount: Int, _ zero: Vector) {
    var i = 0
    while i < tokenCount &* Codes.Panel.tileCount {
      unsafe place(0, i).storeBytes(of: zero, as: Vector.self)
      ck_memory_order()
      i &+= 1
    }
  }

  /// Where a token's accumulator of one tile lies.
  @inline(__always) func place(_ token: Int, _ part: Int) -> UnsafeMutableRawPointer {
    unsafe accumulators + (token &* Codes.Panel.tileCount &+ part) &* 64
  }
}

/// The products of `stepCount` steps, a multiple of 4, in registers.
@inline(__always)
private func run<Tokens: TokenTile>(
  _: Tokens.Type, _ panel: UnsafeRawPointer, _ activations: UnsafeRawPointer, stride: Int,
  stepCount: Int, recomputingAddresses: Bool = false
) -> Tokens {
  // Twelve addresses kept from step to step would not fit the registers of a loop that also has
  // groups to count; additions are cheaper than the stack.
  let recomputes = recomputingAddresses && Tokens.tokenCount > 6
  @inline(__always) func place() -> Int { recomputes ? ck_unknown(stride) : stride }
  var tokens = Tokens.zero
  var codes = unsafe panel
  var x = unsafe activations
  typealias Codes = Tokens.Accumulator.Codes
  let stepBytes = Tokens.Accumulator.tileCount &* 64
  var step = 0
  while step < stepCount {
    // Loads stay in their step: moved up, they take the registers of the accumulators.
    unsafe tokens.dot(codes.loadUnaligned(as: Codes.self), x, stride: place())
    ck_memory_order()
    unsafe tokens.dot((codes + stepBytes).loadUnaligned(as: Codes.self), x + 4, stride: place())
    ck_memory_order()
    unsafe tokens.dot(
      (codes + 2 &* stepBytes).loadUnaligned(as: Codes.self), x + 8, stride: place())
    ck_memory_order()
    unsafe tokens.dot(
      (codes + 3 &* stepBytes).loadUnaligned(as: Codes.self), x + 12, stride: place())
    ck_memory_order()
    unsafe codes += 4 &* stepBytes
    unsafe x += 16
    step &+= 4
  }
  return tokens
}

/// Adds sums to those at a place.
@inline(__always)
private func add<P: TilePrimitives>(
  _ sums: P.Sums, at place: UnsafeMutableRawPointer, _: P.Type
) {
  let total = unsafe P.add(place.load(as: P.Sums.self), sums)
  unsafe place.storeBytes(of: total, as: P.Sums.self)
}

/// Adds a group's part to the reals at a place.
@inline(__always)
private func add<Scales: WeightScales>(
  _ sums: Scales.Primitives.Sums, _ scales: Scales.Scales, _ offset: Float, times factor: Float,
  at place: UnsafeMutableRawPointer, _: Scales.Type
) {
  typealias P = Scales.Primitives
  let part = Scales.apply(scales, P.smallReals(sums), offset: offset)
  let total = unsafe place.load(as: P.Reals.self) + part * .splat(factor)
  unsafe place.storeBytes(of: total, as: P.Reals.self)
}

/// All rows of the call times all tokens, which have a scale each.
@inline(__always)
func gemmPerToken<Codes: PerTokenCodes>(_: Codes.Type, _ arguments: UnsafePointer<CKProduct>) {
  let a = unsafe arguments.pointee
  var tile = unsafe a.tileBegin
  while unsafe tile < a.tileEnd {
    let panel = unsafe Panel<Codes>(a, tile: tile)
    var token = 0
    while unsafe token &+ Codes.Tokens.tokenCount <= a.tokenCount {
      unsafe multiplyPerToken(Codes.self, Codes.Tokens.self, panel, a, token)
      token &+= Codes.Tokens.tokenCount
    }
    while unsafe Codes.FewTokens.tokenCount > 1
      && token &+ Codes.FewTokens.tokenCount <= a.tokenCount
    {
      unsafe multiplyPerToken(Codes.self, Codes.FewTokens.self, panel, a, token)
      token &+= Codes.FewTokens.tokenCount
    }
    while unsafe token < a.tokenCount {
      unsafe multiplyPerToken(Codes.self, OneToken<Codes.Panel>.self, panel, a, token)
      token &+= 1
    }
    tile &+= Codes.Panel.tileCount
  }
}

/// One panel times one token tile.
@inline(__always)
private func multiplyPerToken<Codes: PerTokenCodes, Tokens: TokenTile>(
  _: Codes.Type, _: Tokens.Type, _ panel: Panel<Codes>, _ a: CKProduct, _ token: Int
) where Tokens.Accumulator == Codes.Panel {
  typealias P = Codes.Primitives
  let stepCount = unsafe a.chunkCount &* 16
  let runLength = Codes.Panel.runLength(maximumCode: Codes.maximumCode)
  let x = unsafe UnsafeRawPointer(a.activations + token &* a.activationStride)
  unsafe panel.clear(Tokens.tokenCount, P.zeroSums)
  var step = 0
  while step < stepCount {
    let count = min(runLength, stepCount &- step)
    let tokens = unsafe run(
      Tokens.self, panel.codes + step &* Panel<Codes>.stepBytes, x + step &* 4,
      stride: a.activationStride, stepCount: count)
    tokens.forEach(from: 0) { index, accumulator in
      unsafe add(accumulator.sums(tile: 0), at: panel.place(index, 0), P.self)
      if Codes.Panel.tileCount == 2 {
        unsafe add(accumulator.sums(tile: 1), at: panel.place(index, 1), P.self)
      }
    }
    step &+= count
  }
  var index = 0
  while index < Tokens.tokenCount {
    let offset = unsafe Codes.zeroPoint &* a.tokenSums[token &+ index]
    let tokenScale = unsafe a.activationScales[token &+ index] * Codes.factor
    var part = 0
    while unsafe part < panel.liveTileCount {
      let tile = unsafe panel.tile &+ part
      let sums = unsafe panel.place(index, part).load(as: P.Sums.self)
      let scales = unsafe (a.scales + tile &* a.scaleTileBytes).loadUnaligned(as: P.Reals.self)
      let reals = P.reals(P.affine(sums, multiplier: Codes.multiplier, offset: offset))
      unsafe store(reals * scales * .splat(tokenScale), a, tile: tile, token: token &+ index)
      part &+= 1
    }
    index &+= 1
  }
}

/// All rows of the call times all tokens, which have a scale per chunk of 64 columns.
@inline(__always)
func gemmPerChunk<Codes: PackedCodes, Scales: WeightScales>(
  _: Codes.Type, _: Scales.Type, _ arguments: UnsafePointer<CKProduct>
) where Codes.Primitives == Scales.Primitives {
  let a = unsafe arguments.pointee
  var tile = unsafe a.tileBegin
  while unsafe tile < a.tileEnd {
    let panel = unsafe Panel<Codes>(a, tile: tile)
    var token = 0
    while unsafe token &+ Codes.Tokens.tokenCount <= a.tokenCount {
      unsafe multiplyPerChunk(Codes.self, Scales.self, Codes.Tokens.self, panel, a, token)
      token &+= Codes.Tokens.tokenCount
    }
    while unsafe Codes.FewTokens.tokenCount > 1
      && token &+ Codes.FewTokens.tokenCount <= a.tokenCount
    {
      unsafe multiplyPerChunk(Codes.self, Scales.self, Codes.FewTokens.self, panel, a, token)
      token &+= Codes.FewTokens.tokenCount
    }
    while unsafe token < a.tokenCount {
      unsafe multiplyPerChunk(
        Codes.self, Scales.self, OneToken<Codes.Panel>.self, panel, a, token)
      token &+= 1
    }
    tile &+= Codes.Panel.tileCount
  }
}

/// One panel times one token tile; a run is a group.
@inline(__always)
private func multiplyPerChunk<Codes: PackedCodes, Scales: WeightScales, Tokens: TokenTile>(
  _: Codes.Type, _: Scales.Type, _: Tokens.Type, _ panel: Panel<Codes>, _ a: CKProduct,
  _ token: Int
) where Tokens.Accumulator == Codes.Panel, Codes.Primitives == Scales.Primitives {
  typealias P = Codes.Primitives
  let groupCount = unsafe a.chunkCount &* 64 / Codes.groupColumns
  let groupSteps = Codes.groupColumns / 4
  let sumsPerGroup = Codes.groupColumns / 32
  var codes = unsafe UnsafeRawPointer(panel.codes)
  var x = unsafe UnsafeRawPointer(a.activations + token &* a.activationStride)
  unsafe panel.clear(Tokens.tokenCount, P.Reals.splat(0))
  var group = 0
  while group < groupCount {
    let tokens = unsafe run(
      Tokens.self, codes, x, stride: a.activationStride, stepCount: groupSteps,
      recomputingAddresses: true)
    let sumsBegin = unsafe a.groupSums + (token &* a.groupSumStride &+ group &* sumsPerGroup)
    // A panel's missing tile takes the scales of the last one, like its codes.
    let first = unsafe Scales.load(
      a.scales + (panel.tile &* a.scaleTileBytes &+ group &* Scales.byteCount))
    let second =
      unsafe Codes.Panel.tileCount == 1
      ? first
      : Scales.load(
        a.scales
          + ((panel.tile &+ panel.liveTileCount &- 1) &* a.scaleTileBytes
            &+ group &* Scales.byteCount))
    let chunkScales =
      unsafe a.activationScales
      + (token &* a.activationScaleStride &+ group &* Codes.groupColumns / 64)
    tokens.forEach(from: 0) { index, accumulator in
      let offset = unsafe Scales.offset(sumsBegin + index &* a.groupSumStride)
      let factor = unsafe chunkScales[index &* a.activationScaleStride]
      unsafe add(
        accumulator.sums(tile: 0), first, offset, times: factor, at: panel.place(index, 0),
        Scales.self)
      if Codes.Panel.tileCount == 2 {
        unsafe add(
          accumulator.sums(tile: 1), second, offset, times: factor, at: panel.place(index, 1),
          Scales.self)
      }
    }
    unsafe codes += groupSteps &* Panel<Codes>.stepBytes
    unsafe x += Codes.groupColumns
    group &+= 1
  }
  var index = 0
  while index < Tokens.tokenCount {
    var part = 0
    while unsafe part < panel.liveTileCount {
      let tile = unsafe panel.tile &+ part
      let total = unsafe panel.place(index, part).load(as: P.Reals.self)
      let result = unsafe Scales.finish(total, a.scales + tile &* a.scaleTileBytes)
      unsafe store(result, a, tile: tile, token: token &+ index)
      part &+= 1
    }
    index &+= 1
  }
}
