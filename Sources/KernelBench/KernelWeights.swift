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
    var generator = Weights(state: 1)
    let values = (0..<rows * columns).map { _ in generator.next() }
    var spans = MutablePackedPlanes(
      codes: codes.mutableBytes, scales: scales.mutableBytes, minimums: minimums.mutableBytes)
    try format.quantize(
      values.span, rowCount: rows, columnCount: columns,
      options: QuantizationOptions(
        scaleFit: .absoluteMaximum, effort: .fast, partitionLimit: partitionLimit),
      into: &spans)
    return Planes(codes: codes, scales: scales, minimums: minimums)
  }

  /// About normal: sums of four uniform numbers, the same from run to run.
  private struct Weights {
    var state: UInt64

    mutating func next() -> Float {
      var sum: Float = 0
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      for shift in [16, 28, 40, 52] as [UInt64] { sum += Float(state >> shift & 0xFFF) }
      return (sum - 2 * 4095) / 4096
    }
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
