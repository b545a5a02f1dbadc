import PackedFormats
import TensorCore

/// The tensors of a file: section `TENS`.
///
/// A count (8 bytes), then the tensors, each
///
/// | offset | bytes | field |
/// | --- | --- | --- |
/// | 0 | 2 | format number |
/// | 2 | 2 | layout number |
/// | 4 | 2 | name byte count |
/// | 6 | 1 | rank |
/// | 7 | 1 | plane count |
/// | 8 | 8 · rank | dimensions, outermost first |
/// | | 32 · plane count | planes |
/// | | | name in UTF-8, zeros to a multiple of eight bytes |
///
/// and every plane
///
/// | offset | bytes | field |
/// | --- | --- | --- |
/// | 0 | 1 | plane number |
/// | 1 | 1 | storage |
/// | 2 | 6 | reserved |
/// | 8 | 4 | first frame |
/// | 12 | 4 | frame count |
/// | 16 | 8 | byte count |
/// | 24 | 8 | digest |
struct TensorDirectory {
  /// What the directory says of a plane.
  struct PlaneEntry: Hashable {
    var plane: Plane
    var storage: PlaneStorage
    var frames: Range<Int>
    var byteCount: Int
    var digest: UInt64
  }

  struct TensorEntry: Hashable {
    var name: String
    var shape: TensorShape
    var format: WeightFormat
    var layout: WeightLayout
    var planes: [PlaneEntry]
  }

  /// Appends an entry in its encoded form.
  static func append(_ tensor: TensorEntry, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.appendLittleEndian(tensor.format.rawValue)
    bytes.appendLittleEndian(tensor.layout.rawValue)
    bytes.appendLittleEndian(UInt16(tensor.name.utf8.count))
    bytes.append(UInt8(tensor.shape.dimensions.count))
    bytes.append(UInt8(tensor.planes.count))
    for dimension in tensor.shape.dimensions { bytes.appendLittleEndian(UInt64(dimension)) }
    for plane in tensor.planes {
      bytes.append(plane.plane.rawValue)
      bytes.append(plane.storage.rawValue)
      bytes.appendLittleEndian(UInt16(0))
      bytes.appendLittleEndian(UInt32(0))
      bytes.appendLittleEndian(UInt32(plane.frames.lowerBound))
      bytes.appendLittleEndian(UInt32(plane.frames.count))
      bytes.appendLittleEndian(UInt64(plane.byteCount))
      bytes.appendLittleEndian(plane.digest)
    }
    bytes += Array(tensor.name.utf8)
    bytes.padToEight(from: start)
  }

  /// Why a tensor cannot stand in a file, or nil where it can.
  static func fault(name: String, shape: TensorShape) -> String? {
    if name.isEmpty || name.utf8.count > ContainerLayout.nameByteLimit {
      return "a name has 1 to \(ContainerLayout.nameByteLimit) bytes"
    }
    if shape.dimensions.count > ContainerLayout.rankLimit {
      return "rank \(shape.dimensions.count) is above \(ContainerLayout.rankLimit)"
    }
    if shape.elementCount == 0 { return "the tensor has no elements" }
    return nil
  }
}

/// Reads section `TENS` and checks every entry against the frame table.
struct TensorDirectoryParser {
  private var reader: IndexReader
  private let table: FrameTable
  /// Which frames a plane has named already: none may be named twice.
  private var named: [Bool]
  private var names: Set<String> = []

  init(_ section: IndexReader, table: FrameTable) {
    reader = section
    self.table = table
    named = Array(repeating: false, count: table.frames.count)
  }

  /// The tensors, and which frames belong to none of them.
  mutating func parse() throws(InputError) -> (tensors: [StoredTensor], unnamedFrames: [Int]) {
    let smallest = ContainerLayout.tensorEntryByteCount + ContainerLayout.planeEntryByteCount
    let count = try reader.count(
      for: "the tensor count",
      limit: min(ContainerLayout.tensorCountLimit, reader.remaining / smallest))
    var tensors: [StoredTensor] = []
    tensors.reserveCapacity(count)
    for index in 0..<count {
      reader.place = "tensor \(index)"
      tensors.append(try tensor())
    }
    reader.place = "section TENS"
    guard reader.remaining == 0 else {
      throw reader.error("\(reader.remaining) bytes follow the last tensor")
    }
    return (tensors, named.indices.filter { !named[$0] })
  }

