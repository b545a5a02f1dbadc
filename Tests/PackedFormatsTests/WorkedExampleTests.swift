import PackedFormats
import Testing

/// The examples in bytes of the pages in PackedFormats.docc.
@Suite struct WorkedExampleTests {
  private func check(
    _ weights: [Float], _ format: WeightFormat, codes: [UInt8], scales: [UInt8] = [],
    minimums: [UInt8] = [], values: [Float]
  ) throws {
    let tensor = try PackedTensor(
      weights, format: format, rowCount: 1, columnCount: weights.count)
    #expect(tensor.codes == codes)
    #expect(tensor.scales == scales)
    #expect(tensor.minimums == minimums)
    #expect(tensor.dequantized() == values)
    try tensor.validate()
  }

  @Test func floats() throws {
    try check(
      [1, -0.5], .f32, codes: [0x00, 0x00, 0x80, 0x3F, 0x00, 0x00, 0x00, 0xBF], values: [1, -0.5])
    try check(
      [1, -2, 65504, 0x1p-24], .f16, codes: [0x00, 0x3C, 0x00, 0xC0, 0xFF, 0x7B, 0x01, 0x00],
      values: [1, -2, 65504, 0x1p-24])
  }

  @Test func signedBytes() throws {
    try check(
      [1, -127, 63.5, 0.5], .s8c, codes: [0x01, 0x81, 0x40, 0x00],
      scales: [0x00, 0x00, 0x80, 0x3F], values: [1, -127, 64, 0])
    try check(
      [1, -127, 63.5, 0.5], .s8g32, codes: [0x01, 0x81, 0x40, 0x00], scales: [0x00, 0x3C],
      values: [1, -127, 64, 0])
  }

  @Test func balancedNibbles() throws {
    try check(
      [15, -1, 1, -15, 5], .u4c, codes: [0x7F, 0x08, 0x0A], scales: [0x00, 0x00, 0x00, 0x40],
      values: [15, -1, 1, -15, 5])
  }

  @Test func affineNibbles() throws {
    try check(
      [-1, 0, 0.5, 2.75, -0.25], .u4g32, codes: [0x40, 0xF6, 0x03], scales: [0x00, 0x34],
      minimums: [0x00, 0xBC], values: [-1, 0, 0.5, 2.75, -0.25])
  }

  @Test func bitPairs() throws {
    try check(
      [3, -1, 1, -3, 1], .u2c, codes: [0x27, 0x02], scales: [0x00, 0x00, 0x00, 0x40],
      values: [3, -1, 1, -3, 1])
    try check(
      [3, -1, 1, -3, 1], .u2g64, codes: [0x27, 0x02], scales: [0x00, 0x40],
      values: [3, -1, 1, -3, 1])
    let rows: [Float] = [3, -1, 1, -3, 1, 1, -1, 3, -3, 1]
    let tensor = try PackedTensor(rows, format: .u2t, rowCount: 2, columnCount: 5)
    #expect(tensor.codes == [0x27, 0x02, 0x36, 0x02])
    #expect(tensor.scales == [0x00, 0x00, 0x00, 0x40])
    #expect(tensor.dequantized() == rows)
  }

  private static let totals: [(WeightFormat, Double)] = [
    (.f32, 32), (.f16, 16), (.s8c, 8 + 32.0 / 576), (.s8g32, 8.5), (.u4g32, 5),
    (.u4c, 4 + 32.0 / 576), (.u2c, 2 + 32.0 / 576), (.u2g64, 2.25), (.u2t, 2 + 32.0 / 1728),
  ]

  @Test(arguments: totals)
  func bitsPerWeight(format: WeightFormat, total: Double) throws {
    #expect(format.payloadBitsPerWeight == Double(try #require(format.codeBitCount)))
    #expect(abs(format.totalBitsPerWeight(rows: 3, columns: 576) - total) < 1e-12)
  }
}
