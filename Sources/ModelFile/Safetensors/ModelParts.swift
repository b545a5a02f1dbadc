import PackedFormats
import TensorCore
import Tokenization

/// What the files of a model in safetensors add up to: header, tokenizer, and tensors by our names.
struct ModelParts {
  var header: ModelHeader
  var tokenizer: TokenizerDescription?
  var tensors: [(name: String, content: SafetensorsModel.Content)]
  /// The formats of tensors of plain values that are to stay what they are.
  var kept: [String: WeightFormat] = [:]

  /// A model whose file has a header of ours.
  init(exported shards: SafetensorsShards, header text: String) throws(InputError) {
    let place = "metadata \(QuantizedNames.header)"
    header = try HeaderSection.parse(
      ModelHeader.self, from: IndexReader(Array(text.utf8), base: 0, place: place))
    if let fault = header.fault { throw InputError(place: place, reason: fault) }
    if let entry = shards.entries.first(where: { $0.name == QuantizedNames.tokenizer }) {
      tokenizer = try Self.tokenizer(entry)
    }
    // In the order of the header, which is that of the file it was made of.
    let entries = shards.entries.sorted { $0.tensor.entryOffset < $1.tensor.entryOffset }
    let gathered = try Self.gather(entries, shards.metadata) { $0 }
    tensors = gathered.tensors
    kept = gathered.kept
    if header.architecture == "llama" || header.architecture == "qwen2" {
      try ModelTensorCheck(Self.entries(tensors), header: header).check(allowsOthers: true)
    }
    try checkVocabulary(place: QuantizedNames.tokenizer)
  }

  /// A Hugging Face model.
  init(
    huggingFace shards: SafetensorsShards, folder: HuggingFaceFolder, name: String
  ) throws(InputError) {
    let files = try HuggingFaceFiles(folder)
    header = try files.header(name: name)
    let tied = header.tiedOutput
    let gathered = try Self.gather(shards.entries, shards.metadata) { name in
      // The output projection is the embedding, whatever the file has under its name.
      if HuggingFaceNames.isIgnored(name) || (tied && name == "lm_head.weight") { return nil }
      return HuggingFaceNames.ours(name) ?? name
    }
    tensors = gathered.tensors
    kept = gathered.kept
    try ModelTensorCheck(Self.entries(tensors), header: header) {
      HuggingFaceNames.theirs($0) ?? $0
    }.check()
    tokenizer = try files.tokenizer(vocabularySize: header.vocabularySize)
  }

  /// The provenance that an exported file repeats.
  static func provenance(_ shards: SafetensorsShards) throws(InputError) -> [String: String] {
    guard let text = shards.metadata[QuantizedNames.provenance] else { return [:] }
    return try HeaderSection.parse(
      [String: String].self,
      from: IndexReader(
        Array(text.utf8), base: 0, place: "metadata \(QuantizedNames.provenance)"))
  }

  private func checkVocabulary(place: String) throws(InputError) {
    if let tokenizer, tokenizer.tokens.count != header.vocabularySize {
      throw InputError(
        place: place,
        reason: "\(tokenizer.tokens.count) tokens, but the model has \(header.vocabularySize)")
    }
  }

  private static func tokenizer(
    _ entry: SafetensorsShards.Entry
  ) throws(InputError) -> TokenizerDescription {
    guard entry.tensor.element == .u8, entry.tensor.shape.dimensions.count == 1,
      entry.tensor.byteCount <= ContainerLayout.tokenizerByteLimit
    else { throw entry.error("a row of bytes is expected") }
    var bytes = [UInt8](repeating: 0, count: entry.tensor.byteCount)
    var span = bytes.mutableSpan
    // Any bytes are valid elements.
    var raw = unsafe span.mutableBytes
    try entry.file.readBytes(from: 0, of: entry.tensor, into: &raw)
    do throws(InputError) {
      return try TokenizerSection.parse(
        IndexReader(bytes, base: entry.tensor.offset, place: QuantizedNames.tokenizer))
    } catch {
      throw error.inFile(entry.file.path)
    }
  }

