import PackedFormats
import TensorCore
import TestSupport
import Testing

/// Every way of bringing codes to their tiles against the portable one, which the layout's tests
/// hold against the specification.
@Suite struct TileInterleavingTests {
  static let formats = RowTileLayoutTests.formats
  static let ways = TileInterleaving.allCases.filter(\.isSupported)

  /// Whole and started tiles, whole and started steps of 16 bytes, rows of an odd byte count.
  static let shapes = [
    (1, 64), (15, 64), (16, 64), (17, 65), (32, 63), (33, 128), (48, 256), (50, 201), (64, 333),
    (35, 31), (16, 1024), (47, 1664),
  ]

  private static let guardByteCount = 64

  /// The tiles of a matrix whose codes come in pieces, at an address `shift` behind one that 64
  /// divides; everything around them must stay as it was.
  private static func tiles(
    _ matrix: RowTileLayoutTests.Matrix, cuts: [Int], by way: TileInterleaving, shift: Int
  ) -> (codes: [UInt8], fault: Int?) {
    let byteCount = matrix.layout.byteCount(of: .codes)
    let start = guardByteCount + shift
    var storage = AlignedStorage(byteCount: start + byteCount + guardByteCount)
    var codes: [UInt8] = []
    var fault: Int?
    var isIntact = true
    // Pieces are parts of the plane; the tiles have the layout's byte count within the storage.
    var bytes = storage.mutableBytes
    unsafe bytes.withUnsafeMutableBytes { bytes in
      for index in 0..<start { unsafe bytes[index] = 0xA5 }
      for index in start + byteCount..<bytes.count { unsafe bytes[index] = 0xA5 }
      guard let base = bytes.baseAddress else { return }
      let target = unsafe base + start
      var begin = 0
      for end in cuts + [matrix.codes.count] {
        let found = unsafe matrix.codes.withUnsafeBytes {
          unsafe matrix.layout.interleaveCodes(
            UnsafeRawBufferPointer(rebasing: $0[begin..<end]), at: begin, into: target, by: way)
        }
        fault = fault ?? found
        begin = end
      }
      codes = unsafe Array(bytes[start..<start + byteCount])
      isIntact =
        unsafe bytes[..<start].allSatisfy { $0 == 0xA5 }
        && bytes[(start + byteCount)...].allSatisfy { $0 == 0xA5 }
    }
    #expect(isIntact, "bytes around the tiles")
    return (codes, fault)
  }

  @Test(arguments: formats, ways)
  func givesTheBytesOfThePortableWay(format: WeightFormat, way: TileInterleaving) throws {
    for (rows, columns) in Self.shapes {
      let seed = UInt64(rows * 10_000 + columns)
      let matrix = try RowTileLayoutTests.Matrix(format, rows: rows, columns: columns, seed: seed)
      var generator = SeededGenerator(seed: seed)
      // The whole plane, and pieces as frames are: cut anywhere. Words across a cut stay zero.
      let cuts = [
        [], [matrix.codes.count / 2], [.random(in: 0...matrix.codes.count, using: &generator)],
      ]
      for cuts in cuts {
        let expected = Self.tiles(matrix, cuts: cuts, by: .portable, shift: 0)
        for shift in [0, 32, 16, 4, 1] {
          let found = Self.tiles(matrix, cuts: cuts, by: way, shift: shift)
          #expect(
            found.codes == expected.codes, "\(rows)x\(columns) seed \(seed) \(cuts) +\(shift)")
          #expect(found.fault == expected.fault)
        }
      }
    }
  }

  @Test(arguments: ways)
  func findsBitsBehindRowsInWholeTiles(way: TileInterleaving) throws {
    // Rows of 70 codes of two bits: 18 bytes, of which the last has room for two more codes.
    var matrix = try RowTileLayoutTests.Matrix(.u2c, rows: 48, columns: 70, seed: 12)
    matrix.codes[18 * 21 + 17] |= 0x40
    #expect(Self.tiles(matrix, cuts: [], by: way, shift: 0).fault == 21)
  }

  @Test func theFastestWayIsOneThatThisCPUHas() {
    #expect(TileInterleaving.fastest.isSupported)
    #expect(Self.ways.contains(.portable))
  }
}
