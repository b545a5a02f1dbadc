import CQuantKernels
import PackedFormats
import RandomNumbers

/// A packed matrix whose memory is damaged for one case after the other.
struct FuzzedMatrix {
  let format: WeightFormat
  let rows: Int
  let columns: Int
  /// Packed memory without a fault.
  let whole: [UInt8]

  var number: afm_format { afm_format(format.rawValue) }

  /// Rows and columns around the widths of tiles, chunks, blocks and runs of blocks.
  private static let shapes: [(rows: Int, columns: Int)] = [
    (1, 1), (15, 36), (16, 64), (17, 37), (33, 65), (32, 72), (5, 127), (48, 35), (16, 288),
    (18, 289), (2, 325), (34, 130), (31, 33), (16, 580),
  ]

  /// Matrices of a format in all shapes, of one partition a block and of several.
  static func all(_ format: WeightFormat, _ library: FuzzedLibrary, seed: UInt64) -> [FuzzedMatrix]
  {
    var random = SplitMix64(seed: seed)
    return shapes.enumerated().map { index, shape in
      FuzzedMatrix(
        format, shape.rows, shape.columns, library,
        options: QuantizationOptions(effort: .fast, partitionLimit: index % 3 + 1), &random)
    }
  }

  private init(
    _ format: WeightFormat, _ rows: Int, _ columns: Int, _ library: FuzzedLibrary,
    options: QuantizationOptions, _ random: inout SplitMix64
  ) {
    (self.format, self.rows, self.columns) = (format, rows, columns)
    func room(_ plane: Plane) -> [UInt8] {
      [UInt8](
        repeating: 0, count: format.byteCount(of: plane, rows: rows, columns: columns) ?? 0)
    }
    let weights = (0..<rows * columns).map { _ in Float.random(in: -1...1, using: &random) }
    var (codes, scales, minimums) = (room(.codes), room(.scales), room(.minimums))
    do {
      var codeSpan = codes.mutableSpan
      var scaleSpan = scales.mutableSpan
      var minimumSpan = minimums.mutableSpan
      // Bytes have no padding, and every value is a valid one.
      var planes = unsafe MutablePackedPlanes(
        codes: codeSpan.mutableBytes, scales: scaleSpan.mutableBytes,
        minimums: minimumSpan.mutableBytes)
      try format.quantize(
        weights.span, rowCount: rows, columnCount: columns, options: options, into: &planes)
    } catch {
      preconditionFailure("small weights were refused: \(error)")
    }
    let raw = afm_format(format.rawValue)
    let byteCount = library.bytes {
      unsafe library.matrixBytes(raw, Int64(rows), Int64(columns), $0)
    }
    // 64-byte aligned, as packed memory has to be; copied into the array below.
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    defer { unsafe memory.deallocate() }
    // The arrays outlive the call.
    let error = unsafe codes.withUnsafeBytes { codes in
      unsafe scales.withUnsafeBytes { scales in
        unsafe minimums.withUnsafeBytes { minimums in
          var planes = unsafe afm_planes(
            codes: codes.baseAddress, codes_bytes: codes.count, scales: scales.baseAddress,
            scales_bytes: scales.count, minimums: minimums.baseAddress,
            minimums_bytes: minimums.count)
          var matrix = unsafe afm_matrix(
            format: raw, rows: Int64(rows), columns: Int64(columns), memory: memory,
            memory_bytes: byteCount)
          return unsafe library.packPlanes(&matrix, 0, Int64(rows), &planes)
        }
      }
    }
    precondition(error == 0, "planes of the format's own quantizer were refused")
    whole = unsafe [UInt8](UnsafeRawBufferPointer(start: memory, count: byteCount))
  }

  /// Bytes of a band's kinds: blocks of 36 columns, padded to 64.
  private var kindBytes: Int { format.isASTC ? ((columns + 35) / 36 + 63) / 64 * 64 : 0 }

  /// Writes damaged memory of `whole.count` bytes.
  func write(to memory: UnsafeMutableRawPointer, _ random: inout SplitMix64) {
    let bytes = unsafe UnsafeMutableRawBufferPointer(start: memory, count: whole.count)
    switch random.next() % 5 {
    case 0:
      unsafe Self.fill(bytes, &random)
    case 1:
      // Any bytes, but kinds that there are.
      unsafe Self.fill(bytes, &random)
      guard format.isASTC, let layout = ASTCTileLayout(format: format, rows: rows, columns: columns)
      else { return }
      for band in 0..<layout.bandCount {
        for index in 0..<kindBytes {
          unsafe bytes[band * layout.bandByteCount + index] &= 3
        }
      }
    case 2:
      // Some bytes after one another.
      unsafe bytes.copyBytes(from: whole)
      let begin = Int(random.next() % UInt64(whole.count))
      let count = min(whole.count - begin, 1 + Int(random.next() % 64))
      unsafe Self.fill(
        UnsafeMutableRawBufferPointer(rebasing: bytes[begin..<begin + count]), &random)
    case 3:
      // Bits of the first bytes, where ASTC has its kinds.
      unsafe bytes.copyBytes(from: whole)
      unsafe Self.flip(bytes, below: min(whole.count, max(kindBytes, 16)), &random)
    default:
      unsafe bytes.copyBytes(from: whole)
      unsafe Self.flip(bytes, below: whole.count, &random)
    }
  }

  /// Changes one to eight bits among the first bytes.
  private static func flip(
    _ bytes: UnsafeMutableRawBufferPointer, below limit: Int, _ random: inout SplitMix64
  ) {
    for _ in 0...random.next() % 8 {
      let bit = Int(random.next() % UInt64(limit * 8))
      unsafe bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
  }

  static func fill(_ bytes: UnsafeMutableRawBufferPointer, _ random: inout SplitMix64) {
    var word: UInt64 = 0
    for index in bytes.indices {
      if index % 8 == 0 { word = random.next() }
      unsafe bytes[index] = UInt8(truncatingIfNeeded: word)
      word >>= 8
    }
  }
}
