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

  /// Two digits of all values of a tile of any kind, and each row's unit in HDR.
  ///
  /// Digits go to [2][9] steps of 64 bytes, `stride` bytes apart.
  @inline(__always)
  static func unpackDigits<P: ASTCPrimitives>(
    _: P.Type, _ kind: UInt8, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, isHDR: Bool,
    tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer,
    to digits: UnsafeMutableRawPointer, stride: Int, units: UnsafeMutableRawPointer
  ) {
    let threes = unsafe storeRows(
      kind, codes, side, isHDR: isHDR, tables: tables, scratch: scratch, units: units)
    var row = 0
    while row < 16 {
      let lines = unsafe scratch.load(fromByteOffset: linesOffset &+ 4 &* row, as: Int32.self)
      if lines != ASTCLines.none {
        let pairs = unsafe scratch.load(fromByteOffset: pairsOffset &+ 8 &* row, as: UInt64.self)
        unsafe P.storePalette(pairs, lines, to: scratch + (palettesOffset &+ 32 &* row))
      }
      row &+= 1
    }
    if kind < 2 {
      row = 0
      while row < 16 {
        unsafe lookUpRow(row, codes, side, scratch: scratch, to: digits, stride: stride)
        row &+= 1
      }
    } else {
      unsafe P.lookUpDigits(codes, threes: threes, scratch: scratch, to: digits, stride: stride)
    }
  }

  /// What every row's palette is made of, where its pattern is and, in HDR, its unit; returns which
  /// rows have three partitions.
  @inline(__always)
  private static func storeRows(
    _ kind: UInt8, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer, isHDR: Bool,
    tables: UnsafeRawPointer, scratch: UnsafeMutableRawPointer, units: UnsafeMutableRawPointer
  ) -> UInt16 {
    var threes: UInt16 = 0
    var row = 0
    while row < 16 {
      let bits = unsafe byte(side, row) | byte(side, 16 &+ row) &<< 8
      let pair = unsafe (side + (32 &+ (row &* 3) &>> 1)).loadUnaligned(as: UInt16.self)
      let tag =
        kind < 2 ? 0 : Int(UInt16(littleEndian: pair) &>> (row & 1 == 0 ? 0 : 4)) & 0xFFF
      var unit = fractionUnit
      var pattern = Int(CK_ASTC_PATTERN_COUNT) &- 1
      var lines = ASTCLines.one
      var pairs = UInt64(truncatingIfNeeded: bits)
      if tag & 3 == 2 {
        lines = ASTCLines.three
        threes |= 1 &<< UInt16(truncatingIfNeeded: row)
        pattern = 1024 &+ tag &>> 2
        let table = unsafe tables + (Int(CK_ASTC_PAIRS20) &+ (bits & 0x8000 == 0 ? 0 : 2048))
        pairs = unsafe threePairs(bits, codes + row &* 4, table)
      } else if tag & 3 != 0 {
        lines = ASTCLines.two
        pattern = tag &>> 2
        let table = unsafe tables + (Int(CK_ASTC_PAIRS12) &+ (tag & 2 == 0 ? 0 : 512))
        pairs = unsafe ends(bits & 0xFF, table) | ends(bits &>> 8, table) &<< 16
      } else if unsafe isHDR && (kind == 1 ? isLogarithmic(side, row) : tag == 4) {
        lines = ASTCLines.none
        unit = unsafe storeLogarithms(bits, to: scratch + (palettesOffset &+ 32 &* row))
      }
      let place = unsafe tables + (Int(CK_ASTC_PATTERNS) &+ pattern &* Int(CK_ASTC_PATTERN_BYTES))
      unsafe scratch.storeBytes(
        of: place, toByteOffset: patternsOffset &+ 8 &* row, as: UnsafeRawPointer.self)
      unsafe scratch.storeBytes(of: pairs, toByteOffset: pairsOffset &+ 8 &* row, as: UInt64.self)
      unsafe scratch.storeBytes(of: lines, toByteOffset: linesOffset &+ 4 &* row, as: Int32.self)
      if isHDR { unsafe (units + row &* 4).storeBytes(of: unit, as: Float.self) }
      row &+= 1
    }
    return threes
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

  /// Digits of a row of kind 0 or 1.
  @inline(__always)
  private static func lookUpRow(
    _ row: Int, _ codes: UnsafeRawPointer, _ side: UnsafeRawPointer,
    scratch: UnsafeMutableRawPointer, to digits: UnsafeMutableRawPointer, stride: Int
  ) {
    let palette = unsafe scratch + (palettesOffset &+ 32 &* row)
    var step = 0
    while step < steps {
      let bits = unsafe self.step(codes, side, row: row, step: step)
      var word: UInt64 = 0
      var column: UInt64 = 0
      while column < 4 {
        let code = Int(truncatingIfNeeded: bits &>> (3 &* column)) & 7
        let value = unsafe palette.load(fromByteOffset: 2 &* code, as: UInt16.self)
        word |= (UInt64(value &>> 7) | UInt64(value & 127) &<< 32) &<< (8 &* column)
        column &+= 1
      }
      unsafe storeDigits(word, row, step, to: digits, stride: stride)
      step &+= 1
    }
  }

  /// Stores four high digits, and above them four low ones.
  @inline(__always)
  private static func storeDigits(
    _ word: UInt64, _ row: Int, _ step: Int, to digits: UnsafeMutableRawPointer, stride: Int
  ) {
    let place = unsafe digits + (step &* stride &+ row &* 4)
    unsafe place.storeBytes(
      of: UInt32(truncatingIfNeeded: word).littleEndian, as: UInt32.self)
    unsafe (place + steps &* stride).storeBytes(
      of: UInt32(truncatingIfNeeded: word &>> 32).littleEndian, as: UInt32.self)
  }

  /// `lookUpDigits` of any CPU.
  @inline(__always)
  static func lookUpTriples(
    _ codes: UnsafeRawPointer, threes: UInt16, scratch: UnsafeMutableRawPointer,
    to digits: UnsafeMutableRawPointer, stride: Int
  ) {
    var row = 0
    while row < 16 {
      let palette = unsafe scratch + (palettesOffset &+ 32 &* row)
      let pattern = unsafe (scratch + (patternsOffset &+ 8 &* row)).load(
        as: UnsafeRawPointer.self)
      let isThree = (threes &>> UInt16(truncatingIfNeeded: row)) & 1 != 0
      var vector = 0
      while vector < 3 {
        var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
        var column = 0
        while column < 4 {
          let triple = unsafe byte(codes, vector &* 64 &+ row &* 4 &+ column)
          // Exact below 216.
          let sixth = (triple &* 171) &>> 10
          let last = (triple &* 57) &>> 11
          let place = 4 &* vector &+ column
          let shift = UInt64(truncatingIfNeeded: 8 &* column)
          @inline(__always) func word(_ code: Int32, _ digit: Int) -> UInt64 {
            let entry = unsafe (Int(code) &+ Int(byte(pattern, 16 &* digit &+ place))) & 15
            let value = unsafe palette.load(fromByteOffset: 2 &* entry, as: UInt16.self)
            return (UInt64(value &>> 7) | UInt64(value & 127) &<< 32) &<< shift
          }
          words.0 |= word(isThree ? triple & 3 : triple &- 6 &* sixth, 0)
          words.1 |= word(isThree ? (triple &>> 2) & 3 : sixth &- 6 &* last, 1)
          words.2 |= word(isThree ? (triple &>> 4) & 3 : last, 2)
          column &+= 1
        }
        unsafe storeDigits(words.0, row, 3 &* vector, to: digits, stride: stride)
        unsafe storeDigits(words.1, row, 3 &* vector &+ 1, to: digits, stride: stride)
        unsafe storeDigits(words.2, row, 3 &* vector &+ 2, to: digits, stride: stride)
        vector &+= 1
      }
      row &+= 1
    }
  }

  /// `storePalette` of any CPU.
  @inline(__always)
  static func storeLines(
    _ pairs: UInt64, _ lines: Int32, to palette: UnsafeMutableRawPointer
  ) {
    let count = lines == ASTCLines.one ? 6 : lines == ASTCLines.two ? 10 : 12
    let weights =
      lines == ASTCLines.one ? sixWeights : lines == ASTCLines.two ? fiveWeights : fourWeights
    let length = lines == ASTCLines.one ? 6 : lines == ASTCLines.two ? 5 : 4
    let distance = lines == ASTCLines.three ? 4 : 8
    var code = 0
    var line = 0
    var entry = 0
    while entry < count {
      let ends = pairs &>> UInt64(truncatingIfNeeded: 16 &* line)
      let first = Int32(truncatingIfNeeded: ends & 0xFF)
      let second = Int32(truncatingIfNeeded: (ends &>> 8) & 0xFF)
      let weight = Int32(
        truncatingIfNeeded: (weights &>> UInt64(truncatingIfNeeded: 8 &* code)) & 0xFF)
      unsafe store(
        64 &* first &+ (second &- first) &* weight, distance &* line &+ code, in: palette)
      code &+= 1
      if code == length {
        code = 0
        line &+= 1
      }
      entry &+= 1
    }
  }
}
