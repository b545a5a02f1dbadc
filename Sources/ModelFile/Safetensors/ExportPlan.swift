import PackedFormats
import TensorCore

/// What an exported file will hold: a part for every tensor's values, or for its codes, scales and
/// minimums; and the metadata.
struct ExportPlan {
  /// One tensor of the file to be written.
  struct Part {
    /// Where its bytes come from.
    enum Source {
      /// The dequantized values.
      case values
      /// The codes, one an element.
      case codes
      /// The bytes of a plane as they are.
      case plane(Plane)
      /// The tokenizer's own bytes.
      case tokenizer([UInt8])
    }

    var tensor: SafetensorsWriter.Tensor
    var source: Source
    /// The place of the packed tensor in its file.
    var place: Int?
    /// The rows of the packed tensor in the order in which they are written; nil as they stand.
    var rowOrder: [Int]?
    /// The part belongs to the tensor as a whole, not to its rows.
    var isWhole = false
  }

  private(set) var parts: [Part] = []
  private(set) var metadata: [String: String] = [:]

  init(_ file: AFMWFile, _ export: SafetensorsExport) throws(InputError) {
    // Their matrices alone would be a model with wrong weights.
    guard file.adapters.isEmpty else {
      throw InputError(
        place: "adapters", reason: "a model with low-rank adapters cannot be exported")
    }
    for (place, tensor) in file.tensors.enumerated() {
      var name = tensor.name
      var rowOrder: [Int]?
      if export.naming == .huggingFace {
        guard let theirs = HuggingFaceNames.theirs(name) else {
          throw InputError(
            place: "tensor \(name)", reason: "Hugging Face models have no tensor for it")
        }
        rowOrder = try Self.rowOrder(name, tensor.shape, file.header)
        name = theirs
      }
      try add(tensor, named: name, place: place, rowOrder: rowOrder, content: export.content)
    }
    switch export.naming {
    case .huggingFace: metadata["format"] = "pt"
    case .own:
      metadata[QuantizedNames.header] = String(
        decoding: HeaderSection.encode(file.header), as: UTF8.self)
      metadata[QuantizedNames.provenance] = String(
        decoding: HeaderSection.encode(file.provenance), as: UTF8.self)
      if let tokenizer = file.tokenizer {
        addBytes(TokenizerSection.encode(tokenizer), named: QuantizedNames.tokenizer)
      }
    }
  }

  private mutating func addBytes(_ bytes: [UInt8], named name: String) {
    guard let shape = TensorShape([bytes.count]) else { return }
    parts.append(
      Part(
        tensor: .init(name: name, element: .u8, shape: shape), source: .tokenizer(bytes)))
  }

  private mutating func add(
    _ tensor: StoredTensor, named name: String, place: Int, rowOrder: [Int]?,
    content: SafetensorsExport.Content
  ) throws(InputError) {
    func add(
      _ name: String, _ element: SafetensorsElement, _ shape: TensorShape, _ source: Part.Source,
      isWhole: Bool = false
    ) {
      parts.append(
        Part(
          tensor: .init(name: name, element: element, shape: shape), source: source, place: place,
          rowOrder: isWhole ? nil : rowOrder, isWhole: isWhole))
    }
    let format = tensor.format
    switch content {
    case .f32: return add(name, .f32, tensor.shape, .values)
    case .f16: return add(name, .f16, tensor.shape, .values)
    case .bf16: return add(name, .bf16, tensor.shape, .values)
    case .codes: metadata[QuantizedNames.format(name)] = format.name
    }
    if format == .f32 { return add(name, .f32, tensor.shape, .values) }
    if format == .f16 { return add(name, .f16, tensor.shape, .values) }
    guard tensor.shape.dimensions.count == 2 else {
      throw InputError(
        place: "tensor \(tensor.name)",
        reason: "\(format.name) of the shape \(tensor.shape) cannot be exported as codes")
    }
    let (rows, columns) = (tensor.shape.rowCount, tensor.shape.columnCount)
    func shape(_ dimensions: [Int]) throws(InputError) -> TensorShape {
      guard let shape = TensorShape(dimensions) else {
        throw InputError(place: "tensor \(tensor.name)", reason: "the tensor is too large")
      }
      return shape
    }
    if format.isASTC {
      metadata[QuantizedNames.columns(name)] = String(columns)
      // Written as the format defines them, however the file has them.
      guard let rowBytes = format.byteCount(of: .codes, rows: 1, columns: columns) else {
        throw InputError(place: "tensor \(tensor.name)", reason: "the tensor is too large")
      }
      add(QuantizedNames.blocks(name), .u8, try shape([rows, rowBytes]), .plane(.codes))
    } else {
      let isSigned = format.codeRange?.lowerBound ?? 0 < 0
      add(QuantizedNames.codes(name), isSigned ? .i8 : .u8, tensor.shape, .codes)
    }
    for plane in format.planes where plane != .codes {
      let partName =
        plane == .scales ? QuantizedNames.scales(name) : QuantizedNames.minimums(name)
      switch format.axis(of: plane) {
      case .tensor: add(partName, .f32, try shape([1]), .plane(plane), isWhole: true)
      case .channel: add(partName, .f32, try shape([rows]), .plane(plane))
      default:
        let groups = format.groups(of: plane, in: tensor.shape)
        add(partName, .f16, try shape([rows, groups]), .plane(plane))
      }
    }
  }

  /// Hugging Face rotates the halves of a head against each other. Where our model rotates
  /// neighbours, the rows of its queries and keys change places: 0, 2, 4, … then 1, 3, 5, ….
  private static func rowOrder(
    _ name: String, _ shape: TensorShape, _ header: ModelHeader
  ) throws(InputError) -> [Int]? {
    guard header.ropeDimension == header.headDimension else {
      throw InputError(
        place: "ropeDimension",
        reason: "Hugging Face models rotate whole heads, this one \(header.ropeDimension) of "
          + "\(header.headDimension) elements")
    }
    let parts = name.split(separator: ".")
    guard header.ropePairing == .adjacent, parts.contains("attn_q") || parts.contains("attn_k")
    else { return nil }
    let size = header.headDimension
    guard let rows = shape.dimensions.first, rows % size == 0, size % 2 == 0 else {
      throw InputError(place: "tensor \(name)", reason: "\(shape) has no whole heads of \(size)")
    }
    return (0..<rows).map { row in
      let (head, place) = (row / size, row % size)
      return head * size + (place < size / 2 ? 2 * place : 2 * (place - size / 2) + 1)
    }
  }
}
