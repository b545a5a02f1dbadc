import Files
import KVCache
import TensorCore

/// Compares the header of a snapshot, field by field, with the cache that it is to be restored to.
///
/// Nothing of the file's shape is ever believed: what differs from the expected shape ends reading
/// before a count of the file's is used.
struct SnapshotFields {
  private let bytes: [UInt8]
  private let file: String
  private var offset: Int

  /// The fields of a header whose digest has been checked.
  init(_ bytes: [UInt8], file: String) {
    self.bytes = bytes
    self.file = file
    offset = SnapshotHeader.prologueByteCount
  }

  /// The header, which is of that model and layout.
  static func read(
    _ bytes: [UInt8], file: String, identity: PrefixIdentity, layout: CacheLayout
  ) throws(SnapshotError) -> SnapshotHeader {
    var fields = SnapshotFields(bytes, file: file)
    try fields.expect(identity.model, "model")
    try fields.expect(identity.adapter, "adapter")
    try fields.expect(layout.pagePositions, "positions a page")
    try fields.expect(layout.groups.count, "groups")
    for (index, group) in layout.groups.enumerated() {
      try fields.expect(group, index)
    }
    try fields.expect(layout.layers.count, "layers")
    for (index, place) in layout.layers.enumerated() {
      try fields.expect(place.group, "group of layer \(index)")
      try fields.expect(place.store, "store of layer \(index)")
    }
    var header = SnapshotHeader(identity: identity, layout: layout, positionCount: 0, tokenCount: 0)
    header.positionCount = try fields.count("position count", below: 1 << 40)
    header.tokenCount = try fields.count("token count", below: header.positionCount + 1)
    header.frameByteCount = try fields.count("frame byte count", below: 1 << 60)
    header.frameDigest = try fields.integer(UInt64.self)
    guard fields.offset == bytes.count else {
      throw .input(
        InputError(file: file, place: "header", offset: fields.offset, reason: "unknown fields"))
    }
    return header
  }

  private mutating func expect(_ group: CacheGroup, _ index: Int) throws(SnapshotError) {
    let geometry = group.geometry
    try expect(geometry.storeCount, "stores of group \(index)")
    try expect(geometry.headCount, "heads of group \(index)")
    try expect(geometry.headDimension, "head dimension of group \(index)")
    try expect(geometry.keyElement.rawValue, "key element of group \(index)")
    try expect(geometry.valueElement.rawValue, "value element of group \(index)")
    let window = try integer(UInt64.self)
    guard window == UInt64(group.window ?? 0) else {
      throw differs("window of group \(index)", "\(window)", "\(group.window ?? 0)")
    }
    let scales = group.staticScales.map { $0.keys + $0.values } ?? []
    try expect(group.staticScales == nil ? 0 : geometry.storeCount, "scales of group \(index)")
    for (number, scale) in scales.enumerated() {
      let found = Float(bitPattern: try integer(UInt32.self))
      guard found.bitPattern == scale.bitPattern else {
        throw differs("static scale \(number) of group \(index)", "\(found)", "\(scale)")
      }
    }
  }

  // MARK: - Fields

  private func differs(_ what: String, _ found: String, _ expected: String) -> SnapshotError {
    .differs(file: file, what: what, found: found, expected: expected)
  }

  private mutating func expect(_ expected: Int, _ what: String) throws(SnapshotError) {
    let found = Int(try integer(UInt32.self))
    guard found == expected else { throw differs(what, "\(found)", "\(expected)") }
  }

  private mutating func expect(_ expected: String, _ what: String) throws(SnapshotError) {
    let count = Int(try integer(UInt32.self))
    let found = String(decoding: try take(count), as: UTF8.self)
    guard found == expected else { throw differs(what, "“\(found)”", "“\(expected)”") }
  }

  private mutating func count(_ what: String, below limit: Int) throws(SnapshotError) -> Int {
    let value = try integer(UInt64.self)
    guard value < UInt64(limit) else {
      throw .input(
        InputError(file: file, place: what, offset: offset - 8, reason: "\(value) is too much"))
    }
    return Int(value)
  }

  private mutating func integer<T: FixedWidthInteger & UnsignedInteger>(
    _ type: T.Type
  ) throws(SnapshotError) -> T {
    try take(T.bitWidth / 8).reversed().reduce(0) { $0 << 8 | T($1) }
  }

  private mutating func take(_ count: Int) throws(SnapshotError) -> ArraySlice<UInt8> {
    guard count <= bytes.count - offset else {
      throw .input(
        InputError(
          file: file, place: "header", offset: offset,
          reason: "\(count - (bytes.count - offset)) bytes are missing"))
    }
    defer { offset += count }
    return bytes[offset..<offset + count]
  }
}
