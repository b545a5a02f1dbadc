import CKernels

// Pointers: codes and side records are those of a whole tile, tables and scratch as the contract
// says; every address below is inside of one of them: rows are below 16, steps below 9, codes below
// 8, seeds below 1024.

/// What a row's codes stand for, as integers: with six values of a logarithm, a base and multiples
/// of a power of two.
struct ASTCPalette {
  /// The value of code 0.
  var base: Int32
  /// The others are `base` + q · 2^shift.
  var shift: Int32
  /// q of the codes 0 to 5, a byte each; at most 128.
  var entries: UInt64
  /// The power of two that the values count.
  var unit: Float

  /// The palette of an HDR row from its two endpoint bytes.
  ///
  /// A row spans less than one octave of logarithms, so that all six values are integers below 4096
  /// in the smallest one's unit in the last place.
  @inline(__always) init(low v0: Int32, high v1: Int32) {
    let isCoarse = v0 >= 128
    let high = v1 & (isCoarse ? 0xE0 : 0xF0)
    let base = high &<< 4 | (v0 & 0x7F) &<< (isCoarse ? 2 : 1)
    let offset = (v1 &- high) &<< (isCoarse ? 2 : 1)
    let width = min(offset, 0xFFF &- base)
    let octave = base &>> 7
    let exponent = max(1, min(octave, 30))
    /// The binary16 of a place between both ends, in units of 2^(exponent − 25).
    @inline(__always) func value(_ weight: Int32) -> Int32 {
      let c = base &<< 4 &+ (width &* weight &+ 2) &>> 2
      let m = c & 0x7FF
      let bent = m < 512 ? 3 &* m : m < 1536 ? 4 &* m &- 512 : 5 &* m &- 2048
      let bits = min((c &>> 11) &<< 10 | bent &>> 3, 0x7BFF)
      let scale = bits &>> 10
      return scale == 0 ? bits : (bits & 0x3FF | 0x400) &<< (scale &- exponent)
    }
    let first = value(0)
    let top = value(64) &- first
    let bitWidth = Int32(truncatingIfNeeded: 32 &- top.leadingZeroBitCount)
    let shift = max(0, bitWidth &- 7)
    @inline(__always) func entry(_ code: UInt64, _ weight: Int32) -> UInt64 {
      let difference = value(weight) &- first
      let rounded = (difference &+ (1 &<< shift) &>> 1) &>> shift
      return UInt64(truncatingIfNeeded: rounded) &<< (8 &* code)
    }
    self.base = first
    self.shift = shift
    entries =
      entry(1, 64) | entry(2, 12) | entry(3, 52) | entry(4, 25) | entry(5, 39)
    unit = Float(bitPattern: UInt32(truncatingIfNeeded: exponent &+ 102) &<< 23)
  }
}

extension ASTCTile {
  /// The grid weights of six, five and four codes, a byte each.
  @inline(__always) static var sixWeights: UInt64 { 0x2719_340C_4000 }
  @inline(__always) static var fiveWeights: UInt64 { 0x40_3020_1000 }
  @inline(__always) static var fourWeights: UInt64 { 0x402B_1500 }

  @inline(__always)
  static func byte(_ p: UnsafeRawPointer, _ offset: Int) -> Int32 {
    Int32(unsafe p.load(fromByteOffset: offset, as: UInt8.self))
  }

  /// Whether a row of a tile of kind 1 is `oneHDR`; else it is `one`.
  @inline(__always)
  static func isLogarithmic(_ side: UnsafeRawPointer, _ row: Int) -> Bool {
    unsafe (byte(side, 88 &+ row &>> 3) &>> Int32(truncatingIfNeeded: row & 7)) & 1 != 0
  }

  /// The codes of one row's step in a tile of kind 0 or 1: 12 bits.
  @inline(__always)
  static func step(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, row: Int, step: Int
  ) -> UInt64 {
    let lane = row &>> 1
    let shift = UInt64(truncatingIfNeeded: row & 1 &* 12)
    if step == 8 {
      let place = unsafe side + (32 &+ 3 &* lane)
      let low = unsafe UInt64(UInt16(littleEndian: place.loadUnaligned(as: UInt16.self)))
      let high = unsafe UInt64(place.load(fromByteOffset: 2, as: UInt8.self))
      return (low | high &<< 16) &>> shift
    }
    let position = 24 &* step
    let word = position &>> 6
    let bit = UInt64(truncatingIfNeeded: position & 63)
    let place = unsafe codes + (word &* 64 &+ lane &* 8)
    var bits = unsafe UInt64(littleEndian: place.loadUnaligned(as: UInt64.self)) &>> bit
    if bit > 40 {
      bits |=
        unsafe UInt64(littleEndian: place.loadUnaligned(fromByteOffset: 64, as: UInt64.self))
        &<< (64 &- bit)
    }
    return bits &>> shift
  }

