// Pointers: every load and store below stays within the 64 bytes of codes (32 of binary16) and the
// 4 or 16 activations that its argument names; the callers pass tiles of that size.

/// Plain Swift for any CPU: a tile is vectors of at most 16 lanes, and small codes are summed in
/// 16 bits. No operation here becomes a call: vector conversions and fused multiply-adds would.
enum Portable: TilePrimitives {
  typealias Sums = SIMD16<Int32>
  typealias Reals = SIMD16<Float>
  typealias Bytes = Halves<SIMD16<UInt16>>
  typealias ByteTokens = OneToken<BytePanel>
  typealias SmallTokens = TwoTokens<SmallPanel>
  typealias FewByteTokens = OneToken<BytePanel>
  typealias FewSmallTokens = TwoTokens<SmallPanel>

  /// Two sums of 16 bits a row, for 16 rows.
  typealias Narrow = Halves<SIMD16<Int16>>

  @inline(__always) static var byteBias: Int32 { 0 }
  @inline(__always) static var zeroSums: Sums { .zero }
  @inline(__always) private static var zeroNarrow: Narrow { Narrow(low: .zero, high: .zero) }

  /// Activations 0 and 2, and 1 and 3, of four, in every row's two lanes.
  @inline(__always)
  private static func splat(_ x: UnsafeRawPointer) -> (even: SIMD16<Int16>, odd: SIMD16<Int16>) {
    let word = unsafe SIMD8<UInt32>(repeating: x.loadUnaligned(as: UInt32.self))
    // The same 32 bytes, as lanes of 16 bits.
    let lanes = unsafe unsafeBitCast(word, to: SIMD16<Int16>.self)
    let eight = SIMD16<Int16>(repeating: 8)
    return ((lanes &<< eight) &>> eight, lanes &>> eight)
  }

  /// The first or second 8 rows of a vector of codes.
  @inline(__always)
  private static func load(_ codes: UnsafeRawPointer, half: Int) -> SIMD16<UInt16> {
    unsafe codes.loadUnaligned(fromByteOffset: half &* 32, as: SIMD16<UInt16>.self)
  }

  /// Products of the byte field that `mask` selects in both bytes of a lane.
  @inline(__always)
  private static func product(
    _ codes: SIMD16<UInt16>, _ mask: UInt16, _ x: (even: SIMD16<Int16>, odd: SIMD16<Int16>)
  ) -> SIMD16<Int16> {
    let field = SIMD16<UInt16>(repeating: mask)
    let low = codes & field
    let high = (codes &>> SIMD16<UInt16>(repeating: 8)) & field
    // Codes are below 2^15: the same bits, signed.
    return unsafe unsafeBitCast(low, to: SIMD16<Int16>.self) &* x.even
      &+ unsafeBitCast(high, to: SIMD16<Int16>.self) &* x.odd
  }

  /// Products of signed bytes; 2·128·127 fits a lane.
  @inline(__always)
  private static func signedProduct(
    _ codes: SIMD16<UInt16>, _ x: (even: SIMD16<Int16>, odd: SIMD16<Int16>)
  ) -> SIMD16<Int16> {
    let lanes = unsafe unsafeBitCast(codes, to: SIMD16<Int16>.self)
    let eight = SIMD16<Int16>(repeating: 8)
    return ((lanes &<< eight) &>> eight) &* x.even &+ (lanes &>> eight) &* x.odd
  }

  /// The sum of each row's two lanes.
  @inline(__always) private static func widen(_ lanes: SIMD16<Int16>) -> SIMD8<Int32> {
    let rows = unsafe unsafeBitCast(lanes, to: SIMD8<Int32>.self)
    let sixteen = SIMD8<Int32>(repeating: 16)
    return (rows &>> sixteen) &+ ((rows &<< sixteen) &>> sixteen)
  }

  @inline(__always) private static func widen(_ narrow: Narrow) -> Sums {
    Sums(lowHalf: widen(narrow.low), highHalf: widen(narrow.high))
  }

  /// Each row's sum of four bytes' products, bytes up to 128: 2·128·127 fits a lane.
  @inline(__always)
  static func products(_ bytes: Halves<SIMD16<UInt16>>, _ x: UnsafeRawPointer) -> Sums {
    let splat = unsafe splat(x)
    return widen(
      Narrow(low: product(bytes.low, 0xFF, splat), high: product(bytes.high, 0xFF, splat)))
  }

