/// Quantizes one row after another into planes, with scratch memory that they share.
struct RowQuantizer {
  /// Planes of all rows.
  @unsafe struct Output {
    var codes: UnsafeMutableRawBufferPointer
    var scales: UnsafeMutableRawBufferPointer
    var minimums: UnsafeMutableRawBufferPointer
  }

  private let format: WeightFormat
  private let options: QuantizationOptions
  private let tensorScale: Float?
  private let importance: [Float]?
  private let codeBytes: Int
  private let scaleBytes: Int
  private let minimumBytes: Int
  private var order = MagnitudeOrder()
  private var nibbleSearch = ScaleSearch<BalancedNibbleRow>()
  private var byteSearch = ScaleSearch<SignedByteRow>()

  /// - Parameter tensorScale: for the formats that have one scale in all.
  init(
    format: WeightFormat, columnCount: Int, options: QuantizationOptions, tensorScale: Float?
  ) {
    self.format = format
    self.options = options
    self.tensorScale = tensorScale
    importance = options.relativeImportance(columnCount: columnCount)
    codeBytes = format.rowByteCount(of: .codes, columns: columnCount)
    scaleBytes =
      tensorScale == nil ? format.rowByteCount(of: .scales, columns: columnCount) : 0
    minimumBytes = format.rowByteCount(of: .minimums, columns: columnCount)
  }

  /// Writes row `row` of the planes; a per-tensor scale with each. The caller guarantees that it
  /// lies in them and that `x` is a whole row.
  @unsafe mutating func quantize(
    _ x: UnsafeBufferPointer<Float>, to output: Output, row: Int
  ) throws(PackedFormatError) -> QuantizationOutcome {
    try unsafe Self.requireInRange(x, largest: format.largestWeight)
    let codes = unsafe UnsafeMutableRawBufferPointer(
      rebasing: output.codes[row * codeBytes..<(row + 1) * codeBytes])
    let scales = unsafe UnsafeMutableRawBufferPointer(
      rebasing: output.scales[row * scaleBytes..<row * scaleBytes + rowScaleBytes])
    let minimums = unsafe UnsafeMutableRawBufferPointer(
      rebasing: output.minimums[row * minimumBytes..<(row + 1) * minimumBytes])
    switch format {
    case .f32:
      unsafe codes.copyMemory(from: UnsafeRawBufferPointer(x))
    case .f16:
      try unsafe HalfRow.quantize(x, codes: codes)
    case .astc6x6LDR, .astc6x6HDR:
      #if hasFeature(Embedded)
        // The C library refuses these formats before it comes here.
        preconditionFailure("there is no ASTC encoder in this build")
      #else
        // The encoder normalises importances itself.
        let (scale, outcome) = try unsafe ASTCWeightRow.quantize(
          x, options: options, tensorScale: tensorScale, blocks: codes, minimums: minimums)
        unsafe Self.store(scale, in: scales)
        return outcome
      #endif
    case .s8c, .u4c, .u2c, .u2t:
      try unsafe withImportance(0..<x.count) { importance, quantizer throws(PackedFormatError) in
        let scale = try unsafe quantizer.quantizeChannel(x, importance, codes: codes)
        unsafe Self.store(scale, in: scales)
      }
    case .s8g32, .u4g32, .u2g64:
      let size = format.groupSize ?? x.count
      let groupBytes = size * (format.codeBitCount ?? 8) / 8
      for (group, begin) in stride(from: 0, to: x.count, by: size).enumerated() {
        let columns = begin..<min(begin + size, x.count)
        let part = unsafe UnsafeBufferPointer(rebasing: x[columns])
        let bytes = unsafe UnsafeMutableRawBufferPointer(
          rebasing: codes[group * groupBytes..<min((group + 1) * groupBytes, codeBytes)])
        do throws(PackedFormatError) {
          try unsafe withImportance(columns) { importance, quantizer throws(PackedFormatError) in
            try unsafe quantizer.quantizeGroup(
              part, importance, codes: bytes, scales: scales, minimums: minimums, group: group)
          }
        } catch {
          var placed = error
          placed.column = placed.column ?? begin
          throw placed
        }
      }
    }
    return QuantizationOutcome()
  }

  private var rowScaleBytes: Int { tensorScale == nil ? scaleBytes : 4 }

