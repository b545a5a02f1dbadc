import PackedFormats
import TensorCore

extension FuzzTarget {
  /// ASTC blocks, 16 bytes each, under every profile: texels or a fault, and everyone who looks
  /// into a block says the same of it.
  static let astc = FuzzTarget(name: "astc", heap: (1 << 20, 64)) { bytes in
    let blockCount = min(bytes.count / 16, 8)
    for index in 0..<blockCount {
      // 16 bytes from a multiple of 16 below the count.
      let block = unsafe bytes.withUnsafeBytes { unsafe ASTCBlock($0, at: index * 16) }
      promise(block.bytes == Array(bytes[index * 16..<index * 16 + 16]), "bytes of a block")
      promise(block.bitReversed.bitReversed == block, "bits there and back")
      for profile in ASTCProfile.allCases { unpack(block, profile) }
    }
    for format in [WeightFormat.astc6x6LDR, .astc6x6HDR] where blockCount > 0 {
      dequantize(Array(bytes.prefix(blockCount * 16)), format, rowCount: blockCount)
    }
  }
}

/// Both outputs and the parsed form of one block.
private func unpack(_ block: ASTCBlock, _ profile: ASTCProfile) {
  let unpacker = ASTCUnpacker(profile: profile)
  let mark = SIMD4<Float>(repeating: -12345)
  var floats = [SIMD4<Float>](repeating: mark, count: ASTCBlock.texelCount)
  var colors = [SIMD4<UInt8>](repeating: .zero, count: ASTCBlock.texelCount)
  let fault = legality { () throws(ASTCBlockFault) in
    var result: ASTCBlockFault?
    // Room for 36 texels, as the unpacker asks.
    unsafe floats.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return }
      result = legality { () throws(ASTCBlockFault) in
        try unsafe unpacker.unpackFloats(block, into: start)
      }
    }
    if let result { throw result }
  }
  var byteFault: ASTCBlockFault?
  // As above.
  unsafe colors.withUnsafeMutableBufferPointer { buffer in
    guard let start = buffer.baseAddress else { return }
    byteFault = legality { () throws(ASTCBlockFault) in
      try unsafe unpacker.unpackBytes(block, into: start)
    }
  }
  promise(fault == byteFault, "floats say \(fault as Any), bytes \(byteFault as Any)")
  promise(fault?.isIllegalEncoding ?? true, "\(fault as Any) is no illegal encoding")
  if fault == nil {
    promise(!floats.contains { any($0 .== mark) }, "a texel was not written")
  } else {
    promise(floats.allSatisfy { all($0 .== mark) }, "texels of an illegal block were written")
  }
  let parsed = legality { () throws(ASTCBlockFault) in
    if case .grid(let grid) = try ASTCParsedBlock.content(block, profile: profile) {
      promise(grid.gridWeights.allSatisfy { $0 <= 64 }, "a grid weight above 64")
      promise(grid.endpointCodes.count == grid.endpointValues.count, "endpoints and their values")
    }
  }
  promise(parsed == fault, "parsed: \(parsed as Any), unpacked: \(fault as Any)")
}

/// The fault that a body throws.
private func legality(_ body: () throws(ASTCBlockFault) -> Void) -> ASTCBlockFault? {
  do throws(ASTCBlockFault) {
    try body()
    return nil
  } catch {
    return error
  }
}

/// One block a row, its scale 1: what `validate` refuses has no number, and the other way round.
private func dequantize(_ codes: [UInt8], _ format: WeightFormat, rowCount: Int) {
  let columnCount = WeightFormat.packedBlockColumnCount
  func plane(_ plane: Plane, _ word: [UInt8]) -> [UInt8] {
    let count = format.byteCount(of: plane, rows: rowCount, columns: columnCount) ?? 0
    return (0..<count).map { word[$0 % word.count] }
  }
  let scales = plane(.scales, [0, 0, 0x80, 0x3F])
  let minimums = plane(.minimums, [0, 0])
  // Bytes have no padding.
  let planes = unsafe PackedPlanes(
    codes: codes.span.bytes, scales: scales.span.bytes, minimums: minimums.span.bytes)
  var values = [Float](repeating: 0, count: rowCount * columnCount)
  var output = values.mutableSpan
  format.dequantize(planes, rowCount: rowCount, columnCount: columnCount, into: &output)
  var isValid = true
  do throws(PackedFormatError) {
    try format.validate(planes, rowCount: rowCount, columnCount: columnCount)
  } catch {
    isValid = false
  }
  promise(
    isValid == !values.contains { $0.isNaN }, "\(format.name): valid is \(isValid), values differ")
}
