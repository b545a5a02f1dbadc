import ModelFile
import PackedFormats
import QuantKernels
import TensorCore

/// Brings a model's tensors into the forms that run. Those of a packed file are loaded in one pass
/// in the layouts that they run in; what has to be converted exists twice one tensor at a time.
struct WeightLoader {
  /// Where tensors come from.
  enum Source {
    /// A packed file.
    case container(ContainerTensors)
    /// A float model, run in float32.
    case floats(any ModelSource, file: String)
  }

  private let source: Source
  private let compute: Compute
  /// Bytes of the model's file.
  let fileByteCount: Int

  init(_ source: Source, fileByteCount: Int, compute: Compute) {
    self.source = source
    self.fileByteCount = fileByteCount
    self.compute = compute
  }

  /// What tells the model from every other one: the digest of a packed file, else all that a float
  /// model's files say about their origin.
  var modelIdentity: String {
    switch source {
    case .container(let tensors): "afmw " + String(tensors.file.digest, radix: 16)
    case .floats(let model, _):
      "\(model.header.name), \(fileByteCount) bytes "
        + model.provenance.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        .joined(separator: " ")
    }
  }

  /// The matrix `name.weight` of that shape, and `name.bias` where there is to be one. One whose
  /// rows are looked up may not have an adapter.
  func linear(
    _ name: String, rows: Int, columns: Int, hasBias: Bool = false, isLookedUp: Bool = false
  ) throws -> Linear {
    let weight = "\(name).weight"
    let bias = hasBias ? try vector("\(name).bias", count: rows) : nil
    switch source {
    case .container(let tensors):
      let adapter = try adapter(of: weight, in: tensors)
      guard adapter == nil || !isLookedUp else {
        throw InputError(
          file: path, place: "tensor \(weight)", reason: "an embedding cannot have an adapter")
      }
      let tensor = try tensors.take(weight)
      try check(tensor.shape, is: [rows, columns], name: weight)
      if FloatMatrix.runs(tensor.format) {
        let matrix = FloatMatrix(tensor, rows: rows, columns: columns)
        return Linear(
          weight, float: matrix, bias: bias, adapter: adapter, compute: compute)
      }
      guard Self.hasKernels(tensor) else {
        let plain = unpacked(tensor.inCanonicalLayout(), rows: rows, columns: columns)
        return Linear(weight, float: plain, bias: bias, adapter: adapter, compute: compute)
      }
      let packed = try pack(tensor, rows: rows, columns: columns)
      return Linear(
        weight, packed: packed, bias: bias, adapter: adapter, compute: compute)
    case .floats(let model, let file):
      let values = try floats(of: model, file: file, name: weight, shape: [rows, columns])
      let matrix = FloatMatrix(values, rows: rows, columns: columns)
      return Linear(weight, float: matrix, bias: bias, adapter: nil, compute: compute)
    }
  }

  /// Layers that will run together.
  func group(_ layers: [Linear], isPaired: Bool = false) -> LinearGroup {
    LinearGroup(layers, isPaired: isPaired, compute: compute)
  }

  /// Whether the kernels read a tensor as it was loaded; ASTC blocks that have no place in tiles
  /// stay canonical.
  private static func hasKernels(_ tensor: LoadedTensor) -> Bool {
    guard tensor.format.isASTC else { return PackedMatrix.supports(tensor.format) }
    return tensor.layout == .astcTiles && tensor.shape.columnCount <= PackedMatrix.columnLimit
  }

  /// The low-rank addition to a matrix, where the file has one; its shapes were checked when the
  /// file was opened.
  private func adapter(
    of name: String, in tensors: ContainerTensors
  ) throws(InputError) -> LowRankProduct? {
    let file = tensors.file
    guard let index = file.index(ofTensor: name), let adapter = file.adapter(ofTensor: index) else {
      return nil
    }
    func factor(_ number: Int) throws(InputError) -> FloatMatrix {
      let tensor = try tensors.take(file.tensors[number].name)
      return FloatMatrix(tensor, rows: tensor.shape.rowCount, columns: tensor.shape.columnCount)
    }
    return LowRankProduct(a: try factor(adapter.a), b: try factor(adapter.b), compute: compute)
  }

