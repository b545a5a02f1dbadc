import PackedFormats
import TestSupport
import Testing

/// The layout against its specification, byte by byte, and its way back.
@Suite struct RowTileLayoutTests {
  static let formats = WeightFormat.allCases.filter(RowTileLayout.holds)

  /// Planes of one matrix in both forms.
  struct Matrix {
    let layout: RowTileLayout
    var codes: [UInt8]
    var scales: [UInt8]
    var minimums: [UInt8]

    init(_ format: WeightFormat, rows: Int, columns: Int, seed: UInt64) throws {
      layout = try #require(RowTileLayout(format: format, rows: rows, columns: columns))
      var generator = SeededGenerator(seed: seed)
      func plane(_ plane: Plane) -> [UInt8] {
        let count = format.byteCount(of: plane, rows: rows, columns: columns) ?? 0
        return (0..<count).map { _ in .random(in: 0...255, using: &generator) }
      }
      (codes, scales, minimums) = (plane(.codes), plane(.scales), plane(.minimums))
      let bits = columns * (format.codeBitCount ?? 0)
      guard bits % 8 != 0 else { return }
      for row in 1...rows { codes[row * ((bits + 7) / 8) - 1] &= (1 << UInt8(bits % 8)) - 1 }
    }

    func code(_ row: Int, _ column: Int) -> UInt8 {
      let bits = layout.format.codeBitCount ?? 0
      let rowBytes = (layout.columns * bits + 7) / 8
      let byte = codes[row * rowBytes + column * bits / 8]
      return byte >> UInt8(column * bits % 8) & UInt8((1 << bits) - 1)
    }

    /// Where the specification puts the code of a row and column, and how far up in the byte.
    func place(_ row: Int, _ column: Int) -> (byte: Int, shift: Int) {
      let bits = layout.format.codeBitCount ?? 0
      let perByte = 8 / bits
      let step = column / (4 * perByte)
      return (
        row / 16 * layout.codeTileBytes + step * 64 + row % 16 * 4 + column % 4,
        column / 4 % perByte * bits
      )
    }

    /// Codes brought in pieces that end at those offsets.
    func interleaved(cuts: [Int]) -> [UInt8] {
      var storage = [UInt8](repeating: 0, count: layout.byteCount(of: .codes))
      // The storage has the layout's byte count, the pieces are parts of the plane.
      unsafe storage.withUnsafeMutableBytes { storage in
        guard let base = storage.baseAddress else { return }
        var start = 0
        for end in cuts + [codes.count] {
          let fault = unsafe codes.withUnsafeBytes {
            unsafe layout.interleaveCodes(
              UnsafeRawBufferPointer(rebasing: $0[start..<end]), at: start, into: base)
          }
          #expect(fault == nil)
          start = end
        }
        for cut in cuts {
          let fault = unsafe layout.stitch(
            at: cut, before: codes[max(0, cut - 4)..<cut],
            after: codes[cut..<min(codes.count, cut + 4)], into: base)
          #expect(fault == nil)
        }
      }
      return storage
    }
  }

  static let shapes = [
    (1, 1), (3, 5), (16, 64), (17, 65), (33, 100), (5, 130), (16, 16), (64, 31), (40, 333),
  ]

  @Test(arguments: formats)
  func codesLieWhereTheSpecificationSays(format: WeightFormat) throws {
    for (rows, columns) in Self.shapes {
      let matrix = try Matrix(format, rows: rows, columns: columns, seed: 7)
      let stored = matrix.interleaved(cuts: [])
      let bits = format.codeBitCount ?? 0
      // What no code lies in is zero, but for the flipped sign bits of a started word.
      var rest = stored
      for row in 0..<rows {
        for column in 0..<columns {
          let (byte, shift) = matrix.place(row, column)
          let flip: UInt8 = bits == 8 ? 0x80 : 0
          let mask = UInt8((1 << bits) - 1)
          #expect((stored[byte] ^ flip) >> UInt8(shift) & mask == matrix.code(row, column))
          rest[byte] &= ~(mask << UInt8(shift))
        }
      }
      #expect(rest.allSatisfy { $0 == 0 || (bits == 8 && $0 == 0x80) })
    }
  }

