import CKernels

// Pointers: the arguments describe the whole matrix, all tokens, the output and the scratch as the
// contract says; every address below is inside of one of them, by the loop bounds.

/// The sizes of a panel.
private enum ASTCPanelSize<P: ASTCPrimitives> {
  @inline(__always) static var bandCount: Int { P.ASTCPanel.tileCount }
  /// Bytes of one step.
  @inline(__always) static var stepBytes: Int { bandCount &* 64 }
  /// Bytes of all steps of a block: of four columns, or where they are wide of two.
  @inline(__always) static func byteCount(isWide: Bool) -> Int {
    (isWide ? ASTCTile.valueSteps : ASTCTile.steps) &* stepBytes
  }

  /// Bytes of a block's steps and of its numbers a row.
  @inline(__always) static func blockBytes(isWide: Bool, isHDR: Bool) -> Int {
    byteCount(isWide: isWide) &+ (isWide ? 0 : 2 &* stepBytes) &+ (isHDR ? 2 &* stepBytes : 0)
  }
}

/// One panel of ASTC: a band or two, unpacked over all columns in the thread's scratch.
///
/// A block of the panel is either bytes, [9 steps][bands][16 rows][4 columns], and slopes and bases
/// a row, or, where a band has partitions there, values less the center of 16 bits, [18 steps]
/// [bands][16 rows][2 columns]; in HDR units and minimums follow.
@unsafe private struct ASTCPanel<P: ASTCPrimitives> {
  typealias Size = ASTCPanelSize<P>

  /// Reals of the token tile at work: [tokens][bands][16].
  let accumulators: UnsafeMutableRawPointer
  /// A tile's working memory while it is unpacked; then activations of 16 bits.
  let tileScratch: UnsafeMutableRawPointer
  /// Whether a block has 16 bits a value, a byte each.
  let flags: UnsafeMutablePointer<UInt8>
  let blocks: UnsafeMutableRawPointer
  let band: Int
  /// Bands of this call: one less than the panel's at an odd end.
  let liveBandCount: Int

  @inline(__always) init(_ a: CKProduct, band: Int, isHDR: Bool) {
    let scratch = unsafe a.scratch.unsafelyUnwrapped
    let tileScratch = unsafe scratch + Int(CK_ACCUMULATOR_BYTES)
    unsafe accumulators = scratch
    unsafe self.tileScratch = tileScratch
    unsafe flags = (tileScratch + Int(CK_ASTC_TILE_BYTES)).assumingMemoryBound(to: UInt8.self)
    let flagBytes = unsafe (a.chunkCount &+ 63) & ~63
    unsafe blocks = tileScratch + (Int(CK_ASTC_TILE_BYTES) &+ flagBytes)
    unsafe self.band = band
    unsafe liveBandCount = unsafe min(Size.bandCount, a.tileEnd &- band)
    // A panel's missing band repeats the last one; its results go nowhere.
    let second = unsafe a.codes + (band &+ liveBandCount &- 1) &* a.codeTileBytes
    let first = unsafe a.codes + band &* a.codeTileBytes
    var to = unsafe blocks
    var block = 0
    while unsafe block < a.chunkCount {
      let isWide = unsafe max(Self.kind(first, block), Self.kind(second, block)) > 1
      unsafe flags[block] = isWide ? 1 : 0
      var part = 0
      while part < Size.bandCount {
        unsafe Self.unpack(
          a, part == 0 ? first : second, block, isWide: isWide, isHDR: isHDR, to + part &* 64,
          tileScratch)
        part &+= 1
      }
      unsafe to += Size.blockBytes(isWide: isWide, isHDR: isHDR)
      block &+= 1
    }
  }

  @inline(__always) private static func kind(_ band: UnsafeRawPointer, _ block: Int) -> UInt8 {
    unsafe band.load(fromByteOffset: block, as: UInt8.self)
  }

