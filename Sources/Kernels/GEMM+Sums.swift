import CKernels

// Pointers: as in GEMM.swift. Everything in the scratch begins at a multiple of 64.

/// A tile or two of rows, and the block of tokens that is multiplied with them at a time.
@unsafe struct GEMMPanel<Codes: PackedCodes> {
  /// What is summed of every token so far: [tokens][tiles][16], integers or reals.
  let accumulators: UnsafeMutableRawPointer
  /// Bytes of the strip at work: [steps][tiles][16 rows][4 columns].
  let strip: UnsafeMutableRawPointer
  /// Packed codes of the first tile.
  let codes: UnsafeRawPointer
  /// From there to the second tile. A panel's missing one repeats the last; its results go nowhere.
  let tileDistance: Int
  let tile: Int
  /// Tiles that are rows of this call: one less than the panel's at an odd end.
  let liveTileCount: Int
  let firstToken: Int
  let tokenCount: Int

  @inline(__always) static var stripSteps: Int { Int(CK_STRIP_COLUMNS) / 4 }
  /// Bytes of one step of 4 columns.
  @inline(__always) static var stepBytes: Int { Codes.Panel.tileCount &* 64 }

  @inline(__always) init(_ a: CKProduct, tile: Int, firstToken: Int) {
    let scratch = unsafe a.scratch.unsafelyUnwrapped
    unsafe accumulators = scratch
    unsafe strip = scratch + Int(CK_BLOCK_BYTES)
    unsafe codes = a.codes + tile &* a.codeTileBytes
    unsafe self.tile = tile
    unsafe liveTileCount = unsafe min(Codes.Panel.tileCount, a.tileEnd &- tile)
    unsafe tileDistance = unsafe liveTileCount > 1 ? a.codeTileBytes : 0
    unsafe self.firstToken = firstToken
    // What is left in equal blocks, of which the last is not much smaller.
    let left = unsafe a.tokenCount &- firstToken
    let limit = Int(CK_BLOCK_TOKENS)
    let blockCount = (left &+ limit &- 1) / limit
    unsafe tokenCount = left <= limit ? left : (left / blockCount &+ 3) & ~3
  }

  /// Where a token's accumulator of one tile lies; tokens are counted in the block.
  @inline(__always) func place(_ token: Int, _ part: Int) -> UnsafeMutableRawPointer {
    unsafe accumulators + (token &* Codes.Panel.tileCount &+ part) &* 64
  }

  /// Sets all accumulators to zero, which has the same bits as an integer and as a real.
  @inline(__always) func clear() {
    var i = 0
    while unsafe i < tokenCount &* Codes.Panel.tileCount {
      unsafe place(0, i).storeBytes(
        of: Codes.Primitives.zeroSums, as: Codes.Primitives.Sums.self)
      // Not a call of `memset`.
      ck_memory_order()
      i &+= 1
    }
  }
}

/// What becomes of the sums of a run, which is the steps between two times that the registers are
/// emptied.
protocol PanelSums {
  associatedtype Codes: PackedCodes
  /// Steps of a run: 16 or a multiple of it that divides a strip, or a group.
  static var runSteps: Int { get }
  /// Whether a run is a group, with scales.
  static var countsGroups: Bool { get }
  /// Adds the sums of the run that begins at a step to those of its tokens, which begin at a token of
  /// the block.
  static func add<Tokens: TokenTile>(
    _ tokens: Tokens, _ a: CKProduct, _ panel: GEMMPanel<Codes>, token: Int, step: Int
  ) where Tokens.Accumulator == Codes.Panel
  /// Stores the results of the block.
  static func finish(_ a: CKProduct, _ panel: GEMMPanel<Codes>)
}

/// Sums over all columns as integers; tokens have a scale each.
enum IntegerSums<Codes: PerTokenCodes>: PanelSums {
  typealias P = Codes.Primitives

  @inline(__always) static var runSteps: Int {
    Codes.Panel.runLength(maximumCode: Codes.maximumCode)
  }
  @inline(__always) static var countsGroups: Bool { false }

  @inline(__always)
  static func add<Tokens: TokenTile>(
    _ tokens: Tokens, _ a: CKProduct, _ panel: GEMMPanel<Codes>, token: Int, step: Int
  ) where Tokens.Accumulator == Codes.Panel {
    tokens.forEach(from: token) { index, accumulator in
      unsafe add(accumulator.sums(tile: 0), at: panel.place(index, 0))
      if Codes.Panel.tileCount == 2 {
        unsafe add(accumulator.sums(tile: 1), at: panel.place(index, 1))
      }
    }
  }

