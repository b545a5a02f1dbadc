import PackedFormats
import TensorCore

/// A tensor whose codes and scales stand in a safetensors file, each as a tensor of its own.
///
/// What a file must hold for each format stands in <doc:QuantizedSafetensors>. Types and shapes are
/// checked when it is made; values when they are read.
struct QuantizedTensor: Sendable {
  let name: String
  let format: WeightFormat
  let shape: TensorShape
  /// Codes, or packed blocks.
  private let codes: SafetensorsShards.Entry
  private let scales: SafetensorsShards.Entry
  private let minimums: SafetensorsShards.Entry?

  /// Bytes of its parts in the file.
  var byteCount: Int {
    codes.tensor.byteCount + scales.tensor.byteCount + (minimums?.tensor.byteCount ?? 0)
  }

  /// The names of its parts.
  var partNames: [String] { [codes.name, scales.name] + (minimums.map { [$0.name] } ?? []) }

  /// Finds and checks the parts of a tensor of that format.
  init(
    name: String, format: WeightFormat, columns: String?,
    part: (String) -> SafetensorsShards.Entry?
  ) throws(InputError) {
    func required(_ partName: String) throws(InputError) -> SafetensorsShards.Entry {
      guard let entry = part(partName) else {
        throw InputError(
          place: "tensor \(partName)",
          reason: "the tensor is missing, which \(name) of the format \(format.name) needs")
      }
      return entry
    }
    self.name = name
    self.format = format
    codes = try required(
      format.isASTC ? QuantizedNames.blocks(name) : QuantizedNames.codes(name))
    scales = try required(QuantizedNames.scales(name))
    minimums =
      format.planes.contains(.minimums) ? try required(QuantizedNames.minimums(name)) : nil
    shape = try Self.shape(codes, format: format, columns: columns)
    try Self.check(scales, .scales, format: format, shape: shape)
    if let minimums { try Self.check(minimums, .minimums, format: format, shape: shape) }
  }

  /// Rows and columns of the elements.
  private static func shape(
    _ codes: SafetensorsShards.Entry, format: WeightFormat, columns: String?
  ) throws(InputError) -> TensorShape {
    let tensor = codes.tensor
    let dimensions = tensor.shape.dimensions
    guard dimensions.count == 2, tensor.shape.elementCount > 0 else {
      throw codes.error("its shape is \(tensor.shape), but rows and columns are expected")
    }
    let isSigned = format.codeRange?.lowerBound ?? 0 < 0
    guard tensor.element == (isSigned ? .i8 : .u8) else {
      throw codes.error(
        "its type is \(tensor.element.rawValue), but \(format.name) needs \(isSigned ? "I8" : "U8")"
      )
    }
    guard format.isASTC else { return tensor.shape }
    guard let columns, let count = Int(columns), count > 0,
      let bytes = format.byteCount(of: .codes, rows: 1, columns: count), bytes == dimensions[1],
      let shape = TensorShape([dimensions[0], count])
    else {
      throw codes.error(
        "\(dimensions[1]) bytes a row are not the packed blocks of \(columns ?? "no") columns")
    }
    return shape
  }

  /// Scales and minimums: one number in all, a row, or a group.
  private static func check(
    _ entry: SafetensorsShards.Entry, _ plane: Plane, format: WeightFormat, shape: TensorShape
  ) throws(InputError) {
    let rows = shape.rowCount
    let allowed: [[Int]]
    let exact: SafetensorsElement
    switch format.axis(of: plane) {
    case .tensor: (allowed, exact) = ([[], [1]], .f32)
    case .channel: (allowed, exact) = ([[rows], [rows, 1]], .f32)
    case .group: (allowed, exact) = ([[rows, format.groups(of: plane, in: shape)]], .f16)
    case nil: preconditionFailure("\(format.name) has no such plane")
    }
    guard allowed.contains(entry.tensor.shape.dimensions) else {
      let wanted = allowed[0].map(String.init).joined(separator: "x")
      throw entry.error("its shape is \(entry.tensor.shape), not \(wanted)")
    }
    let elements: [SafetensorsElement] = format.isASTC ? [exact] : [.f32, .f16, .bf16]
    guard elements.contains(entry.tensor.element) else {
      let names = elements.map(\.rawValue).joined(separator: " or ")
      throw entry.error("its type is \(entry.tensor.element.rawValue), not \(names)")
    }
  }

  /// Brings the planes of some rows, bit for bit.
  ///
  /// Throws for codes and scales that the format does not have, with row and column, and for
  /// scales that its plane cannot hold exactly.
  func readPlanes(
    _ rows: Range<Int>, into planes: inout MutablePackedPlanes
  ) throws(InputError) {
    if format.isASTC { return try readBlocks(rows, into: &planes) }
    let columns = shape.columnCount
    var codeBytes = [UInt8](repeating: 0, count: rows.count * columns)
    var codeSpan = codeBytes.mutableSpan
    // Any bytes are valid elements.
    var raw = unsafe codeSpan.mutableBytes
    try codes.file.readBytes(from: rows.lowerBound * columns, of: codes.tensor, into: &raw)
    let scaleNumbers = try numbers(of: scales, .scales, rows)
    var minimumNumbers: [Float] = []
    if let minimums { minimumNumbers = try numbers(of: minimums, .minimums, rows) }
    do throws(PackedFormatError) {
      try format.pack(
        codes: codeBytes.span, scales: scaleNumbers.span, minimums: minimumNumbers.span,
        rowCount: rows.count, columnCount: columns, firstRow: rows.lowerBound, into: &planes)
    } catch {
      throw fault(error)
    }
  }

  /// The error of a format as one of this file.
  func fault(_ error: PackedFormatError) -> InputError {
    InputError(file: codes.file.path, place: "tensor \(name)", reason: error.description)
  }

  /// The scales or minimums of some rows; a per-tensor scale is the same for all.
  private func numbers(
    of entry: SafetensorsShards.Entry, _ plane: Plane, _ rows: Range<Int>
  ) throws(InputError) -> [Float] {
    let range = numberRange(plane, rows)
    var values = [Float](repeating: 0, count: range.count)
    var output = values.mutableSpan
    try entry.file.readElements(range, of: entry.tensor, into: &output)
    return values
  }

  private func numberRange(_ plane: Plane, _ rows: Range<Int>) -> Range<Int> {
    switch format.axis(of: plane) {
    case .tensor: return 0..<1
    case .group:
      let groups = format.groups(of: plane, in: shape)
      return rows.lowerBound * groups..<rows.upperBound * groups
    default: return rows
    }
  }

  /// Packed blocks, scales and minimums stand in the file as they do in planes.
  private func readBlocks(
    _ rows: Range<Int>, into planes: inout MutablePackedPlanes
  ) throws(InputError) {
    let rowBytes = codes.tensor.byteCount / shape.rowCount
    try codes.file.readBytes(
      from: rows.lowerBound * rowBytes, of: codes.tensor, into: &planes.codes)
    try scales.file.readBytes(
      from: numberRange(.scales, rows).lowerBound * 4, of: scales.tensor, into: &planes.scales)
    if let minimums {
      let width = minimums.tensor.element.bitCount / 8
      try minimums.file.readBytes(
        from: numberRange(.minimums, rows).lowerBound * width, of: minimums.tensor,
        into: &planes.minimums)
    }
  }
}

extension WeightFormat {
  /// Numbers of a per-group plane in one row.
  func groups(of plane: Plane, in shape: TensorShape) -> Int {
    guard case .group(let size) = axis(of: plane) else { return 1 }
    return (shape.columnCount + size - 1) / size
  }
}
