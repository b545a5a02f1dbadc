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
        for (plane, bytes) in [(Plane.scales, matrix.scales), (.minimums, matrix.minimums)] {
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
      #expect(back[.minimums] == matrix.minimums)
    }
  }
}