  @Test(arguments: formats)
  func piecesOfAnyLengthGiveTheSameBytes(format: WeightFormat) throws {
    for (rows, columns) in Self.shapes + [(100, 201), (48, 64), (70, 13)] {
      let matrix = try Matrix(format, rows: rows, columns: columns, seed: 8)
      let whole = matrix.interleaved(cuts: [])
      var generator = SeededGenerator(seed: UInt64(rows * 1000 + columns))
      // As in files, no piece but the last is shorter than a word.
      for _ in 0..<8 {
        var cuts: [Int] = []
        var cut = 0
        while true {
          cut += .random(in: 4...max(5, matrix.codes.count / 3), using: &generator)
          guard cut < matrix.codes.count else { break }
          cuts.append(cut)
        }
        #expect(matrix.interleaved(cuts: cuts) == whole, "\(rows)x\(columns) \(cuts)")
      }
    }
  }

  @Test(arguments: formats)
  func numbersComeBackFromPieces(format: WeightFormat) throws {
    for (rows, columns) in Self.shapes {
      let matrix = try Matrix(format, rows: rows, columns: columns, seed: 9)
      var storage = [UInt8](repeating: 0, count: matrix.layout.byteCount(of: .scales))
      let width = format.groupSize == nil ? 4 : 2
      var back: [Plane: [UInt8]] = [:]
      // The storage has the layout's byte count, the pieces are whole numbers of the planes.
      unsafe storage.withUnsafeMutableBytes { storage in
        guard let base = storage.baseAddress else { return }
        for (plane, bytes) in [(Plane.scales, matrix.scales), (.minimums, matrix.minimums)]
        where format.planes.contains(plane) {
          let middle = bytes.count / width / 3 * width
          for range in [0..<middle, middle..<bytes.count] where !range.isEmpty {
            unsafe bytes.withUnsafeBytes {
              unsafe matrix.layout.interleaveScales(
                UnsafeRawBufferPointer(rebasing: $0[range]), of: plane, at: range.lowerBound,
                into: base)
            }
          }
          var plain = [UInt8](repeating: 0, count: bytes.count)
          unsafe plain.withUnsafeMutableBytes { plain in
            for tile in 0..<matrix.layout.tileCount {
              unsafe matrix.layout.deinterleaveScales(
                UnsafeRawPointer(base), part: plane == .scales ? 0 : 1, into: plain, tile: tile)
            }
          }
          back[plane] = plain
        }
      }
      #expect(back[.scales] == matrix.scales)
      #expect(back[.minimums] ?? [] == matrix.minimums)
    }
  }

  @Test(arguments: formats)
  func wholePlanesComeBack(format: WeightFormat) throws {
    for (rows, columns) in Self.shapes {
      let matrix = try Matrix(format, rows: rows, columns: columns, seed: 10)
      let tiles = try matrix.layout.interleaved(
        codes: matrix.codes, scales: matrix.scales, minimums: matrix.minimums)
      let planes = try matrix.layout.canonical(codes: tiles.codes, scales: tiles.scales)
      #expect(planes[.codes] == matrix.codes)
      #expect(planes[.scales] == matrix.scales)
      #expect(planes[.minimums] ?? [] == matrix.minimums)
    }
  }

  /// The fault that validating finds after a change of one byte; nil for legal tiles.
  private static func fault(
    _ matrix: Matrix, codes: (inout [UInt8]) -> Void = { _ in },
    scales: (inout [UInt8]) -> Void = { _ in }
  ) throws -> PackedFormatError.Reason? {
    var tiles = try matrix.layout.interleaved(
      codes: matrix.codes, scales: matrix.scales, minimums: matrix.minimums)
    codes(&tiles.codes)
    scales(&tiles.scales)
    do {
      // Bytes have no padding.
      try unsafe matrix.layout.validate(
        codes: tiles.codes.span.bytes, scales: tiles.scales.span.bytes,
        tiles: 0..<matrix.layout.tileCount)
      return nil
    } catch {
      return error.reason
    }
  }

