import EngineInterface
import ModelFile
import TensorCore

/// A low-rank adapter beside a model's weights, which stay as they are: every session says whether it
/// runs with it.
final class ModelAdapter: EngineAdapter {
  let name: String
  let parameterCount: Int
  let byteCount: Int
  /// The digest of the factors: what tells it from every other adapter of its model.
  let digest: UInt64
  /// By the group that they are added to.
  private let additions: [ObjectIdentifier: GroupAddition]

  /// Loads all factors of a file; a matrix that the model has not, or not in that shape, is an error
  /// that names file and tensor.
  init(
    _ file: AdapterFile, groups: [LinearGroup], header: ModelHeader, compute: Compute
  ) throws(InputError) {
    let path = file.file.path
    guard !file.hasForeignNames || header.ropePairing == .halves else {
      throw InputError(
        file: path, place: "header",
        reason: "PEFT's query and key rows stand in another order than this model's")
    }
    let byName = Dictionary(
      groups.flatMap(\.layers).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var products: [ObjectIdentifier: LowRankProduct] = [:]
    var digests: [UInt64] = []
    for entry in file.entries {
      guard let matrix = byName[entry.matrix] else {
        throw InputError(
          file: path, place: "tensor \(entry.a.name)",
          reason: "the model has no matrix \(entry.matrix)")
      }
      guard entry.b.shape.rowCount == matrix.rows, entry.a.shape.columnCount == matrix.columns,
        entry.rank <= min(matrix.rows, matrix.columns)
      else {
        throw InputError(
          file: path, place: "tensor \(entry.a.name)",
          reason: "B \(entry.b.shape) and A \(entry.a.shape) do not fit \(entry.matrix) of "
            + "\(matrix.rows)x\(matrix.columns)")
      }
      let (a, b) = (try FloatMatrix(entry.a, of: file), try FloatMatrix(entry.b, of: file))
      digests += [a.digest, b.digest, UInt64(entry.scale.bitPattern)]
      products[ObjectIdentifier(matrix)] = LowRankProduct(
        a: a, b: b, scale: entry.scale, compute: compute)
    }
    name = path
    parameterCount = file.entries.reduce(0) {
      $0 + $1.a.shape.elementCount + $1.b.shape.elementCount
    }
    byteCount = products.values.reduce(0) { $0 + $1.byteCount }
    digest = ContentDigest.of(chunkHashes: digests)
    var additions: [ObjectIdentifier: GroupAddition] = [:]
    for group in groups {
      additions[ObjectIdentifier(group)] = GroupAddition(
        group.layers.map { products[ObjectIdentifier($0)] })
    }
    self.additions = additions
  }

  /// What is added to a group, where anything is.
  func addition(to group: LinearGroup) -> GroupAddition? { additions[ObjectIdentifier(group)] }

  /// Whether it was loaded for a model of these groups.
  func fits(_ groups: [LinearGroup]) -> Bool {
    groups.contains { additions[ObjectIdentifier($0)] != nil }
  }
}

extension FloatMatrix {
  /// An adapter's factor: binary16 stays that, other elements become binary32.
  convenience init(_ tensor: SafetensorsTensor, of file: AdapterFile) throws(InputError) {
    let isHalf = tensor.element == .f16
    let storage =
      isHalf ? try Self.bytes(of: tensor, in: file.file) : try Self.floats(of: tensor, in: file)
    try Self.check(storage, isHalf: isHalf, tensor, of: file.file)
    self.init(
      storage,
      rows: tensor.shape.rowCount, columns: tensor.shape.columnCount,
      format: isHalf ? .f16 : .f32)
  }

  /// Refuses an element that is not a finite number: every product with it would be none.
  private static func check(
    _ storage: borrowing AlignedStorage, isHalf: Bool, _ tensor: SafetensorsTensor,
    of file: SafetensorsFile
  ) throws(InputError) {
    let bytes = storage.bytes
    for index in 0..<tensor.shape.elementCount {
      // Inside the bytes, which hold that many elements; any bits are an integer.
      let isFinite =
        isHalf
        ? unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 2 * index, as: UInt16.self) & 0x7C00
          != 0x7C00
        : unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
          & 0x7F80_0000 != 0x7F80_0000
      guard !isFinite else { continue }
      let (row, column) = index.quotientAndRemainder(dividingBy: tensor.shape.columnCount)
      throw InputError(
        file: file.path, place: "tensor \(tensor.name)", offset: tensor.offset,
        reason: "row \(row), column \(column): not a finite number")
    }
  }

  private static func bytes(
    of tensor: SafetensorsTensor, in file: SafetensorsFile
  ) throws(InputError) -> AlignedStorage {
    let storage = AlignedStorage(byteCount: tensor.byteCount)
    let base = unsafe storage.baseAddress
    // The whole storage, exclusive for the call.
    var output = unsafe MutableRawSpan(_unsafeStart: base, byteCount: tensor.byteCount)
    try file.readBytes(from: 0, of: tensor, into: &output)
    return storage
  }

  private static func floats(
    of tensor: SafetensorsTensor, in file: AdapterFile
  ) throws(InputError) -> AlignedStorage {
    let count = tensor.shape.elementCount
    let storage = AlignedStorage(byteCount: count * 4)
    // Storage of `count` floats, aligned for them, exclusive for the call.
    var output = unsafe MutableSpan(
      _unsafeStart: storage.baseAddress.assumingMemoryBound(to: Float.self), count: count)
    try file.readFactor(tensor, into: &output)
    return storage
  }
}
