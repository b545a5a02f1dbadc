import CKernels
import KernelContract
import KernelReference
import PackedFormats
import QuantKernels

/// One packed product to check: a shape, how its numbers are drawn, a seed.
struct ProductCase {
  /// What codes, scales and activations are.
  enum Fill: String, CaseIterable {
    /// Anything.
    case random
    /// The largest codes against ±127 of one sign: the largest sums.
    case extreme
    /// The smallest codes against them.
    case lowest
  }

  var format: WeightFormat
  var rows: Int
  var columns: Int
  var tokens: Int
  var fill: Fill
  var seed: UInt64

  var description: String {
    "\(rows)x\(columns) tokens \(tokens) \(fill.rawValue) seed \(seed)"
  }
}

/// Canonical planes and quantized tokens of a case.
struct ProductData {
  let reference: PackedProductReference
  let matrix: PackedMatrix
  let tokens: [QuantizedToken]

  init(_ test: ProductCase) throws(InputFailure) {
    var random = Sequence64(state: test.seed)
    let format = test.format
    func bytes(_ plane: Plane) -> Int {
      format.byteCount(of: plane, rows: test.rows, columns: test.columns) ?? 0
    }
    var codes = (0..<bytes(.codes)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    if test.fill != .random {
      let low: UInt8 = format == .s8c ? 0x80 : 0
      let high: UInt8 = format == .s8c ? 0x7F : 0xFF
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
    tokens = (0..<test.tokens).map { token in
      let values = (0..<test.columns).map { _ in Int8(truncatingIfNeeded: random.next() % 255) }
      let activations: [Int8] =
        test.fill == .random
        ? values.map { $0 == -128 ? 1 : $0 }
        : values.map { _ in token % 2 == 0 ? 127 : -127 }
      return QuantizedToken(activations: activations, scale: Float(token + 1) * 0.01)
    }
  }
}

struct InputFailure: Error { let reason: String }

/// SplitMix64.
struct Sequence64 {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
