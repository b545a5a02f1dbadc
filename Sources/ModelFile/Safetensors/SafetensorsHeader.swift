import TensorCore

/// A tensor as the header of a safetensors file lists it.
package struct SafetensorsTensor: Hashable, Sendable {
  package var name: String
  package var element: SafetensorsElement
  /// Outermost first; empty for a scalar.
  package var shape: TensorShape
  /// Bytes from the beginning of the file to the tensor's data.
  package var offset: Int
  package var byteCount: Int
  /// Bytes from the beginning of the file to the tensor's entry in the header.
  package var entryOffset: Int
}

/// The header of a safetensors file: 8 bytes of length, then JSON. The rules are those of
/// <doc:Safetensors>.
package struct SafetensorsHeader: Sendable {
  /// The strings under `__metadata__`.
  package private(set) var metadata: [String: String] = [:]
  /// In the order of their data.
  package private(set) var tensors: [SafetensorsTensor] = []
  /// Where the data begin.
  package let dataOffset: Int

  package static let prefixByteCount = 8
  /// What other readers allow too.
  package static let byteCountLimit = 100_000_000
  /// As many axes as a `.afmw` tensor may have.
  package static let rankLimit = 8
  private static let metadataName = "__metadata__"

  /// The byte count of the JSON, out of the file's first 8 bytes.
  static func byteCount(
    prefix: [UInt8], fileByteCount: Int
  ) throws(InputError) -> Int {
    guard prefix.count >= prefixByteCount else {
      throw InputError(
        place: "header", offset: prefix.count,
        reason: "the file has \(prefix.count) bytes, too few for a safetensors file")
    }
    var raw: UInt64 = 0
    for byte in prefix[..<8].reversed() { raw = raw << 8 | UInt64(byte) }
    guard let count = Int(exactly: raw), count <= fileByteCount - prefixByteCount else {
      throw InputError(
        place: "header", offset: 0,
        reason: "\(raw) header bytes do not fit a file of \(fileByteCount) bytes")
    }
    guard count <= byteCountLimit else {
      throw InputError(
        place: "header", offset: 0,
        reason: "\(count) header bytes are more than \(byteCountLimit)")
    }
    return count
  }

  /// Parses and checks a header.
  ///
  /// - Parameters:
  ///   - bytes: the file from its beginning up to the end of the header at least.
  ///   - fileByteCount: bytes of the whole file.
  ///
  /// Memory: a small multiple of the header.
  package init(parsing bytes: [UInt8], fileByteCount: Int) throws(InputError) {
    let count = try Self.byteCount(prefix: bytes, fileByteCount: fileByteCount)
    precondition(bytes.count >= Self.prefixByteCount + count, "the header is not all there")
    dataOffset = Self.prefixByteCount + count
    // The format asks for `{` as the first byte; white space may only follow.
    guard count > 0, bytes[Self.prefixByteCount] == UInt8(ascii: "{") else {
      throw InputError(
        place: "header", offset: Self.prefixByteCount, reason: "the header does not begin with {")
    }
    var reader = JSONReader(
      bytes, range: Self.prefixByteCount..<dataOffset, fileOffset: Self.prefixByteCount,
      place: "header")
    var metadata: [String: String] = [:]
    var tensors: [SafetensorsTensor] = []
    let dataByteCount = fileByteCount - dataOffset
    try reader.object { reader, name throws(InputError) in
      if name == Self.metadataName {
        try reader.object { reader, key throws(InputError) in
          metadata[key] = try reader.string()
        }
      } else {
        tensors.append(
          try Self.tensor(
            name, from: &reader, dataOffset: fileByteCount - dataByteCount,
            dataByteCount: dataByteCount))
      }
    }
    try reader.end()
    tensors.sort {
      ($0.offset, $0.byteCount, $0.entryOffset) < ($1.offset, $1.byteCount, $1.entryOffset)
    }
    self.metadata = metadata
    self.tensors = tensors
    try checkCoverage(fileByteCount: fileByteCount)
  }

  /// One entry: element type, shape, range of its data.
  private static func tensor(
    _ name: String, from reader: inout JSONReader, dataOffset: Int, dataByteCount: Int
  ) throws(InputError) -> SafetensorsTensor {
    reader.place = "tensor \(name)"
    defer { reader.place = "header" }
    let entryOffset = reader.offset
    var element: SafetensorsElement?
    var dimensions: [Int]?
    var range: [Int]?
    try reader.object { reader, key throws(InputError) in
      let start = reader.offset
      switch key {
      case "dtype":
        let text = try reader.string()
        guard let known = SafetensorsElement(rawValue: text) else {
          throw reader.error("the element type \(text) is not known", at: start)
        }
        element = known
      case "shape": dimensions = try counts(&reader, limit: rankLimit, of: "dimensions")
      case "data_offsets": range = try counts(&reader, limit: 2, of: "data offsets")
      default: throw reader.error("the field \(key) is not known", at: start)
      }
    }
    guard let element, let dimensions, let range else {
      throw reader.error("dtype, shape or data_offsets is missing", at: entryOffset)
    }
    guard let shape = TensorShape(dimensions) else {
      throw reader.error("the product of the dimensions overflows", at: entryOffset)
    }
    let (bits, overflow) = shape.elementCount.multipliedReportingOverflow(by: element.bitCount)
    guard !overflow, bits % 8 == 0 else {
      throw reader.error(
        "\(shape) elements of \(element.rawValue) are no whole number of bytes", at: entryOffset)
    }
    guard range.count == 2, range[0] <= range[1], range[1] <= dataByteCount else {
      throw reader.error(
        "the data offsets \(range) are no range of \(dataByteCount) bytes", at: entryOffset)
    }
    guard range[1] - range[0] == bits / 8 else {
      throw reader.error(
        "\(range[1] - range[0]) bytes of data, but \(shape) elements of \(element.rawValue) have "
          + "\(bits / 8)", at: entryOffset)
    }
    return SafetensorsTensor(
      name: name, element: element, shape: shape, offset: dataOffset + range[0],
      byteCount: bits / 8, entryOffset: entryOffset)
  }

  private static func counts(
    _ reader: inout JSONReader, limit: Int, of things: String
  ) throws(InputError) -> [Int] {
    var values: [Int] = []
    try reader.array { reader throws(InputError) in
      guard values.count < limit else { throw reader.error("more than \(limit) \(things)") }
      values.append(try reader.count())
    }
    return values
  }

  /// The tensors lie one right behind the other, from the first byte of the data to the last.
  private func checkCoverage(fileByteCount: Int) throws(InputError) {
    var end = dataOffset
    for tensor in tensors {
      guard tensor.offset == end else {
        throw InputError(
          place: "tensor \(tensor.name)", offset: tensor.entryOffset,
          reason: tensor.offset < end
            ? "its data overlap those of another tensor by \(end - tensor.offset) bytes"
            : "\(tensor.offset - end) bytes in front of its data belong to no tensor")
      }
      end += tensor.byteCount
    }
    guard end == fileByteCount else {
      throw InputError(
        place: "header", offset: end,
        reason: "\(fileByteCount - end) bytes at the end belong to no tensor")
    }
  }
}