  struct ByteQuad: QuadAccumulator {
    var sums: Sums
    @inline(__always) static var zero: Self { Self(sums: .zero) }

    @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
      let sign = SIMD16<UInt16>(repeating: 0x8080)
      var vector = 0
      while vector < 4 {
        let splat = unsafe Portable.splat(x + vector &* 4)
        let low = unsafe Portable.load(codes + vector &* 64, half: 0) ^ sign
        let high = unsafe Portable.load(codes + vector &* 64, half: 1) ^ sign
        sums &+= widen(
          Narrow(low: signedProduct(low, splat), high: signedProduct(high, splat)))
        vector &+= 1
      }
    }
  }

  struct NibbleQuad: QuadAccumulator {
    var sums: Sums
    @inline(__always) static var zero: Self { Self(sums: .zero) }

    @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
      var narrow = zeroNarrow
      var vector = 0
      while vector < 4 {
        let first = unsafe Portable.splat(x + vector &* 8)
        let second = unsafe Portable.splat(x + vector &* 8 + 4)
        let four = SIMD16<UInt16>(repeating: 4)
        let low = unsafe Portable.load(codes + vector &* 64, half: 0)
        narrow.low &+= product(low, 0x0F, first) &+ product(low &>> four, 0x0F, second)
        let high = unsafe Portable.load(codes + vector &* 64, half: 1)
        narrow.high &+= product(high, 0x0F, first) &+ product(high &>> four, 0x0F, second)
        vector &+= 1
      }
      sums &+= widen(narrow)
    }
  }

  struct PairQuad: QuadAccumulator {
    var sums: Sums
    @inline(__always) static var zero: Self { Self(sums: .zero) }

    @inline(__always) mutating func add(_ codes: UnsafeRawPointer, _ x: UnsafeRawPointer) {
      unsafe sums &+= Sums(lowHalf: rows(codes, half: 0, x), highHalf: rows(codes, half: 1, x))
    }

    /// 8 rows; every other field stays in place and is summed four times too large.
    @inline(__always)
    private func rows(
      _ codes: UnsafeRawPointer, half: Int, _ x: UnsafeRawPointer
    ) -> SIMD8<Int32> {
      var inPlace = SIMD16<Int16>.zero
      var sum = SIMD16<Int16>.zero
      var vector = 0
      while vector < 4 {
        let v = unsafe Portable.load(codes + vector &* 64, half: half)
        let w = v &>> SIMD16<UInt16>(repeating: 4)
        let p = unsafe x + vector &* 16
        unsafe sum &+= product(v, 0x03, splat(p)) &+ product(w, 0x03, splat(p + 8))
        unsafe inPlace &+= product(v, 0x0C, splat(p + 4)) &+ product(w, 0x0C, splat(p + 12))
        vector &+= 1
      }
      return widen(sum &+ (inPlace &>> SIMD16<Int16>(repeating: 2)))
    }
  }

  struct BytePanel: PanelAccumulator {
    var accumulator: Sums
    @inline(__always) static var tileCount: Int { 1 }
    @inline(__always) static func codes(_ tile: (Int) -> Bytes) -> Bytes { tile(0) }
    @inline(__always) static var zero: Self { Self(accumulator: .zero) }
    @inline(__always) static func runLength(maximumCode: Int) -> Int { 1 << 20 }

    @inline(__always) mutating func dot(_ codes: Halves<SIMD16<UInt16>>, _ x: UnsafeRawPointer) {
      let splat = unsafe Portable.splat(x)
      let low = signedProduct(codes.low, splat)
      let high = signedProduct(codes.high, splat)
      accumulator &+= widen(Narrow(low: low, high: high))
    }

    @inline(__always) func sums(tile: Int) -> Sums { accumulator }
  }

  struct SmallPanel: PanelAccumulator {
    var accumulator: Narrow
    @inline(__always) static var tileCount: Int { 1 }
    @inline(__always) static func codes(_ tile: (Int) -> Bytes) -> Bytes { tile(0) }
    @inline(__always) static var zero: Self { Self(accumulator: zeroNarrow) }
    @inline(__always) static func runLength(maximumCode: Int) -> Int {
      32767 / (2 * 127 * maximumCode) & ~15
    }

    @inline(__always) mutating func dot(_ codes: Halves<SIMD16<UInt16>>, _ x: UnsafeRawPointer) {
      let splat = unsafe Portable.splat(x)
      accumulator.low &+= product(codes.low, 0xFF, splat)
      accumulator.high &+= product(codes.high, 0xFF, splat)
    }

    @inline(__always) func sums(tile: Int) -> Sums { widen(accumulator) }
  }

  @inline(__always) static func bytes(_ codes: UnsafeRawPointer) -> Bytes {
    let sign = SIMD16<UInt16>(repeating: 0x8080)
    return unsafe Bytes(low: load(codes, half: 0) ^ sign, high: load(codes, half: 1) ^ sign)
  }

  @inline(__always) static func nibbles(_ codes: UnsafeRawPointer, field: Int) -> Bytes {
    unsafe fields(codes, bit: 4 &* field, mask: 0x0F0F)
  }

  @inline(__always) static func pairs(_ codes: UnsafeRawPointer, field: Int) -> Bytes {
    unsafe fields(codes, bit: 2 &* field, mask: 0x0303)
  }

  @inline(__always)
  private static func fields(_ codes: UnsafeRawPointer, bit: Int, mask: UInt16) -> Bytes {
    let shift = SIMD16<UInt16>(repeating: UInt16(truncatingIfNeeded: bit))
    let field = SIMD16<UInt16>(repeating: mask)
    return unsafe Bytes(
      low: (load(codes, half: 0) &>> shift) & field, high: (load(codes, half: 1) &>> shift) & field)
  }

  @inline(__always) static func add(_ a: Sums, _ b: Sums) -> Sums { a &+ b }

  @inline(__always)
  static func affine(_ a: Sums, multiplier: Int32, offset: Int32) -> Sums {
    // Multipliers are 1 and 2; a vector multiplication of 32 bits is slow on old CPUs.
    (multiplier == 2 ? a &+ a : a) &- Sums(repeating: offset)
  }

  @inline(__always) static func reals(_ a: Sums) -> Reals {
    var reals = Reals.zero
    var row = 0
    while row < 16 {
      reals[row] = Float(a[row])
      row &+= 1
    }
    return reals
  }

  @inline(__always) static func smallReals(_ a: Sums) -> Reals {
    // 1.5 · 2^23 plus the number, as bits: exact below 2^22.
    let shifted = a &+ Sums(repeating: 0x4B40_0000)
    return unsafe unsafeBitCast(shifted, to: Reals.self) - Reals(repeating: 12_582_912)
  }

  @inline(__always) static func halves(_ p: UnsafeRawPointer) -> Reals {
    Reals(
      lowHalf: SIMD8(
        lowHalf: unsafe fourHalves(p), highHalf: unsafe fourHalves(p + 8)),
      highHalf: SIMD8(
        lowHalf: unsafe fourHalves(p + 16), highHalf: unsafe fourHalves(p + 24)))
  }

  /// The bits moved into a binary32 and multiplied by 2^112, which also normalises what is
  /// subnormal; infinities and NaN get their exponent back.
  @inline(__always) private static func fourHalves(_ p: UnsafeRawPointer) -> SIMD4<Float> {
    let h = unsafe p.loadUnaligned(as: SIMD4<UInt16>.self)
    let bits = SIMD4<UInt32>(UInt32(h[0]), UInt32(h[1]), UInt32(h[2]), UInt32(h[3]))
    let magnitude = bits & SIMD4(repeating: 0x7FFF)
    let moved = magnitude &<< SIMD4<UInt32>(repeating: 13)
    let scaled = unsafe unsafeBitCast(moved, to: SIMD4<Float>.self) * SIMD4(repeating: 0x1p112)
    let special = SIMD4<UInt32>.zero.replacing(
      with: 0x7F80_0000, where: magnitude .>= SIMD4(repeating: 0x7C00))
    let sign = (bits & SIMD4(repeating: 0x8000)) &<< SIMD4<UInt32>(repeating: 16)
    return unsafe unsafeBitCast(
      unsafeBitCast(scaled, to: SIMD4<UInt32>.self) | special | sign, to: SIMD4<Float>.self)
  }
}
