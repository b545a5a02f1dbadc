import KernelContract
import PackedFormats
import QuantKernels
import TensorCore

/// Weights to multiply with: normal random numbers, packed once and laid out as often as asked.
@safe
struct KernelWeights {
  /// Formats with products, packed and float.
  static let formats: [WeightFormat?] =
    WeightFormat.allCases.filter { PackedMatrix.supports($0) || $0 == .f32 || $0 == .f16 }

  enum Copy {
    case packed(PackedMatrix)
    case float(FloatMemory)
  }

  let format: WeightFormat
  let copies: [Copy]
  /// Bytes that a product reads of one copy.
  let byteCount: Int

  /// - Parameter totalByteCount: the copies take at least so many bytes together.
  init(
    _ format: WeightFormat, rows: Int, columns: Int, partitionLimit: Int?, totalByteCount: Int,
    pool: ThreadPool
  ) throws {
    let planes = try Self.planes(
      format, rows: rows, columns: columns, partitionLimit: partitionLimit)
    func copy() throws -> (Copy, Int) {
      if format == .f32 || format == .f16 {
        let memory = FloatMemory(planes.codes.bytes)
        return (.float(memory), memory.byteCount)
      }
      let matrix = try PackedMatrix(
        format: format, rows: rows, columns: columns, codes: planes.codes.bytes,
        scales: planes.scales.bytes, minimums: planes.minimums.bytes, pool: pool)
      return (.packed(matrix), matrix.byteCount)
    }
    let (first, byteCount) = try copy()
    var copies = [first]
    while copies.count * byteCount < totalByteCount { copies.append(try copy().0) }
    self.format = format
    self.copies = copies
    self.byteCount = byteCount
  }

  private struct Planes: ~Copyable {
    let codes: AlignedStorage
    let scales: AlignedStorage
    let minimums: AlignedStorage
  }

  private static func planes(
    _ format: WeightFormat, rows: Int, columns: Int, partitionLimit: Int?
  ) throws -> Planes {
    func storage(_ plane: Plane) -> AlignedStorage {
      AlignedStorage(byteCount: format.byteCount(of: plane, rows: rows, columns: columns) ?? 0)
    }
    var codes = storage(.codes)
    var scales = storage(.scales)
    var minimums = storage(.minimums)
    let values = ProductOperands.weights(count: rows * columns)
    var spans = MutablePackedPlanes(
      codes: codes.mutableBytes, scales: scales.mutableBytes, minimums: minimums.mutableBytes)
    try format.quantize(
      values.span, rowCount: rows, columnCount: columns,
      options: QuantizationOptions(
        scaleFit: .absoluteMaximum, effort: .fast, partitionLimit: partitionLimit),
      into: &spans)
    return Planes(codes: codes, scales: scales, minimums: minimums)
  }
}

/// Float weights, row-major.
@safe
final class FloatMemory: Sendable {
  private let storage: AlignedStorage

  init(_ bytes: RawSpan) {
    storage = AlignedStorage(byteCount: bytes.byteCount, prefersHugePages: true)
    unsafe bytes.withUnsafeBytes { source in
      // The storage is as long as the bytes.
      if let start = source.baseAddress {
        unsafe storage.baseAddress.copyMemory(from: start, byteCount: source.count)
      }
    }
  }

  var byteCount: Int { storage.byteCount }
  @unsafe var address: UnsafeRawPointer { unsafe UnsafeRawPointer(storage.baseAddress) }
}