  @inline(__always) private static func add(_ sums: P.Sums, at place: UnsafeMutableRawPointer) {
    let total = unsafe P.add(place.load(as: P.Sums.self), sums)
    unsafe place.storeBytes(of: total, as: P.Sums.self)
  }

  @inline(__always) static func finish(_ a: CKProduct, _ panel: GEMMPanel<Codes>) {
    var index = 0
    while unsafe index < panel.tokenCount {
      let token = unsafe panel.firstToken &+ index
      let offset = unsafe Codes.zeroPoint &* a.tokenSums[token]
      let tokenScale = unsafe a.activationScales[token] * Codes.factor
      var part = 0
      while unsafe part < panel.liveTileCount {
        let tile = unsafe panel.tile &+ part
        let sums = unsafe panel.place(index, part).load(as: P.Sums.self)
        let scales = unsafe (a.scales + tile &* a.scaleTileBytes).loadUnaligned(as: P.Reals.self)
        let reals = P.reals(P.affine(sums, multiplier: Codes.multiplier, offset: offset))
        unsafe store(reals * scales * .splat(tokenScale), a, tile: tile, token: token)
        part &+= 1
      }
      index &+= 1
    }
  }
}

/// Sums of groups as reals; tokens have a scale per chunk of 64 columns.
enum GroupSums<Codes: PackedCodes, Scales: WeightScales>: PanelSums
where Codes.Primitives == Scales.Primitives {
  typealias P = Codes.Primitives

  @inline(__always) static var runSteps: Int { Codes.groupColumns / 4 }
  @inline(__always) static var countsGroups: Bool { true }

  @inline(__always)
  static func add<Tokens: TokenTile>(
    _ tokens: Tokens, _ a: CKProduct, _ panel: GEMMPanel<Codes>, token: Int, step: Int
  ) where Tokens.Accumulator == Codes.Panel {
    let group = step / runSteps
    let firstToken = unsafe panel.firstToken &+ token
    let sumsPerGroup = Codes.groupColumns / 32
    let groupSums = unsafe a.groupSums + (firstToken &* a.groupSumStride &+ group &* sumsPerGroup)
    let chunkScales =
      unsafe a.activationScales
      + (firstToken &* a.activationScaleStride &+ group &* Codes.groupColumns / 64)
    // A panel's missing tile takes the scales of the last one, like its codes.
    let first = unsafe scales(a, panel.tile, group)
    let second =
      unsafe Codes.Panel.tileCount == 1
      ? first : scales(a, panel.tile &+ panel.liveTileCount &- 1, group)
    tokens.forEach(from: 0) { index, accumulator in
      let offset = unsafe Scales.offset(groupSums + index &* a.groupSumStride)
      let factor = unsafe chunkScales[index &* a.activationScaleStride]
      unsafe add(
        accumulator.sums(tile: 0), first, offset, times: factor, at: panel.place(token &+ index, 0))
      if Codes.Panel.tileCount == 2 {
        unsafe add(
          accumulator.sums(tile: 1), second, offset, times: factor,
          at: panel.place(token &+ index, 1))
      }
    }
  }

  @inline(__always)
  private static func scales(_ a: CKProduct, _ tile: Int, _ group: Int) -> Scales.Scales {
    unsafe Scales.load(a.scales + (tile &* a.scaleTileBytes &+ group &* Scales.byteCount))
  }

  @inline(__always)
  private static func add(
    _ sums: P.Sums, _ scales: Scales.Scales, _ offset: Float, times factor: Float,
    at place: UnsafeMutableRawPointer
  ) {
    let part = Scales.apply(scales, P.smallReals(sums), offset: offset)
    let total = unsafe place.load(as: P.Reals.self) + part * .splat(factor)
    unsafe place.storeBytes(of: total, as: P.Reals.self)
  }

  @inline(__always) static func finish(_ a: CKProduct, _ panel: GEMMPanel<Codes>) {
    var index = 0
    while unsafe index < panel.tokenCount {
      var part = 0
      while unsafe part < panel.liveTileCount {
        let tile = unsafe panel.tile &+ part
        let total = unsafe panel.place(index, part).load(as: P.Reals.self)
        let result = unsafe Scales.finish(total, a.scales + tile &* a.scaleTileBytes)
        unsafe store(result, a, tile: tile, token: panel.firstToken &+ index)
        part &+= 1
      }
      index &+= 1
    }
  }
}