  private static func entries(
    _ tensors: [(name: String, content: SafetensorsModel.Content)]
  ) -> [ModelTensorCheck.Entry] {
    tensors.map { name, content in
      switch content {
      case .values(let entry):
        ModelTensorCheck.Entry(
          name: name, shape: entry.tensor.shape, shownName: entry.name,
          offset: entry.tensor.entryOffset, file: entry.file.path)
      case .packed(let tensor):
        ModelTensorCheck.Entry(name: name, shape: tensor.shape, shownName: tensor.name)
      }
    }
  }
}

// MARK: - Tensors

extension ModelParts {
  /// Puts codes and scales together, and gives every tensor our name; `rename` returns nil for
  /// what is to be left out.
  private static func gather(
    _ entries: [SafetensorsShards.Entry], _ metadata: [String: String],
    rename: (String) -> String?
  ) throws(InputError) -> (
    tensors: [(name: String, content: SafetensorsModel.Content)], kept: [String: WeightFormat]
  ) {
    var byName: [String: SafetensorsShards.Entry] = [:]
    for entry in entries {
      guard byName.updateValue(entry, forKey: entry.name) == nil else {
        throw entry.error("the name occurs twice")
      }
    }
    var formats = try Self.formats(metadata)
    var packed: [String: QuantizedTensor] = [:]
    var parts: Set<String> = [QuantizedNames.tokenizer]
    for (name, format) in formats where format != .f32 && format != .f16 {
      let tensor = try QuantizedTensor(
        name: name, format: format, columns: metadata[QuantizedNames.columns(name)]
      ) { byName[$0] }
      parts.formUnion(tensor.partNames)
      packed[tensor.partNames[0]] = tensor
      formats[name] = nil
    }
    var tensors: [(name: String, content: SafetensorsModel.Content)] = []
    var kept: [String: WeightFormat] = [:]
    for entry in entries {
      // A packed tensor stands where its codes do.
      if let tensor = packed[entry.name] {
        if let name = rename(tensor.name) { tensors.append((name, .packed(tensor))) }
        continue
      }
      guard !parts.contains(entry.name), let name = rename(entry.name) else { continue }
      try checkValues(entry)
      if let format = formats.removeValue(forKey: entry.name) {
        guard entry.tensor.element.rawValue.lowercased() == format.name else {
          throw entry.error(
            "its type is \(entry.tensor.element.rawValue), but the metadata say \(format.name)")
        }
        kept[name] = format
      }
      tensors.append((name, .values(entry)))
    }
    if let left = formats.keys.min() {
      throw InputError(
        place: "metadata \(QuantizedNames.format(left))", reason: "the file has no such tensor")
    }
    return (tensors, kept)
  }

  /// The formats that the metadata say, by the names of the tensors.
  private static func formats(
    _ metadata: [String: String]
  ) throws(InputError) -> [String: WeightFormat] {
    let suffix = QuantizedNames.format("")
    var formats: [String: WeightFormat] = [:]
    for (key, value) in metadata where key.hasSuffix(suffix) && key.count > suffix.count {
      guard let format = WeightFormat(name: value) else {
        throw InputError(place: "metadata \(key)", reason: "the format \(value) is not known")
      }
      formats[String(key.dropLast(suffix.count))] = format
    }
    return formats
  }

  /// Plain values must be real numbers of a plain type.
  private static func checkValues(_ entry: SafetensorsShards.Entry) throws(InputError) {
    let element = entry.tensor.element
    guard [.f32, .f16, .bf16, .f64].contains(element) else {
      throw entry.error(
        "weights of the type \(element.rawValue) are not supported: only F64, F32, F16 and BF16, "
          + "or codes with a format")
    }
    guard entry.tensor.shape.elementCount > 0 else { throw entry.error("it has no elements") }
  }
}