  /// One band's part of a block.
  @inline(__always)
  private static func unpack(
    _ a: CKProduct, _ band: UnsafeRawPointer, _ block: Int, isWide: Bool, isHDR: Bool,
    _ to: UnsafeMutableRawPointer, _ scratch: UnsafeMutableRawPointer
  ) {
    let sideBytes = ASTCTile.sideBytes(isHDR: isHDR)
    let run = block & ~7
    let count = unsafe min(8, a.chunkCount &- run)
    let begin = unsafe band + ((a.chunkCount &+ 63) & ~63 &+ run &* (192 &+ sideBytes))
    let codes = unsafe begin + (block &- run) &* ASTCTile.codeBytes
    let side = unsafe begin + (count &* ASTCTile.codeBytes &+ (block &- run) &* sideBytes)
    let kind = unsafe kind(band, block)
    let numbers = unsafe to + Size.byteCount(isWide: isWide)
    let center = isHDR ? 0 : ASTCTile.center
    if isWide {
      let unit = unsafe P.unpackValues(
        kind, codes, side, center: center, isHDR: isHDR, tables: a.tables.unsafelyUnwrapped,
        scratch: scratch, to: to, stride: Size.stepBytes)
      if isHDR {
        unsafe store(unit, numbers)
        unsafe store(P.halves(side + 56), numbers + Size.stepBytes)
      }
      return
    }
    let factors: ASTCFactors<P>
    if isHDR && kind == 1 {
      factors = unsafe P.unpackPalette(codes, side, to: to, stride: Size.stepBytes)
    } else {
      unsafe P.unpackLine(codes, side, to: to, stride: Size.stepBytes)
      factors = unsafe P.line(side, center: center)
    }
    unsafe store(factors.slope, numbers)
    unsafe store(factors.base, numbers + Size.stepBytes)
    if isHDR {
      unsafe store(factors.unit, numbers + 2 &* Size.stepBytes)
      unsafe store(P.halves(side + 56), numbers + 3 &* Size.stepBytes)
    }
  }

  @inline(__always)
  private static func store<Value: BitwiseCopyable>(
    _ value: Value, _ place: UnsafeMutableRawPointer
  ) {
    // Panels are 64-byte aligned; `storeBytes` would become a call here.
    unsafe place.assumingMemoryBound(to: Value.self).pointee = value
  }

  /// Where a token's accumulator of one band lies.
  @inline(__always) func place(_ token: Int, _ part: Int) -> UnsafeMutableRawPointer {
    unsafe accumulators + (token &* Size.bandCount &+ part) &* 64
  }
}

/// All rows of the call times all tokens.
@inline(__always)
func gemmASTC<P: ASTCPrimitives>(
  _: P.Type, isHDR: Bool, _ arguments: UnsafePointer<CKProduct>
) {
  let a = unsafe arguments.pointee
  var band = unsafe a.tileBegin
  while unsafe band < a.tileEnd {
    let panel = unsafe ASTCPanel<P>(a, band: band, isHDR: isHDR)
    var token = 0
    while unsafe token &+ P.ASTCTokens.tokenCount <= a.tokenCount {
      unsafe multiply(P.ASTCTokens.self, panel, a, token, isHDR: isHDR)
      token &+= P.ASTCTokens.tokenCount
    }
    while unsafe P.FewASTCTokens.tokenCount > 1
      && token &+ P.FewASTCTokens.tokenCount <= a.tokenCount
    {
      unsafe multiply(P.FewASTCTokens.self, panel, a, token, isHDR: isHDR)
      token &+= P.FewASTCTokens.tokenCount
    }
    while unsafe token < a.tokenCount {
      unsafe multiply(OneASTCToken<P.ASTCPanel>.self, panel, a, token, isHDR: isHDR)
      token &+= 1
    }
    var part = 0
    while unsafe part < panel.liveBandCount {
      if unsafe ASTCTile.hasUnknownKind(arguments, band: band &+ part, isHDR: isHDR) {
        token = 0
        while unsafe token < arguments.pointee.tokenCount {
          unsafe store(
            P.Reals.splat(.nan), arguments.pointee, tile: band &+ part, token: token)
          token &+= 1
        }
      }
      part &+= 1
    }
    band &+= P.ASTCPanel.tileCount
  }
}