  /// Legal numbers, so that only what a test changes is at fault.
  private static func legal(_ format: WeightFormat, rows: Int, columns: Int) throws -> Matrix {
    var matrix = try Matrix(format, rows: rows, columns: columns, seed: 11)
    let width = format.groupSize == nil ? 4 : 2
    for index in stride(from: width - 1, to: matrix.scales.count, by: width) {
      matrix.scales[index] = 0x3C
    }
    for index in stride(from: 1, to: matrix.minimums.count, by: 2) { matrix.minimums[index] = 0xBC }
    if format.codeBitCount == 8 { matrix.codes = matrix.codes.map { $0 == 0x80 ? 1 : $0 } }
    return matrix
  }

  @Test(arguments: formats)
  func whatTilesMustNotHoldIsFound(format: WeightFormat) throws {
    let width = format.groupSize == nil ? 4 : 2
    for (rows, columns) in [(33, 70), (16, 64), (18, 5), (32, 130), (17, 15), (33, 45), (16, 31)] {
      let matrix = try Self.legal(format, rows: rows, columns: columns)
      #expect(try Self.fault(matrix) == nil)
      let infinity: [UInt8] = width == 4 ? [0x80, 0x7F] : [0x00, 0x7C]
      func number(_ bytes: [UInt8], at index: Int) throws -> PackedFormatError.Reason? {
        try Self.fault(matrix) { _ in
        } scales: { scales in
          scales.replaceSubrange(index + width - 2..<index + width, with: bytes)
        }
      }
      #expect(try number(infinity, at: 0) == .nonFiniteScale)
      #expect(try number([0x00, 0xBC], at: 0) == .negativeScale)
      #expect(try number(infinity, at: 15 * width) == .nonFiniteScale)
      if format.planes.contains(.minimums) {
        #expect(try number(infinity, at: 32) == .nonFiniteMinimum)
      }
      if format == .u2t { #expect(try number([0x00, 0x3D], at: width) == .unequalScales) }
      if rows % 16 != 0 {
        let last = matrix.layout.byteCount(of: .scales) - width
        #expect(try number([0x00, 0x3C], at: last) == .nonzeroPadding)
        // The last row's place in the last tile's last word.
        #expect(try Self.fault(matrix, codes: { $0[$0.count - 1] ^= 1 }) == .nonzeroPadding)
      }
      if format.codeBitCount == 8 {
        #expect(try Self.fault(matrix, codes: { $0[0] = 0 }) == .forbiddenCode)
      }
      if columns % (32 / (format.codeBitCount ?? 32)) != 0 {
        let (byte, shift) = matrix.place(0, columns)
        #expect(
          try Self.fault(matrix, codes: { $0[byte] ^= 1 << UInt8(shift) }) == .nonzeroPadding)
      }
    }
  }

  /// The example of the layout's page.
  @Test func theWorkedExampleHolds() throws {
    let layout = try #require(RowTileLayout(format: .u2c, rows: 2, columns: 5))
    let tiles = try layout.interleaved(
      codes: [0x27, 0x02, 0xE4, 0x01], scales: [0, 0, 0, 0x40, 0, 0, 0, 0x3F])
    #expect(
      tiles.codes
        == [0x0B, 0x01, 0x02, 0x00, 0x04, 0x01, 0x02, 0x03] + [UInt8](repeating: 0, count: 248))
    #expect(
      tiles.scales == [0, 0, 0, 0x40, 0, 0, 0, 0x3F] + [UInt8](repeating: 0, count: 56))
  }

  @Test func nonzeroBitsBehindARowAreRefused() throws {
    let layout = try #require(RowTileLayout(format: .u2c, rows: 2, columns: 5))
    let error = #expect(throws: PackedFormatError.self) {
      try layout.interleaved(
        codes: [0x27, 0x02, 0xE4, 0x05], scales: [UInt8](repeating: 0, count: 8))
    }
    #expect(error?.reason == .nonzeroPadding)
    #expect(error?.row == 1)
  }

  @Test func impossibleDimensionsHaveNoLayout() {
    for (rows, columns) in [(0, 1), (1, 0), (-1, 5), (.max, 1), (1, .max), (1 << 40, 1 << 40)] {
      #expect(RowTileLayout(format: .u2c, rows: rows, columns: columns) == nil)
    }
    #expect(RowTileLayout(format: .f32, rows: 16, columns: 64) == nil)
    #expect(RowTileLayout(format: .astc6x6LDR, rows: 16, columns: 64) == nil)
  }
}
