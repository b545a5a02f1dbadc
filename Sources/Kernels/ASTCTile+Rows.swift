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

  /// Two digits of all values of a tile of any kind, and each row's unit in HDR.
  ///
  /// Digits go to [2][9] steps of 64 bytes, `stride` bytes apart.
  @inline(__always)
  static func unpackDigits(
    _ kind: UInt8, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, isHDR: Bool,
    tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer,
    to digits: UnsafeMutableRawPointer, stride: Int, units: UnsafeMutableRawPointer
  ) {
    var row = 0
    while row < 16 {
      unsafe unpackDigits(
        row: row, kind, codes, side, isHDR: isHDR, tables: tables, scratch: scratch, to: digits,
        stride: stride, units: units)
      row &+= 1
    }
  }

  @inline(__always)
  private static func unpackDigits(
    row: Int, _ kind: UInt8, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, isHDR: Bool,
    tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer,
    to digits: UnsafeMutableRawPointer, stride: Int, units: UnsafeMutableRawPointer
  ) {
    let bits = unsafe byte(side, row) | byte(side, 16 &+ row) &<< 8
    let pair = unsafe (side + (32 &+ (row &* 3) &>> 1)).loadUnaligned(as: UInt16.self)
    let tag = kind < 2 ? 0 : Int(UInt16(littleEndian: pair) &>> (row & 1 == 0 ? 0 : 4)) & 0xFFF
    let isLogarithm = isHDR && (kind == 1 || tag == 4)
    var unit = fractionUnit
    if isLogarithm {
      let palette = ASTCPalette(low: bits & 0xFF, high: bits &>> 8)
      var code: UInt64 = 0
      while code < 6 {
        let q = Int32(truncatingIfNeeded: (palette.entries &>> (8 &* code)) & 0xFF)
        unsafe store(palette.base &+ q &<< palette.shift, Int(code), in: scratch)
        code &+= 1
      }
      unit = palette.unit
    } else {
      unsafe storeLines(row: row, tag: tag, bits, codes, tables: tables, in: scratch)
    }
    if isHDR { unsafe (units + row &* 4).storeBytes(of: unit, as: Float.self) }
    let hasPattern = tag & 3 != 0
    let pattern = unsafe pattern(tag, tables)
    var step = 0
    while step < steps {
      var high: UInt32 = 0
      var low: UInt32 = 0
      let codeBits = kind < 2 ? unsafe self.step(codes, side, row: row, step: step) : 0
      let vector = step / 3
      let digit = step &- 3 &* vector
      var column = 0
      while column < 4 {
        var place =
          Int(truncatingIfNeeded: codeBits &>> UInt64(truncatingIfNeeded: 3 &* column)) & 7
        if kind >= 2 {
          let triple = unsafe byte(codes, vector &* 64 &+ row &* 4 &+ column)
          let code: Int32
          if tag & 3 == 2 {
            code = triple &>> Int32(truncatingIfNeeded: 2 &* digit) & 3
          } else {
            // Exact below 216.
            let sixth = (triple &* 171) &>> 10
            let last = (triple &* 57) &>> 11
            code =
              digit == 0
              ? triple &- 6 &* sixth : digit == 1 ? sixth &- 6 &* last : last
          }
          place = Int(code)
          if hasPattern {
            unsafe place &+= Int(byte(pattern, 16 &* digit &+ 4 &* vector &+ column))
          }
        }
        let value = unsafe UInt32(
          scratch.load(fromByteOffset: 2 &* (place & 15), as: UInt16.self))
        let shift = UInt32(truncatingIfNeeded: 8 &* column)
        high |= (value &>> 7) &<< shift
        low |= (value & 127) &<< shift
        column &+= 1
      }
      let place = step &* stride &+ row &* 4
      unsafe (digits + place).storeBytes(of: high.littleEndian, as: UInt32.self)
      unsafe (digits + (place &+ steps &* stride)).storeBytes(
        of: low.littleEndian, as: UInt32.self)
      step &+= 1
    }
  }

  /// Where a block's 36 partitions stand, each the place at which its part of the palette begins; of
  /// no meaning with one partition.
  @inline(__always)
  private static func pattern(_ tag: Int, _ tables: UnsafeRawPointer) -> UnsafeRawPointer {
    let table = tag & 3 == 2 ? 1024 : 0
    let offset = (table &+ tag &>> 2) &* Int(CK_ASTC_PATTERN_BYTES)
    return unsafe tables + (Int(CK_ASTC_PATTERNS) &+ offset)
  }

  @inline(__always)
  private static func store(_ value: Int32, _ place: Int, in palette: UnsafeMutableRawPointer) {
    unsafe palette.storeBytes(
      of: UInt16(truncatingIfNeeded: value), toByteOffset: 2 &* place, as: UInt16.self)
  }

  /// 64 times the values of a block of one, two or three lines: 8 or 4 entries a partition.
  @inline(__always)
  private static func storeLines(
    row: Int, tag: Int, _ bits: Int32, _ codes: UnsafeRawPointer, tables: UnsafeRawPointer,
    in palette: UnsafeMutableRawPointer
  ) {
    switch tag & 3 {
    case 0:
      unsafe storeLine(bits & 0xFF, bits &>> 8, sixWeights, 6, at: 0, in: palette)
    case 2:
      var numbers = bits & 0x7FFF
      var vector = 0
      while vector < 3 {
        let place = vector &* 64 &+ row &* 4
        let low = unsafe byte(codes, place) &>> 6 | (byte(codes, place &+ 1) &>> 6) &<< 2
        let number = unsafe low | (byte(codes, place &+ 2) &>> 6) &<< 4
        numbers |= number &<< Int32(truncatingIfNeeded: 15 &+ 5 &* vector)
        vector &+= 1
      }
      var partition = 0
      while partition < 3 {
        let pair = numbers &>> Int32(truncatingIfNeeded: 10 &* partition)
        let v0 = unsafe byte(tables, Int(CK_ASTC_LEVELS20) &+ Int(pair & 31))
        let v1 = unsafe byte(tables, Int(CK_ASTC_LEVELS20) &+ Int(pair &>> 5 & 31))
        let ends = ends(v0, v1, hasOffset: bits & 0x8000 != 0)
        unsafe storeLine(ends.0, ends.1, fourWeights, 4, at: 4 &* partition, in: palette)
        partition &+= 1
      }
    default:
      var partition = 0
      while partition < 2 {
        let pair = bits &>> Int32(truncatingIfNeeded: 8 &* partition)
        let v0 = unsafe byte(tables, Int(CK_ASTC_LEVELS12) &+ Int(pair & 15))
        let v1 = unsafe byte(tables, Int(CK_ASTC_LEVELS12) &+ Int(pair &>> 4 & 15))
        let ends = ends(v0, v1, hasOffset: tag & 3 == 3)
        unsafe storeLine(ends.0, ends.1, fiveWeights, 5, at: 8 &* partition, in: palette)
        partition &+= 1
      }
    }
  }

  /// Both ends of a line; or its base and an offset, of which two bits are the base's.
  @inline(__always)
  private static func ends(_ v0: Int32, _ v1: Int32, hasOffset: Bool) -> (Int32, Int32) {
    guard hasOffset else { return (v0, v1) }
    let base = v0 &>> 2 | v1 & 0xC0
    return (base, min(base &+ v1 & 0x3F, 255))
  }

  @inline(__always)
  private static func storeLine(
    _ first: Int32, _ second: Int32, _ weights: UInt64, _ count: Int, at place: Int,
    in palette: UnsafeMutableRawPointer
  ) {
    var code = 0
    while code < count {
      let weight = Int32(
        truncatingIfNeeded: (weights &>> UInt64(truncatingIfNeeded: 8 &* code)) & 0xFF)
      unsafe store(64 &* first &+ (second &- first) &* weight, place &+ code, in: palette)
      code &+= 1
    }
  }
}