  /// Nine steps of bytes that the codes of a row of kind 0 or 1 stand for.
  @inline(__always)
  static func unpackRow(
    _ row: Int, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, _ entries: UInt64,
    to panel: UnsafeMutableRawPointer, stride: Int
  ) {
    var step = 0
    while step < steps {
      let bits = unsafe self.step(codes, side, row: row, step: step)
      @inline(__always) func entry(_ column: UInt64) -> UInt32 {
        let code = (bits &>> (3 &* column)) & 7
        return UInt32(truncatingIfNeeded: (entries &>> (8 &* code)) & 0xFF)
      }
      let word = entry(0) | entry(1) &<< 8 | entry(2) &<< 16 | entry(3) &<< 24
      unsafe (panel + (step &* stride &+ row &* 4)).storeBytes(
        of: word.littleEndian, as: UInt32.self)
      step &+= 1
    }
  }

  /// The values less `center` of a tile of kind 2 or 3, 16 bits each: 18 steps of two columns of 16
  /// rows, `stride` bytes apart; in HDR each row's unit too. `palette` has room for 32 bytes.
  @inline(__always)
  static func unpackRows(
    _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, center: Int32, isHDR: Bool,
    tables: UnsafeRawPointer, palette: UnsafeMutableRawPointer,
    to values: UnsafeMutableRawPointer, stride: Int, units: UnsafeMutableRawPointer
  ) {
    var row = 0
    while row < 16 {
      let bits = unsafe byte(side, row) | byte(side, 16 &+ row) &<< 8
      let pair = unsafe (side + (32 &+ (row &* 3) &>> 1)).loadUnaligned(as: UInt16.self)
      let tag = Int(UInt16(littleEndian: pair) &>> (row & 1 == 0 ? 0 : 4)) & 0xFFF
      let isThree = tag & 3 == 2
      var unit = fractionUnit
      // Of one partition no column is in another: zeros behind the patterns.
      var pattern = Int(CK_ASTC_PLANE_COUNT) &- 1
      if isThree {
        pattern = 1024 &+ tag &>> 2
        let table = unsafe tables + (Int(CK_ASTC_PAIRS20) &+ (bits & 0x8000 == 0 ? 0 : 2048))
        let pairs = unsafe threePairs(bits, codes + row &* 4, table)
        unsafe storeLines(pairs, fourWeights, length: 4, count: 3, center: center, to: palette)
      } else if tag & 3 != 0 {
        pattern = tag &>> 2
        let table = unsafe tables + (Int(CK_ASTC_PAIRS12) &+ (tag & 2 == 0 ? 0 : 512))
        let pairs = unsafe ends(bits & 0xFF, table) | ends(bits &>> 8, table) &<< 16
        unsafe storeLines(pairs, fiveWeights, length: 5, count: 2, center: center, to: palette)
      } else if isHDR && tag == 4 {
        unit = unsafe storeLogarithms(bits, to: palette)
      } else {
        let pairs = UInt64(truncatingIfNeeded: bits)
        unsafe storeLines(pairs, sixWeights, length: 6, count: 1, center: center, to: palette)
      }
      let planes = unsafe tables + (Int(CK_ASTC_PLANES) &+ pattern &* Int(CK_ASTC_PLANE_BYTES))
      unsafe lookUpRow(row, codes, palette, planes, isThree: isThree, to: values, stride: stride)
      if isHDR { unsafe (units + row &* 4).storeBytes(of: unit, as: Float.self) }
      row &+= 1
    }
  }

  /// The palette of an HDR row; returns its unit.
  @inline(__always)
  private static func storeLogarithms(
    _ bits: Int32, to place: UnsafeMutableRawPointer
  ) -> Float {
    let palette = ASTCPalette(low: bits & 0xFF, high: bits &>> 8)
    var code = 0
    while code < 6 {
      let q = palette.entries &>> UInt64(truncatingIfNeeded: 8 &* code)
      let value = palette.base &+ Int32(truncatingIfNeeded: q & 0xFF) &<< palette.shift
      unsafe store(value, code, in: place)
      code &+= 1
    }
    return palette.unit
  }