  private mutating func tensor() throws(InputError) -> StoredTensor {
    let start = reader.position
    let startOffset = reader.offset
    let formatNumber = try reader.integer(UInt16.self, for: "the format")
    let layoutNumber = try reader.integer(UInt16.self, for: "the layout")
    let nameByteCount = Int(try reader.integer(UInt16.self, for: "the name's byte count"))
    let rank = Int(try reader.integer(UInt8.self, for: "the rank"))
    let planeCount = Int(try reader.integer(UInt8.self, for: "the plane count"))
    guard rank <= ContainerLayout.rankLimit else {
      throw reader.error("rank \(rank) is above \(ContainerLayout.rankLimit)", at: startOffset + 6)
    }
    var dimensions: [Int] = []
    for _ in 0..<rank { dimensions.append(try reader.count(for: "a dimension")) }
    let planesPosition = reader
    _ = try reader.take(planeCount * ContainerLayout.planeEntryByteCount, for: "the planes")
    let name = try reader.string(byteCount: nameByteCount, for: "the name")
    if !name.isEmpty { reader.place = "tensor \(name)" }
    try reader.padding(from: start)

    guard let shape = TensorShape(dimensions) else {
      throw reader.error("the product of the dimensions is too large", at: startOffset + 8)
    }
    if let fault = TensorDirectory.fault(name: name, shape: shape) {
      throw reader.error(fault, at: startOffset)
    }
    guard names.insert(name).inserted else {
      throw reader.error("a second tensor has this name", at: startOffset)
    }
    guard let format = WeightFormat(rawValue: formatNumber) else {
      throw reader.error("format \(formatNumber) is unknown", at: startOffset)
    }
    guard let layout = WeightLayout(rawValue: layoutNumber) else {
      throw reader.error("layout \(layoutNumber) is unknown", at: startOffset + 2)
    }
    let expected = layout.planes(of: format)
    guard !expected.isEmpty else {
      throw reader.error("layout \(layout.name) has no \(format.name)", at: startOffset + 2)
    }
    guard planeCount == expected.count else {
      throw reader.error(
        "\(format.name) has \(expected.count) planes, not \(planeCount)", at: startOffset + 7)
    }
    let behind = reader
    reader = planesPosition
    reader.place = behind.place
    var planes: [StoredPlane] = []
    for plane in expected {
      planes.append(try self.plane(expecting: plane, format: format, layout: layout, shape: shape))
    }
    reader = behind
    return StoredTensor(
      name: name, shape: shape, format: format, layout: layout, planes: planes)
  }

  private mutating func plane(
    expecting plane: Plane, format: WeightFormat, layout: WeightLayout, shape: TensorShape
  ) throws(InputError) -> StoredPlane {
    let start = reader.offset
    let number = try reader.integer(UInt8.self, for: "the plane number")
    let storageNumber = try reader.integer(UInt8.self, for: "the storage")
    try reader.reserved(UInt16.self)
    try reader.reserved(UInt32.self)
    let first = Int(try reader.integer(UInt32.self, for: "the first frame"))
    let count = Int(try reader.integer(UInt32.self, for: "the frame count"))
    let byteCount = try reader.count(for: "the byte count")
    let digest = try reader.integer(UInt64.self, for: "the digest")
    guard number == plane.rawValue else {
      throw reader.error("plane \(number) where \(format.name) has \(plane)", at: start)
    }
    guard let storage = PlaneStorage(rawValue: storageNumber) else {
      throw reader.error("storage \(storageNumber) is unknown", at: start + 1)
    }
    let expected = layout.byteCount(
      of: plane, format: format, rows: shape.rowCount, columns: shape.columnCount)
    guard byteCount == expected else {
      throw reader.error(
        "\(plane) has \(byteCount) bytes, \(format.name) of \(shape) has "
          + (expected.map { "\($0)" } ?? "more than can be addressed"), at: start + 16)
    }
    // Both numbers are below 2^32, so their sum fits.
    guard count > 0, first + count <= table.frames.count else {
      throw reader.error(
        "frames \(first) to \(first + count) of \(table.frames.count)", at: start + 8)
    }
    let frames = first..<first + count
    for frame in frames {
      guard !named[frame] else {
        throw reader.error("frame \(frame) belongs to another plane already", at: start + 8)
      }
      named[frame] = true
    }
    try checkFrames(frames, storage: storage, byteCount: byteCount, at: start)
    return StoredPlane(
      plane: plane, storage: storage, byteCount: byteCount,
      fileOffset: table.frames[first].offset,
      storedByteCount: table.frames[frames].reduce(0) { $0 + $1.compressedByteCount },
      digest: digest, frames: frames)
  }

  /// The frames must hold exactly the plane's bytes, in full chunks but for the last.
  private func checkFrames(
    _ range: Range<Int>, storage: PlaneStorage, byteCount: Int, at start: Int
  ) throws(InputError) {
    switch storage {
    case .stored:
      let frame = table.frames[range.lowerBound]
      let held =
        frame.compressedByteCount
        - ContainerLayout.storedPlaneOffset(frameOffset: frame.offset)
      guard range.count == 1, frame.kind == .stored, held == byteCount else {
        throw reader.error("its stored frame does not hold \(byteCount) bytes", at: start + 8)
      }
    case .compressed:
      var left = byteCount
      for index in range {
        let frame = table.frames[index]
        guard frame.kind == .data,
          frame.contentByteCount == min(left, ContainerLayout.contentLimit), left > 0
        else {
          throw reader.error(
            "frame \(index) does not hold the next bytes of the plane", at: start + 8)
        }
        left -= frame.contentByteCount
      }
      guard left == 0 else {
        throw reader.error("\(left) bytes of the plane are in no frame", at: start + 8)
      }
    }
  }
}
