import CQuantKernels
import KernelChecks
import PackedFormats
import TestSupport

/// Memory that begins at a multiple of 64, between two bands that no call may touch.
@safe final class CMemory {
  let base: UnsafeMutableRawPointer
  let byteCount: Int
  private let block: UnsafeMutableRawPointer

  init(_ byteCount: Int) {
    self.byteCount = byteCount
    unsafe block = .allocate(byteCount: byteCount + 128, alignment: 64)
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0xA5, count: byteCount + 128)
    unsafe base = block + 64
  }

  deinit { unsafe block.deallocate() }

  var bytes: [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: base, count: byteCount)) }

  /// Whether both bands are as they were.
  var isIntact: Bool {
    (0..<64).allSatisfy { index in
      // Both bands lie in the block.
      unsafe block.load(fromByteOffset: index, as: UInt8.self) == 0xA5
        && block.load(fromByteOffset: 64 + byteCount + index, as: UInt8.self) == 0xA5
    }
  }
}

/// Canonical planes whose numbers are legal.
struct CPlanes {
  let format: WeightFormat
  let rows: Int
  let columns: Int
  var codes: [UInt8] = []
  var scales: [UInt8] = []
  var minimums: [UInt8] = []

  /// The formats that are packed from floats.
  static let formats: [WeightFormat] = [.s8c, .s8g32, .u4g32, .u4c, .u2c, .u2g64]
  /// All that are multiplied.
  static let multiplied = formats + [.astc6x6LDR, .astc6x6HDR]

  init(_ format: WeightFormat, _ rows: Int, _ columns: Int, seed: UInt64) {
    self.format = format
    self.rows = rows
    self.columns = columns
    if format.isASTC {
      encode(seed: seed)
      return
    }
    var random = SeededGenerator(seed: seed)
    func count(_ plane: Plane) -> Int {
      format.byteCount(of: plane, rows: rows, columns: columns) ?? 0
    }
    codes = (0..<count(.codes)).map { _ in
      let byte = UInt8.random(in: 0...255, using: &random)
      return format.codeBitCount == 8 && byte == 0x80 ? 1 : byte
    }
    let bits = columns * (format.codeBitCount ?? 0)
    let rowBytes = (bits + 7) / 8
    let used = (bits - 1) % 8 + 1
    for row in 1...rows { codes[row * rowBytes - 1] &= UInt8((1 << used) - 1) }
    func numbers(_ plane: Plane) -> [UInt8] {
      var bytes: [UInt8] = []
      while bytes.count < count(plane) {
        let value = Float.random(in: plane == .scales ? 0...1 : -1...1, using: &random)
        let pattern =
          format.groupSize == nil ? value.bitPattern : UInt32(Float16(value).bitPattern)
        for byte in 0..<(format.groupSize == nil ? 4 : 2) {
          bytes.append(UInt8(truncatingIfNeeded: pattern >> UInt32(8 * byte)))
        }
      }
      return bytes
    }
    scales = numbers(.scales)
    minimums = numbers(.minimums)
  }

  /// Blocks that the encoder makes of random weights, of one partition or of several.
  private mutating func encode(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let weights = (0..<rows * columns).map { _ in Float.random(in: -1...1, using: &random) }
    func room(_ plane: Plane) -> [UInt8] {
      [UInt8](
        repeating: 0, count: format.byteCount(of: plane, rows: rows, columns: columns) ?? 0)
    }
    var blocks = room(.codes)
    var numbers = room(.scales)
    var offsets = room(.minimums)
    defer { (codes, scales, minimums) = (blocks, numbers, offsets) }
    var codeSpan = blocks.mutableSpan
    var scaleSpan = numbers.mutableSpan
    var minimumSpan = offsets.mutableSpan
    // Bytes have no padding, and every value is a valid one.
    var planes = unsafe MutablePackedPlanes(
      codes: codeSpan.mutableBytes, scales: scaleSpan.mutableBytes,
      minimums: minimumSpan.mutableBytes)
    let options = QuantizationOptions(effort: .fast, partitionLimit: seed % 2 == 0 ? 1 : 3)
    do {
      try format.quantize(
        weights.span, rowCount: rows, columnCount: columns, options: options, into: &planes)
    } catch {
      preconditionFailure("small weights were refused: \(error)")
    }
  }

  /// The planes of some rows, as C takes them.
  func withRows<Result>(
    _ rows: Range<Int>, _ body: (inout afm_planes) throws -> Result
  ) rethrows -> Result {
    func part(_ bytes: [UInt8], _ plane: Plane) -> [UInt8] {
      // Of ASTC in HDR one scale belongs to all rows.
      if format == .astc6x6HDR, plane == .scales { return bytes }
      let offset = { format.byteCount(of: plane, rows: $0, columns: columns) ?? 0 }
      return Array(bytes[offset(rows.lowerBound)..<offset(rows.upperBound)])
    }
    let codes = part(codes, .codes)
    let scales = part(scales, .scales)
    let minimums = part(minimums, .minimums)
    // The arrays outlive the call.
    return try unsafe codes.withUnsafeBytes { codes in
      try unsafe scales.withUnsafeBytes { scales in
        try unsafe minimums.withUnsafeBytes { minimums in
          var planes = unsafe afm_planes(
            codes: codes.baseAddress, codes_bytes: codes.count, scales: scales.baseAddress,
            scales_bytes: scales.count, minimums: minimums.baseAddress,
            minimums_bytes: minimums.count)
          return try unsafe body(&planes)
        }
      }
    }
  }
}

/// A matrix of the C library with its memory.
@safe struct CMatrix {
  let memory: CMemory
  let header: afm_matrix

  init(_ c: CLibrary, _ format: WeightFormat, _ rows: Int, _ columns: Int) {
    let raw = afm_format(format.rawValue)
    let bytes = c.bytes { unsafe c.matrixBytes(raw, Int64(rows), Int64(columns), $0) }
    memory = CMemory(max(0, bytes))
    unsafe header = afm_matrix(
      format: raw, rows: Int64(rows), columns: Int64(columns), memory: memory.base,
      memory_bytes: bytes)
  }

  /// From planes, as one part or as parts of 16 rows.
  init(_ c: CLibrary, _ planes: CPlanes, byTiles: Bool = false) throws {
    self.init(c, planes.format, planes.rows, planes.columns)
    var begin = 0
    while begin < planes.rows {
      let end = byTiles ? min(begin + 16, planes.rows) : planes.rows
      let error = unsafe planes.withRows(begin..<end) { part in
        unsafe withUnsafePointer(to: header) {
          unsafe c.packPlanes($0, Int64(begin), Int64(end), &part)
        }
      }
      guard error == 0 else { throw Oracle.Failure(description: "afm_pack_planes gave \(error)") }
      begin = end
    }
  }
}

/// Tokens of the C library with their memory.
@safe struct CTokens {
  let memory: CMemory
  let header: afm_activations

  init(_ c: CLibrary, _ format: WeightFormat, _ tokens: Int, _ columns: Int) {
    let raw = afm_format(format.rawValue)
    let bytes = c.bytes { unsafe c.activationBytes(raw, Int64(tokens), Int64(columns), $0) }
    memory = CMemory(max(0, bytes))
    unsafe header = afm_activations(
      format: raw, tokens: Int64(tokens), columns: Int64(columns), memory: memory.base,
      memory_bytes: bytes)
  }
}