  @inline(__always)
  private static func store(_ value: Int32, _ place: Int, in palette: UnsafeMutableRawPointer) {
    unsafe palette.storeBytes(
      of: UInt16(truncatingIfNeeded: value), toByteOffset: 2 &* place, as: UInt16.self)
  }

  /// Both ends that a pair of stored numbers means.
  @inline(__always)
  private static func ends(_ numbers: Int32, _ table: UnsafeRawPointer) -> UInt64 {
    unsafe UInt64(
      UInt16(littleEndian: (table + 2 &* Int(numbers)).loadUnaligned(as: UInt16.self)))
  }

  /// Three pairs of ends: three numbers are the row's endpoint bits, three the upper bits of its
  /// codes.
  @inline(__always)
  private static func threePairs(
    _ bits: Int32, _ codes: UnsafeRawPointer, _ table: UnsafeRawPointer
  ) -> UInt64 {
    @inline(__always) func number(_ vector: Int) -> Int32 {
      let word = unsafe Int32(
        littleEndian: (codes + vector &* 64).loadUnaligned(as: Int32.self))
      return (word &>> 6) & 3 | (word &>> 12) & 12 | (word &>> 18) & 16
    }
    let second = (bits &>> 10) & 31 | number(0) &<< 5
    let third = number(1) | number(2) &<< 5
    let first = unsafe ends(bits & 1023, table)
    return unsafe first | ends(second, table) &<< 16 | ends(third, table) &<< 32
  }

  /// The palette of a row that is lines, of `length` values each, one behind the other.
  @inline(__always)
  private static func storeLines(
    _ pairs: UInt64, _ weights: UInt64, length: Int, count: Int, center: Int32,
    to palette: UnsafeMutableRawPointer
  ) {
    var line = 0
    while line < count {
      let ends = pairs &>> UInt64(truncatingIfNeeded: 16 &* line)
      let first = Int32(truncatingIfNeeded: ends & 0xFF)
      let second = Int32(truncatingIfNeeded: (ends &>> 8) & 0xFF)
      var code = 0
      while code < length {
        let weight = Int32(
          truncatingIfNeeded: (weights &>> UInt64(truncatingIfNeeded: 8 &* code)) & 0xFF)
        let value = 64 &* first &+ (second &- first) &* weight &- center
        unsafe store(value, length &* line &+ code, in: palette)
        code &+= 1
      }
      line &+= 1
    }
  }

  /// The values of a row from its palette; its pattern is 16 bytes of planes.
  @inline(__always)
  private static func lookUpRow(
    _ row: Int, _ codes: UnsafeRawPointer, _ palette: UnsafeRawPointer,
    _ planes: UnsafeRawPointer, isThree: Bool, to values: UnsafeMutableRawPointer, stride: Int
  ) {
    let length = isThree ? 4 : 5
    var column = 0
    while column < 12 {
      let (vector, i) = (column &>> 2, column & 3)
      let triple = unsafe byte(codes, vector &* 64 &+ row &* 4 &+ i)
      // Exact below 216.
      let sixth = (triple &* 171) &>> 10
      let last = (triple &* 57) &>> 11
      /// Step 0, 1 or 2 of the vector; bit 7 says whether its column is of partition 1 or 2.
      @inline(__always) func store(_ code: Int32, _ step: Int, _ one: Int32, _ two: Int32) {
        let partition = Int((one &>> 7) & 1 | (two &>> 6) & 2)
        let entry = (Int(code) &+ length &* partition) & 15
        let value = unsafe palette.load(fromByteOffset: 2 &* entry, as: UInt16.self)
        let place = (6 &* vector &+ 2 &* step &+ i &>> 1) &* stride &+ row &* 4
        unsafe values.storeBytes(of: value, toByteOffset: place &+ (i & 1) &* 2, as: UInt16.self)
      }
      let shift = Int32(truncatingIfNeeded: vector)
      let first = unsafe byte(planes, i) &<< (2 &* shift)
      let second = unsafe byte(planes, 8 &+ i) &<< (2 &* shift)
      let thirds = unsafe byte(planes, 4 &+ i) &<< shift
      store(isThree ? triple & 3 : triple &- 6 &* sixth, 0, first, second)
      store(isThree ? (triple &>> 2) & 3 : sixth &- 6 &* last, 1, first &<< 1, second &<< 1)
      store(isThree ? (triple &>> 4) & 3 : last, 2, thirds, thirds &<< 4)
      column &+= 1
    }
  }
}
