import CKernels
import KernelContract
import KernelReference
import PackedFormats
import QuantKernels
import RandomNumbers

/// One packed product to check: a shape, how its numbers are drawn, a seed.
package struct ProductCase: Sendable {
  /// What codes, scales and activations are.
  package enum Fill: String, CaseIterable, Sendable {
    /// Anything.
    case random
    /// The largest codes against ±127 of one sign: the largest sums.
    case extreme
    /// The smallest codes against them.
    case lowest
    /// ASTC: the largest grid weights between ends as far apart as can be, turned around from
    /// partition to partition, with all seeds in turn, against them.
    case opposed
  }

  package var format: WeightFormat
  package var rows: Int
  package var columns: Int
  package var tokens: Int
  package var fill: Fill
  package var seed: UInt64

  package init(
    format: WeightFormat, rows: Int, columns: Int, tokens: Int, fill: Fill, seed: UInt64
  ) {
    self.format = format
    self.rows = rows
    self.columns = columns
    self.tokens = tokens
    self.fill = fill
    self.seed = seed
  }

  package var description: String {
    "\(rows)x\(columns) tokens \(tokens) \(fill.rawValue) seed \(seed)"
  }
}

/// Canonical planes and quantized tokens of a case.
package struct ProductData: Sendable {
  package let reference: any ProductReference
  package let matrix: PackedMatrix
  let test: ProductCase
  package let tokens: [QuantizedToken]

  package init(_ test: ProductCase) throws(InputFailure) {
    self.test = test
    var random = SplitMix64(seed: test.seed)
    guard !test.format.isASTC else {
      let data = ASTCProductData(test, &random)
      matrix = try data.matrix()
      reference = data.reference
      tokens = Self.tokens(test, &random)
      return
    }
    let format = test.format
    func bytes(_ plane: Plane) -> Int {
      format.byteCount(of: plane, rows: test.rows, columns: test.columns) ?? 0
    }
    var codes = (0..<bytes(.codes)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    if test.fill != .random {
      let low: UInt8 = format.codeBitCount == 8 ? 0x80 : 0
      let high: UInt8 = format.codeBitCount == 8 ? 0x7F : 0xFF
      codes = codes.map { _ in test.fill == .lowest ? low : high }
    }
    func scaleBytes(_ count: Int) -> [UInt8] {
      var out: [UInt8] = []
      while out.count < count {
        let unit = Float(random.next() >> 40) * 0x1p-24
        if format.groupSize == nil {
          let bits = (unit - 0.25).bitPattern
          for i in 0..<4 { out.append(UInt8(truncatingIfNeeded: bits >> UInt32(8 * i))) }
        } else {
          // One in sixteen is subnormal.
          let scale = Float16(unit - 0.25) * (random.next() % 16 == 0 ? 0x1p-14 : 1)
          out.append(UInt8(truncatingIfNeeded: scale.bitPattern))
          out.append(UInt8(truncatingIfNeeded: scale.bitPattern >> 8))
        }
      }
      return out
    }
    let scales = scaleBytes(bytes(.scales))
    let minimums = scaleBytes(bytes(.minimums))
    do {
      matrix = unsafe try PackedMatrix(
        format: format, rows: test.rows, columns: test.columns, codes: codes.span.bytes,
        scales: scales.span.bytes, minimums: minimums.span.bytes)
    } catch {
      throw InputFailure(reason: error.description)
    }
    reference = PackedProductReference(
      format: format, rows: test.rows, columns: test.columns, codes: codes, scales: scales,
      minimums: minimums)
    tokens = Self.tokens(test, &random)
  }

  /// Quantized tokens of a case.
  private static func tokens(
    _ test: ProductCase, _ random: inout SplitMix64
  ) -> [QuantizedToken] {
    (0..<test.tokens).map { token in
      let values = (0..<test.columns).map { _ in Int8(truncatingIfNeeded: random.next() % 255) }
      let activations: [Int8] =
        test.fill == .random
        ? values.map { $0 == -128 ? 1 : $0 }
        : values.map { _ in token % 2 == 0 ? 127 : -127 }
      let grouping = ActivationGrouping.required(by: test.format)
      let scaleCount = grouping.scaleCount(
        chunkCount: grouping.chunkCount(columns: test.columns))
      // One in sixteen is zero, as of a chunk without activations.
      let scales = (0..<scaleCount).map { _ in
        Float(random.next() % 16) * Float(token + 1) * 0.001
      }
      return QuantizedToken(activations: activations, scales: scales, grouping)
    }
  }
}

package struct InputFailure: Error { package let reason: String }

extension ProductCase {
  /// The formats that products have kernels of their own for.
  package static let formats: [WeightFormat] = [
    .s8c, .s8g32, .u4g32, .u4c, .u2c, .u2g64, .astc6x6LDR, .astc6x6HDR,
  ]

  /// Sizes around every vector width, token counts around every tile, and the largest sums.
  package static func cases(_ format: WeightFormat, isQuick: Bool) -> [ProductCase] {
    var cases: [ProductCase] = []
    var seed: UInt64 = 1
    func add(_ rows: Int, _ columns: Int, _ tokens: Int, _ fill: ProductCase.Fill = .random) {
      seed += 1
      cases.append(
        ProductCase(
          format: format, rows: rows, columns: columns, tokens: tokens, fill: fill, seed: seed))
    }
    let fills = ProductCase.Fill.allCases.filter { format.isASTC || $0 != .opposed }
    let sizes = [1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 257]
    if isQuick {
      for (i, rows) in [1, 17, 33, 48].enumerated() { add(rows, [1, 65, 130, 257][i], 5) }
      add(33, 128, 14)
      add(33, 600, 9)
      add(17, 33, 131)
      for fill in fills { add(17, 700, 3, fill) }
    } else {
      for rows in sizes { for columns in sizes { add(rows, columns, rows * columns % 3 + 1) } }
      // Every size in both dimensions, the others varied.
      for size in 1...257 {
        add(size, size * 37 % 131 + 1, size % 2 + 1)
        add(size * 53 % 49 + 1, size, size % 3 + 1)
      }
      for tokens in 1...33 { add(tokens % 2 == 0 ? 17 : 48, 96, tokens) }
      // Strips of 512 columns, blocks of 128 tokens.
      for columns in [511, 512, 513, 640, 1025] {
        for tokens in [2, 3, 4, 7, 8, 14] { add(33, columns, tokens) }
      }
      for tokens in [50, 127, 128, 129, 131, 257, 261] { add(33, 65, tokens) }
      for fill in fills { add(35, 6656, 13, fill) }
    }
    return cases
  }
}