  /// The values of a tensor that no kernel reads, as f32: exact, and as large as f32 is.
  private func unpacked(_ tensor: LoadedTensor, rows: Int, columns: Int) -> FloatMatrix {
    let storage = AlignedStorage(byteCount: rows * columns * 4, prefersHugePages: true)
    let output = unsafe FloatRows(
      start: storage.baseAddress.assumingMemoryBound(to: Float.self))
    compute.pool.runRanges(rows) { range, _ in
      // Every thread writes the rows of its own range, all inside the storage.
      var span = unsafe MutableSpan(
        _unsafeStart: output.start + range.lowerBound * columns, count: range.count * columns)
      tensor.format.dequantize(
        tensor.planes.rows(range, columnCount: columns, format: tensor.format),
        rowCount: range.count, columnCount: columns, into: &span)
    }
    return FloatMatrix(storage, rows: rows, columns: columns)
  }

  private func pack(
    _ tensor: LoadedTensor, rows: Int, columns: Int
  ) throws(InputError) -> PackedMatrix {
    guard tensor.layout == .canonical || columns <= PackedMatrix.columnLimit else {
      return try pack(tensor.inCanonicalLayout(), rows: rows, columns: columns)
    }
    if tensor.layout == .rowTiles,
      let layout = RowTileLayout(format: tensor.format, rows: rows, columns: columns)
    {
      // The tensor keeps its planes in place, and the matrix keeps the tensor.
      return unsafe PackedMatrix(
        layout, codes: tensor.address(of: .codes), scales: tensor.address(of: .scales),
        owner: tensor)
    }
    if tensor.layout == .astcTiles,
      let layout = ASTCTileLayout(format: tensor.format, rows: rows, columns: columns)
    {
      // Likewise; the loader has validated the tiles, or made them.
      return unsafe PackedMatrix(
        layout, codes: tensor.address(of: .codes), scales: tensor.address(of: .scales),
        owner: tensor)
    }
    do {
      return try PackedMatrix(
        format: tensor.format, rows: rows, columns: columns, codes: tensor.codes,
        scales: tensor.scales, minimums: tensor.minimums, pool: compute.pool)
    } catch {
      throw InputError(file: path, place: "tensor \(tensor.name)", reason: error.reason)
    }
  }

  /// A vector of `count` float32 values.
  func vector(_ name: String, count: Int) throws -> FloatVector {
    switch source {
    case .container(let tensors):
      let tensor = try tensors.take(name).inCanonicalLayout()
      try check(tensor.shape, is: [count], name: name)
      let storage = AlignedStorage(byteCount: count * 4)
      dequantize(tensor, count: count, into: storage)
      return FloatVector(storage, count: count)
    case .floats(let model, let file):
      return FloatVector(
        try floats(of: model, file: file, name: name, shape: [count]), count: count)
    }
  }

  private func dequantize(
    _ tensor: LoadedTensor, count: Int, into storage: borrowing AlignedStorage
  ) {
    // Storage of `count` floats, aligned for them, exclusive for the call.
    var output = unsafe MutableSpan(
      _unsafeStart: storage.baseAddress.assumingMemoryBound(to: Float.self), count: count)
    tensor.format.dequantize(
      tensor.planes, rowCount: 1, columnCount: count, into: &output)
  }

  /// All values of a tensor of a float model.
  private func floats(
    of model: any ModelSource, file: String, name: String, shape: [Int]
  ) throws -> AlignedStorage {
    guard let index = model.tensors.firstIndex(where: { $0.name == name }) else {
      throw InputError(file: file, place: "tensor \(name)", reason: "the file has no such tensor")
    }
    let found = model.tensors[index].shape
    try check(found, is: shape, name: name)
    let storage = AlignedStorage(byteCount: found.elementCount * 4, prefersHugePages: true)
    // Storage of elementCount floats, aligned for them, exclusive for the call.
    var output = unsafe MutableSpan(
      _unsafeStart: storage.baseAddress.assumingMemoryBound(to: Float.self),
      count: found.elementCount)
    try model.readRows(0..<found.rowCount, ofTensor: index, into: &output)
    return storage
  }

  private func check(_ found: TensorShape, is expected: [Int], name: String) throws(InputError) {
    guard found.dimensions == expected else {
      let wanted = expected.map(String.init).joined(separator: "x")
      throw InputError(
        file: path, place: "tensor \(name)", reason: "its shape is \(found), not \(wanted)")
    }
  }

  private var path: String {
    switch source {
    case .container(let tensors): tensors.file.path
    case .floats(_, let file): file
    }
  }
}

/// Where threads write rows of their own.
@safe
private struct FloatRows: @unchecked Sendable {
  let start: UnsafeMutablePointer<Float>
}
