import TensorCore

/// Checks that the tensors of a source are exactly those of its architecture, in their shapes.
struct ModelTensorCheck {
  /// A tensor of the source.
  struct Entry {
    /// Our name.
    var name: String
    var shape: TensorShape
    /// The file's own name, for errors.
    var shownName: String
    /// Where the file lists it.
    var offset: Int?
    /// The file that lists it, where there are several.
    var file: String?
  }

  private let header: ModelHeader
  private let entries: [Entry]
  /// The source's own name of a tensor that is missing.
  private let shownName: (String) -> String
  private var indices: [String: Int] = [:]
  private var used: Set<String> = []

  init(
    _ entries: [Entry], header: ModelHeader, shownName: @escaping (String) -> String = { $0 }
  ) {
    self.header = header
    self.entries = entries
    self.shownName = shownName
    for (index, entry) in entries.enumerated() { indices[entry.name] = index }
  }

  /// Stops at the first missing tensor, so that an absurd layer count costs nothing.
  ///
  /// `allowsOthers` lets tensors be that the architecture does not know.
  consuming func check(allowsOthers: Bool = false) throws(InputError) {
    let hidden = header.hiddenSize
    let queries = header.queryHeadCount * header.headDimension
    let keyValues = header.keyValueHeadCount * header.headDimension
    let ownCount = header.keyValueLayerCount ?? header.layerCount
    try require("token_embd.weight", [header.vocabularySize, hidden])
    try require("output_norm.weight", [hidden])
    if !header.tiedOutput { try require("output.weight", [header.vocabularySize, hidden]) }
    for layer in 0..<header.layerCount {
      let prefix = "blk.\(layer)."
      try require(prefix + "attn_norm.weight", [hidden])
      try require(prefix + "attn_q.weight", [queries, hidden])
      if header.attentionBias { try require(prefix + "attn_q.bias", [queries]) }
      if header.headNorm != nil {
        try require(prefix + "attn_q_norm.weight", [header.headDimension])
      }
      // The layers after these read the keys and values of the last of them.
      if layer < ownCount { try requireKeysAndValues(prefix, rows: keyValues) }
      try require(prefix + "attn_output.weight", [hidden, queries])
      try require(prefix + "ffn_norm.weight", [hidden])
      try require(prefix + "ffn_gate.weight", [header.feedForwardSize, hidden])
      try require(prefix + "ffn_up.weight", [header.feedForwardSize, hidden])
      try require(prefix + "ffn_down.weight", [hidden, header.feedForwardSize])
    }
    guard !allowsOthers else { return }
    for entry in entries where !used.contains(entry.name) {
      throw error(
        entry,
        entry.name == "rope_freqs.weight"
          ? "RoPE frequency factors are not supported"
          : "\(header.architecture) with \(header.layerCount) layers has no such tensor")
    }
  }

  private mutating func requireKeysAndValues(
    _ prefix: String, rows: Int
  ) throws(InputError) {
    for name in ["attn_k", "attn_v"] {
      try require("\(prefix)\(name).weight", [rows, header.hiddenSize])
      if header.attentionBias { try require("\(prefix)\(name).bias", [rows]) }
    }
    if header.headNorm != nil {
      try require(prefix + "attn_k_norm.weight", [header.headDimension])
    }
  }

  private mutating func require(_ name: String, _ dimensions: [Int]) throws(InputError) {
    guard let index = indices[name] else {
      throw InputError(place: "tensor \(shownName(name))", reason: "the tensor is missing")
    }
    let entry = entries[index]
    guard entry.shape.dimensions == dimensions else {
      let expected = dimensions.map(String.init).joined(separator: "x")
      throw error(entry, "its shape is \(entry.shape), but the metadata ask for \(expected)")
    }
    used.insert(name)
  }

  private func error(_ entry: Entry, _ reason: String) -> InputError {
    InputError(
      file: entry.file, place: "tensor \(entry.shownName)", offset: entry.offset, reason: reason)
  }
}