/// The products of nine steps, in registers.
@inline(__always)
private func addSteps<Tokens: ASTCTokenTile>(
  _ tokens: inout Tokens, _ steps: UnsafeRawPointer, _ x: UnsafeRawPointer, stride: Int
) {
  typealias Step = Tokens.Accumulator.Step
  let stepBytes = Tokens.Accumulator.tileCount &* 64
  // Twelve addresses kept from step to step would not fit the registers: see `run` of GEMM.swift.
  @inline(__always) func place() -> Int { Tokens.tokenCount > 6 ? ck_unknown(stride) : stride }
  var step = 0
  while step < 9 {
    // Loads stay in their step: moved up, they take the registers of the accumulators.
    unsafe tokens.add(
      (steps + step &* stepBytes).loadUnaligned(as: Step.self), x + step &* 4, stride: place())
    ck_memory_order()
    unsafe tokens.add(
      (steps + (step &+ 1) &* stepBytes).loadUnaligned(as: Step.self), x + (step &* 4 &+ 4),
      stride: place())
    ck_memory_order()
    unsafe tokens.add(
      (steps + (step &+ 2) &* stepBytes).loadUnaligned(as: Step.self), x + (step &* 4 &+ 8),
      stride: place())
    ck_memory_order()
    step &+= 3
  }
}

/// The same of bytes up to 64, two steps at a time.
@inline(__always)
private func addPairs<Tokens: ASTCTokenTile>(
  _ tokens: inout Tokens, _ steps: UnsafeRawPointer, _ x: UnsafeRawPointer, stride: Int
) {
  typealias Step = Tokens.Accumulator.Step
  let stepBytes = Tokens.Accumulator.tileCount &* 64
  var step = 0
  while step < 8 {
    unsafe tokens.add(
      (steps + step &* stepBytes).loadUnaligned(as: Halves<Step>.self), x + step &* 4,
      stride: stride)
    ck_memory_order()
    unsafe tokens.add(
      (steps + (step &+ 2) &* stepBytes).loadUnaligned(as: Halves<Step>.self),
      x + (step &* 4 &+ 8), stride: stride)
    ck_memory_order()
    step &+= 4
  }
  unsafe tokens.add(
    (steps + 8 &* stepBytes).loadUnaligned(as: Step.self), x + 32, stride: stride)
}

/// The products of 18 steps of values.
@inline(__always)
private func addValues<Tokens: ASTCTokenTile>(
  _ tokens: inout Tokens, _ steps: UnsafeRawPointer, _ wide: UnsafeRawPointer
) {
  typealias Step = Tokens.Accumulator.Step
  let stepBytes = Tokens.Accumulator.tileCount &* 64
  var step = 0
  while step < ASTCTile.valueSteps {
    // As in `addSteps`; addresses of activations are one and a constant.
    unsafe tokens.addValues(
      (steps + step &* stepBytes).loadUnaligned(as: Step.self), wide + step &* 4,
      stride: ASTCTile.wideBytes)
    ck_memory_order()
    unsafe tokens.addValues(
      (steps + (step &+ 1) &* stepBytes).loadUnaligned(as: Step.self), wide + (step &* 4 &+ 4),
      stride: ASTCTile.wideBytes)
    ck_memory_order()
    step &+= 2
  }
}

