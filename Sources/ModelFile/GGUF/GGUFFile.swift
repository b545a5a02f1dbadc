import PackedFormats
import TensorCore

/// A tensor as the directory of a GGUF file lists it.
package struct GGUFTensor: Hashable, Sendable {
  package var name: String
  /// Outermost first: the file's own order reversed.
  package var shape: TensorShape
  package var type: GGUFTensorType
  /// Bytes from the beginning of the file to the tensor's data.
  package var offset: Int
  package var byteCount: Int
  /// Bytes from the beginning of the file to the tensor's entry in the directory.
  package var entryOffset: Int
}

/// A GGUF file, version 2 or 3, little-endian: metadata and tensor directory in memory, tensor data
/// read on demand.
///
/// Opening reads only the head of the file and allocates a small multiple of it; every count,
/// string, type, dimension and range is checked, and an error names the file, the key or tensor and
/// the byte offset. The layout is that of the GGUF specification (ggml, `docs/gguf.md`).
package final class GGUFFile: Sendable {
  package let version: UInt32
  /// Tensor data begins at multiples of this.
  package let alignment: Int
  package let metadata: GGUFMetadata
  /// In file order.
  package let tensors: [GGUFTensor]
  let file: GGUFInput

  /// The file as the user named it.
  package var path: String { file.path }
  package var byteCount: Int { file.byteCount }

  /// Reads and checks metadata and directory.
  package init(path: String) throws(InputError) {
    file = try GGUFInput(path: path)
    var cursor = GGUFCursor(file)
    version = try Self.readVersion(&cursor)
    let tensorCount = try cursor.count(of: "tensors", minimumByteCount: 24)
    let pairCount = try cursor.count(of: "key-value pairs", minimumByteCount: 13)
    metadata = try Self.readMetadata(&cursor, count: pairCount)
    alignment = try Self.alignment(metadata).inFile(path)
    tensors = try Self.readTensors(&cursor, count: tensorCount, alignment: alignment)
    try Self.checkOverlaps(tensors, path: path)
  }

  private static func readVersion(_ cursor: inout GGUFCursor) throws(InputError) -> UInt32 {
    let magic: UInt32 = try cursor.integer()
    guard magic == 0x4655_4747 else { throw cursor.error("not a GGUF file", at: 0) }
    let version: UInt32 = try cursor.integer()
    if version & 0xFFFF == 0, version != 0 {
      throw cursor.error("a big-endian GGUF file, which is not supported", at: 4)
    }
    guard version == 2 || version == 3 else {
      throw cursor.error("GGUF version \(version) is not supported, only 2 and 3", at: 4)
    }
    return version
  }

  private static func readMetadata(
    _ cursor: inout GGUFCursor, count: Int
  ) throws(InputError) -> GGUFMetadata {
    var metadata = GGUFMetadata()
    for index in 0..<count {
      cursor.place = "key-value pair \(index)"
      let start = cursor.offset
      let key = try cursor.string()
      guard !key.isEmpty else { throw cursor.error("an empty key", at: start) }
      cursor.place = "key \(key)"
      let type: UInt32 = try cursor.integer()
      let offset = cursor.offset
      let value = try cursor.value(type: type)
      guard metadata.append(.init(key: key, value: value, offset: offset)) else {
        throw cursor.error("the key occurs twice", at: start)
      }
    }
    return metadata
  }

  private static func alignment(_ metadata: GGUFMetadata) -> Result<Int, InputError> {
    let key = "general.alignment"
    return Result { () throws(InputError) in
      guard let alignment = try metadata.count(key) else { return 32 }
      guard alignment > 0, alignment & (alignment - 1) == 0, alignment <= 1 << 30 else {
        throw metadata.error(key, "\(alignment) is not a power of two up to 2^30")
      }
      return alignment
    }
  }

  private static func readTensors(
    _ cursor: inout GGUFCursor, count: Int, alignment: Int
  ) throws(InputError) -> [GGUFTensor] {
    var tensors: [GGUFTensor] = []
    tensors.reserveCapacity(count)
    var names: Set<String> = []
    for index in 0..<count {
      cursor.place = "tensor \(index)"
      let start = cursor.offset
      let name = try cursor.string()
      guard !name.isEmpty else { throw cursor.error("an empty name", at: start) }
      cursor.place = "tensor \(name)"
      guard names.insert(name).inserted else {
        throw cursor.error("the name occurs twice", at: start)
      }
      tensors.append(
        try readTensor(&cursor, name: name, entryOffset: start, alignment: alignment))
    }
    // The directory's end, rounded up: it is at most the file's byte count plus 2^30.
    let fileByteCount = cursor.offset + cursor.remaining
    let dataStart = (cursor.offset + alignment - 1) & ~(alignment - 1)
    for index in tensors.indices {
      let tensor = tensors[index]
      let (start, overflow) = dataStart.addingReportingOverflow(tensor.offset)
      guard !overflow, start <= fileByteCount, fileByteCount - start >= tensor.byteCount else {
        cursor.place = "tensor \(tensor.name)"
        throw cursor.error(
          "\(tensor.byteCount) bytes at offset \(tensor.offset) of the data lie outside the file",
          at: tensor.entryOffset)
      }
      tensors[index].offset = start
    }
    return tensors
  }

  /// One entry; its offset still counts from the beginning of the data.
  private static func readTensor(
    _ cursor: inout GGUFCursor, name: String, entryOffset: Int, alignment: Int
  ) throws(InputError) -> GGUFTensor {
    let rankOffset = cursor.offset
    let rank: UInt32 = try cursor.integer()
    guard (1...4).contains(rank) else {
      throw cursor.error("\(rank) dimensions instead of 1 to 4", at: rankOffset)
    }
    var dimensions: [Int] = []
    for _ in 0..<rank {
      let start = cursor.offset
      let raw: UInt64 = try cursor.integer()
      guard let dimension = Int(exactly: raw), dimension > 0 else {
        throw cursor.error("the dimension \(raw) is not supported", at: start)
      }
      dimensions.append(dimension)
    }
    guard let shape = TensorShape(dimensions.reversed()) else {
      throw cursor.error("the product of the dimensions overflows", at: rankOffset)
    }
    let typeOffset = cursor.offset
    let number: UInt32 = try cursor.integer()
    guard let type = GGUFTensorType(rawValue: number) else {
      throw cursor.error("the tensor type \(number) is not supported", at: typeOffset)
    }
    guard shape.columnCount % type.unitElementCount == 0 else {
      throw cursor.error(
        "\(shape.columnCount) columns are no multiple of \(type.unitElementCount), as \(type.name) "
          + "needs", at: rankOffset)
    }
    let units = shape.elementCount / type.unitElementCount
    let (byteCount, overflow) = units.multipliedReportingOverflow(by: type.unitByteCount)
    guard !overflow else {
      throw cursor.error("the byte count of \(shape) elements overflows", at: rankOffset)
    }
    let start = cursor.offset
    let rawOffset: UInt64 = try cursor.integer()
    guard let offset = Int(exactly: rawOffset) else {
      throw cursor.error("the data offset \(rawOffset) lies outside the file", at: start)
    }
    guard offset % alignment == 0 else {
      throw cursor.error("the data offset \(offset) is no multiple of \(alignment)", at: start)
    }
    return GGUFTensor(
      name: name, shape: shape, type: type, offset: offset, byteCount: byteCount,
      entryOffset: entryOffset)
  }

  private static func checkOverlaps(
    _ tensors: [GGUFTensor], path: String
  ) throws(InputError) {
    let sorted = tensors.sorted { $0.offset < $1.offset }
    for (first, second) in zip(sorted, sorted.dropFirst())
    where first.offset + first.byteCount > second.offset {
      throw InputError(
        file: path, place: "tensor \(second.name)", offset: second.entryOffset,
        reason: "its data at \(second.offset) overlaps that of \(first.name)")
    }
  }
}

extension Result where Failure == InputError {
  /// The value, or the error with its file named.
  fileprivate func inFile(_ path: String) throws(InputError) -> Success {
    switch self {
    case .success(let value): return value
    case .failure(let error): throw error.inFile(path)
    }
  }
}
