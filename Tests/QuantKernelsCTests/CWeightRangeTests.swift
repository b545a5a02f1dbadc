import CQuantKernels
import KernelContract
import PackedFormats
import TestSupport
import Testing

/// Weights and scales at the end of what binary32 holds: refused, or finite all the way.
@Suite struct CWeightRangeTests {
  static let (rows, columns) = (17, 130)
  static let limit: Float = 0x1p100

  @Test(arguments: CLibrary.builds, [WeightFormat.s8c, .s8g32, .u4g32, .u4c, .u2c, .u2g64])
  func whatIsPackedMultipliesToFiniteNumbers(
    _ build: CLibrary.Build, _ format: WeightFormat
  ) throws {
    let c = try CLibrary(build)
    let isPerChannel = format.groupSize == nil
    var accepted = 0
    for value in [
      Float.greatestFiniteMagnitude, 3e38, 0x1p127, 1e35, Self.limit.nextUp, Self.limit, 1e25, 1e7,
      70000, 60000, 1,
    ] {
      for sign: Float in [1, -1] {
        // One among ordinary weights, and all of a row.
        for count in [1, Self.columns] {
          for fit in 0...2 as ClosedRange<afm_fit> {
            var weights = CProductTests.floats(Self.rows * Self.columns, seed: 3)
            for column in 0..<count { weights[5 * Self.columns + column] = sign * value }
            let packed = CMatrix(c, format, Self.rows, Self.columns)
            let error = unsafe withUnsafePointer(to: packed.header) { header in
              var options = unsafe afm_pack_options(
                fit: fit, importance: nil, importance_bytes: 0)
              return unsafe c.pack(
                header, 0, Int64(Self.rows), weights, weights.count * 4, &options)
            }
            let name = "\(value * sign) × \(count), fit \(fit)"
            if value > Self.limit {
              #expect(error == afm_error(AFM_ERROR_WEIGHT), "\(name)")
            } else if isPerChannel || value <= 60000 {
              #expect(error == 0, "\(name)")
            }
            guard error == 0 else { continue }
            accepted += 1
            try expectFinite(c, packed, name)
          }
        }
      }
    }
    #expect(accepted >= 24)
  }

  private func expectFinite(_ c: CLibrary, _ packed: CMatrix, _ name: String) throws {
    let checked = unsafe withUnsafePointer(to: packed.header) {
      unsafe c.checkMatrix($0, 0, Int64(Self.rows))
    }
    #expect(checked == 0, "\(name)")
    var row = [Float](repeating: .nan, count: Self.columns)
    let error = unsafe withUnsafePointer(to: packed.header) {
      unsafe c.dequantizeRow($0, 5, &row, row.count * 4)
    }
    #expect(error == 0 && row.allSatisfy { $0.isFinite }, "\(name)")
    for level in CProductTests.levels {
      try c.withKernels(CProductTests.number(level)) { kernels in
        for tokens in [1, 5] {
          // Integer sums as large as they get.
          let input = [Float](repeating: 3, count: tokens * Self.columns)
          let found = try unsafe CProductTests.product(
            c, kernels, nil, packed, input, tokens: tokens)
          #expect(found.allSatisfy { $0.isFinite }, "\(name), \(level), \(tokens) tokens")
        }
      }
    }
  }

  @Test(arguments: CLibrary.builds)
  func scalesOfPlanesHaveTheSameEnd(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    for format in CPlanes.multiplied where format.groupSize == nil {
      for (scale, isAllowed) in [
        (format.largestScale, true), (format.largestScale.nextUp, false),
        (.greatestFiniteMagnitude, false),
      ] {
        var planes = CPlanes(format, 16, 72, seed: 2)
        for byte in 0..<4 {
          planes.scales[byte] = UInt8(truncatingIfNeeded: scale.bitPattern >> UInt32(8 * byte))
        }
        let packed = CMatrix(c, format, 16, 72)
        let error = unsafe planes.withRows(0..<16) { part in
          unsafe withUnsafePointer(to: packed.header) { unsafe c.packPlanes($0, 0, 16, &part) }
        }
        #expect(error == (isAllowed ? 0 : afm_error(AFM_ERROR_PLANES)), "\(format) \(scale)")
      }
    }
  }
}
