import PackedFormats
import Testing

@Suite struct FaultTests {
  @Test(
    arguments: WeightFormat.allCases, [Float.nan, .infinity, -.infinity, .signalingNaN])
  func refusesWeightsThatAreNotFinite(format: WeightFormat, weight: Float) {
    var weights = [Float](repeating: 0.5, count: 4 * 37)
    weights[2 * 37 + 33] = weight
    #expect(throws: PackedFormatError(.nonFiniteWeight, row: 2, column: 33)) {
      try PackedTensor(weights, format: format, rowCount: 4, columnCount: 37)
    }
    #expect(throws: PackedFormatError(.nonFiniteWeight, row: 2, column: 33)) {
      try PackedTensor(weights, format: format, rowCount: 4, columnCount: 37, step: 2)
    }
  }

  @Test(arguments: [
    (WeightFormat.f16, Float(65520), 70), (.f16, -70000, 70), (.u4g32, -65505, 64),
    (.u4g32, 1e7, 64), (.u4g32, 1e30, 64), (.u2g64, 1e7, 64), (.u2g64, 1e30, 64),
    (.s8g32, 9e6, 64),
  ])
  func refusesWeightsBeyondTheFormat(format: WeightFormat, weight: Float, column: Int) {
    var weights = [Float](repeating: 0.5, count: 2 * 75)
    weights[75 + 70] = weight
    #expect(throws: PackedFormatError(.outOfRange, row: 1, column: column)) {
      try PackedTensor(weights, format: format, rowCount: 2, columnCount: 75)
    }
  }

  /// In every format but f32 and f16, which store what they are given.
  @Test(
    arguments: WeightFormat.allCases.filter { $0 != .f32 && $0 != .f16 },
    [Float.greatestFiniteMagnitude, -3e38, Float(0x1p100).nextUp])
  func refusesWeightsWhoseProductsWouldOverflow(format: WeightFormat, weight: Float) {
    var weights = [Float](repeating: 0.5, count: 4 * 75)
    weights[2 * 75 + 70] = weight
    for step in [nil, 2] as [Int?] {
      #expect(throws: PackedFormatError(.outOfRange, row: 2, column: 70)) {
        try PackedTensor(weights, format: format, rowCount: 4, columnCount: 75, step: step)
      }
    }
  }

  private func expectFault(
    _ tensor: PackedTensor, _ error: PackedFormatError,
    _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(throws: error, sourceLocation: location) { try tensor.validate(firstRow: 10) }
  }

  @Test func findsFaultsInCodes() {
    for format in [WeightFormat.s8c, .s8g32] {
      var bytes = PackedTensor(zero: format, rowCount: 3, columnCount: 5)
      bytes.codes[1 * 5 + 2] = 0x80
      expectFault(bytes, .init(.forbiddenCode, plane: .codes, row: 11, column: 2))
    }
    for format in [WeightFormat.u4g32, .u4c] {
      var nibbles = PackedTensor(zero: format, rowCount: 3, columnCount: 5)
      nibbles.codes[2 * 3 + 2] = 0x10
      expectFault(nibbles, .init(.nonzeroPadding, plane: .codes, row: 12, column: 5))
    }
    for format in [WeightFormat.u2c, .u2g64, .u2t] {
      for columnCount in 5...7 {
        var pairs = PackedTensor(zero: format, rowCount: 2, columnCount: columnCount)
        pairs.codes[3] = 0x40
        let fault = PackedFormatError(
          .nonzeroPadding, plane: .codes, row: 11, column: columnCount)
        expectFault(pairs, fault)
      }
    }

    var halves = PackedTensor(zero: .f16, rowCount: 2, columnCount: 3)
    halves.codes[7] = 0x7C
    expectFault(halves, .init(.nonFiniteWeight, plane: .codes, row: 11, column: 0))

    var floats = PackedTensor(zero: .f32, rowCount: 2, columnCount: 3)
    floats.codes[18] = 0xC0
    floats.codes[19] = 0x7F
    expectFault(floats, .init(.nonFiniteWeight, plane: .codes, row: 11, column: 1))
  }

  @Test func findsFaultsInScales() {
    for format in [WeightFormat.s8c, .u4c, .u2c] {
      var tensor = PackedTensor(zero: format, rowCount: 3, columnCount: 5)
      tensor.scales[6...7] = [0x80, 0x7F]
      expectFault(tensor, .init(.nonFiniteScale, plane: .scales, row: 11))
      tensor.scales[6...7] = [0x00, 0x80]
      expectFault(tensor, .init(.negativeScale, plane: .scales, row: 11))
      // 2^101 plus one unit in the last place, and 2^101.
      tensor.scales[4...7] = [0x01, 0x00, 0x00, 0x72]
      expectFault(tensor, .init(.outOfRange, plane: .scales, row: 11))
      tensor.scales[4] = 0
      #expect(throws: Never.self) { try tensor.validate(firstRow: 10) }
    }
    for format in [WeightFormat.s8g32, .u4g32, .u2g64] {
      // Three groups a row.
      let groupSize = format == .u2g64 ? 64 : 32
      var tensor = PackedTensor(zero: format, rowCount: 3, columnCount: 2 * groupSize + 1)
      let fault = { (reason: PackedFormatError.Reason, plane: Plane) in
        PackedFormatError(reason, plane: plane, row: 11, column: 2 * groupSize)
      }
      tensor.scales[11] = 0x7C
      expectFault(tensor, fault(.nonFiniteScale, .scales))
      tensor.scales[11] = 0x80
      expectFault(tensor, fault(.negativeScale, .scales))
      tensor.scales[11] = 0
      if format == .u4g32 {
        tensor.minimums[11] = 0xFE
        expectFault(tensor, fault(.nonFiniteMinimum, .minimums))
      }
    }
  }

  @Test(arguments: [WeightFormat.u2t, .astc6x6HDR])
  func findsFaultsInTheOneScale(format: WeightFormat) {
    var tensor = PackedTensor(zero: format, rowCount: 3, columnCount: 0)
    #expect(tensor.scales.count == 4)
    tensor.scales[2...3] = [0x80, 0x7F]
    expectFault(tensor, .init(.nonFiniteScale, plane: .scales))
    tensor.scales[2...3] = [0x00, 0x80]
    expectFault(tensor, .init(.negativeScale, plane: .scales))
  }

  @Test func findsPlanesOfTheWrongByteCount() {
    var tensor = PackedTensor(zero: .u4g32, rowCount: 2, columnCount: 33)
    tensor.minimums.removeLast()
    expectFault(
      tensor, .init(.planeByteCount(found: 7, expected: 8), plane: .minimums))
    tensor.codes.append(0)
    expectFault(tensor, .init(.planeByteCount(found: 35, expected: 34), plane: .codes))
  }

  @Test func describesItselfInOneLine() {
    let error = PackedFormatError(.nonFiniteScale, plane: .scales, row: 3, column: 64)
    #expect(error.description == "plane scales, row 3, column 64: a scale is NaN or infinite")
  }
}