/// One panel times one token tile, block after block.
@inline(__always)
private func multiply<P: ASTCPrimitives, Tokens: ASTCTokenTile>(
  _: Tokens.Type, _ panel: ASTCPanel<P>, _ a: CKProduct, _ token: Int, isHDR: Bool
) where Tokens.Accumulator == P.ASTCPanel {
  typealias Size = ASTCPanelSize<P>
  let wide = unsafe panel.tileScratch
  var steps = unsafe UnsafeRawPointer(panel.blocks)
  var x = unsafe UnsafeRawPointer(a.activations + token &* a.activationStride)
  var i = 0
  while i < Tokens.tokenCount &* Size.bandCount {
    unsafe panel.place(0, i).storeBytes(of: .splat(0), as: P.Reals.self)
    ck_memory_order()
    i &+= 1
  }
  var block = 0
  while unsafe block < a.chunkCount {
    let isWide = unsafe panel.flags[block] != 0
    var tokens = Tokens.zero
    if isWide {
      i = 0
      while i < Tokens.tokenCount {
        unsafe P.widen(x + i &* a.activationStride, to: wide + i &* ASTCTile.wideBytes)
        i &+= 1
      }
      unsafe addValues(&tokens, steps, wide)
      unsafe addBlock(tokens, panel, steps, a, token, block, isWide: true, isHDR: isHDR)
    } else {
      if !isHDR && P.ASTCPanel.addsPairs {
        unsafe addPairs(&tokens, steps, x, stride: a.activationStride)
      } else {
        unsafe addSteps(&tokens, steps, x, stride: a.activationStride)
      }
      unsafe addBlock(tokens, panel, steps, a, token, block, isWide: false, isHDR: isHDR)
    }
    unsafe steps += Size.blockBytes(isWide: isWide, isHDR: isHDR)
    unsafe x += ASTCTile.columns
    block &+= 1
  }
  i = 0
  while i < Tokens.tokenCount {
    var part = 0
    while unsafe part < panel.liveBandCount {
      let band = unsafe panel.band &+ part
      let total = unsafe panel.place(i, part).load(as: P.Reals.self)
      let scales = unsafe (a.scales + band &* a.scaleTileBytes).loadUnaligned(as: P.Reals.self)
      unsafe store(astcResult(total, scales, isHDR: isHDR), a, tile: band, token: token &+ i)
      part &+= 1
    }
    i &+= 1
  }
}

/// Adds a block's part to the reals of every token.
@inline(__always)
private func addBlock<P: ASTCPrimitives, Tokens: ASTCTokenTile>(
  _ tokens: Tokens, _ panel: ASTCPanel<P>, _ steps: UnsafeRawPointer, _ a: CKProduct,
  _ token: Int, _ block: Int, isWide: Bool, isHDR: Bool
) where Tokens.Accumulator == P.ASTCPanel {
  typealias Size = ASTCPanelSize<P>
  let numbers = unsafe steps + Size.byteCount(isWide: isWide)
  let sums = unsafe a.groupSums + (token &* a.groupSumStride &+ block)
  let scales = unsafe a.activationScales + (token &* a.activationScaleStride &+ block)
  @inline(__always) func add(_ index: Int, _ part: Int, _ products: P.Sums) {
    let x = unsafe sums[index &* a.groupSumStride]
    let place = unsafe numbers + part &* 64
    let total: P.Reals
    if isWide {
      total = P.reals(products)
    } else {
      let factors = unsafe ASTCFactors<P>(
        slope: place.loadUnaligned(as: P.Factors.self),
        base: (place + Size.stepBytes).loadUnaligned(as: P.Factors.self), unit: .splat(0))
      total = P.total(products, factors, x: x)
    }
    let rest = unsafe place + (isWide ? 0 : 2) &* Size.stepBytes
    let unit = unsafe isHDR ? rest.loadUnaligned(as: P.Reals.self) : .splat(0)
    let minimum =
      unsafe isHDR ? (rest + Size.stepBytes).loadUnaligned(as: P.Reals.self) : .splat(0)
    let piece = astcPart(P.self, total, unit: unit, minimum: minimum, x: x, isHDR: isHDR)
    let sum = unsafe panel.place(index, part).load(as: P.Reals.self)
    let scale = unsafe scales[index &* a.activationScaleStride]
    unsafe panel.place(index, part).storeBytes(of: sum + piece * .splat(scale), as: P.Reals.self)
    ck_memory_order()
  }
  tokens.forEach(from: 0) { index, accumulator in
    add(index, 0, accumulator.sums(tile: 0))
    if Size.bandCount == 2 { add(index, 1, accumulator.sums(tile: 1)) }
  }
}