  /// A row whose columns share a scale, which it returns.
  private mutating func quantizeChannel(
    _ x: UnsafeBufferPointer<Float>, _ importance: UnsafeBufferPointer<Float>?,
    codes: UnsafeMutableRawBufferPointer
  ) throws(PackedFormatError) -> Float {
    switch format {
    case .s8c:
      let largest = unsafe Self.largestMagnitude(x)
      var scale = SignedByteRow.scale(largest: largest)
      if options.scaleFit == .meanSquare {
        scale = unsafe byteSearch.scale(
          for: x, importance: importance, largest: largest, covering: scale, half: false)
      }
      unsafe SignedByteRow.encode(x, scale: scale, codes: codes)
      return scale
    case .u4c:
      let largest = unsafe Self.largestMagnitude(x)
      var scale = BalancedNibbleRow.scale(largest: largest)
      if options.scaleFit != .absoluteMaximum {
        scale = unsafe nibbleSearch.scale(
          for: x, importance: importance, largest: largest, covering: scale, half: false)
      }
      try unsafe BalancedNibbleRow.encode(x, scale: scale, codes: codes)
      return scale
    default:
      let scale =
        if let tensorScale {
          tensorScale
        } else {
          try unsafe TwoBitGroup.scale(
            for: x, importance: importance, fit: options.scaleFit, half: false, order: &order)
        }
      unsafe TwoBitGroup.encode(x, scale: scale, codes: codes)
      return scale
    }
  }

  /// A group of a row; `codes` are those of the group, `scales` and `minimums` those of the row.
  private mutating func quantizeGroup(
    _ x: UnsafeBufferPointer<Float>, _ importance: UnsafeBufferPointer<Float>?,
    codes: UnsafeMutableRawBufferPointer, scales: UnsafeMutableRawBufferPointer,
    minimums: UnsafeMutableRawBufferPointer, group: Int
  ) throws(PackedFormatError) {
    var scale: Float
    switch format {
    case .s8g32:
      let largest = unsafe Self.largestMagnitude(x)
      scale = try SignedByteRow.halfScale(largest: largest)
      if options.scaleFit == .meanSquare {
        scale = unsafe byteSearch.scale(
          for: x, importance: importance, largest: largest, covering: scale, half: true)
      }
      unsafe SignedByteRow.encode(x, scale: scale, codes: codes)
    case .u4g32:
      let fit = try unsafe AffineGroup.fit(x, importance: importance, as: options.scaleFit)
      scale = fit.scale
      unsafe AffineGroup.encode(x, fit: fit, codes: codes)
      unsafe Self.storeHalf(fit.minimum, in: minimums, group: group)
    default:
      scale = try unsafe TwoBitGroup.scale(
        for: x, importance: importance, fit: options.scaleFit, half: true, order: &order)
      unsafe TwoBitGroup.encode(x, scale: scale, codes: codes)
    }
    unsafe Self.storeHalf(scale, in: scales, group: group)
  }
}

extension RowQuantizer {
  /// Lends the importances of some columns.
  private mutating func withImportance(
    _ columns: Range<Int>,
    _ body: (UnsafeBufferPointer<Float>?, inout RowQuantizer) throws(PackedFormatError) -> Void
  ) throws(PackedFormatError) {
    guard let importance else { return try body(nil, &self) }
    // There is one importance for each column.
    try unsafe importance.withUnsafeBufferPointer { all throws(PackedFormatError) in
      try unsafe body(UnsafeBufferPointer(rebasing: all[columns]), &self)
    }
  }

  private static func store(_ scale: Float, in bytes: UnsafeMutableRawBufferPointer) {
    unsafe bytes.storeBytes(of: scale.bitPattern.littleEndian, as: UInt32.self)
  }

  /// Numbers of groups are representable in binary16.
  private static func storeHalf(
    _ number: Float, in bytes: UnsafeMutableRawBufferPointer, group: Int
  ) {
    unsafe bytes.storeBytes(
      of: HalfPrecision.bits(number).littleEndian, toByteOffset: group * 2, as: UInt16.self)
  }

  private static func largestMagnitude(_ x: UnsafeBufferPointer<Float>) -> Float {
    var largest: Float = 0
    for index in x.indices {
      let magnitude = unsafe x[index].magnitude
      largest = largest < magnitude ? magnitude : largest
    }
    return largest
  }

  /// One pass that vectorizes; a second one finds the column where the first finds a fault.
  private static func requireInRange(
    _ x: UnsafeBufferPointer<Float>, largest: Float
  ) throws(PackedFormatError) {
    let limit = largest.bitPattern
    var faults: UInt32 = 0
    for index in x.indices {
      // Magnitudes order as their bits do, NaN above all: the difference is negative beyond the
      // limit.
      unsafe faults |= limit &- (x[index].bitPattern & 0x7FFF_FFFF)
    }
    guard faults & 0x8000_0000 != 0,
      let column = unsafe x.firstIndex(where: { !($0.magnitude <= largest) })
    else { return }
    throw PackedFormatError(
      unsafe x[column].isFinite ? .outOfRange : .nonFiniteWeight, column: column)
  }
}
