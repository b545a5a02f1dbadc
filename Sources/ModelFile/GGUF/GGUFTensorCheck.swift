import TensorCore

/// Checks that the tensors of a file are exactly those of its architecture, in their shapes.
struct GGUFTensorCheck {
  private let header: ModelHeader
  private let tensors: [GGUFTensor]
  private var indices: [String: Int] = [:]
  private var used: Set<String> = []

  init(file: GGUFFile, header: ModelHeader) {
    self.header = header
    tensors = file.tensors
    for (index, tensor) in tensors.enumerated() { indices[tensor.name] = index }
  }

  /// Stops at the first missing tensor, so that an absurd layer count costs nothing.
  consuming func check() throws(InputError) {
    let hidden = header.hiddenSize
    let queries = header.queryHeadCount * header.headDimension
    let keyValues = header.keyValueHeadCount * header.headDimension
    try require("token_embd.weight", [header.vocabularySize, hidden])
    try require("output_norm.weight", [hidden])
    if !header.tiedOutput { try require("output.weight", [header.vocabularySize, hidden]) }
    for layer in 0..<header.layerCount {
      let prefix = "blk.\(layer)."
      try require(prefix + "attn_norm.weight", [hidden])
      try require(prefix + "attn_q.weight", [queries, hidden])
      try require(prefix + "attn_k.weight", [keyValues, hidden])
      try require(prefix + "attn_v.weight", [keyValues, hidden])
      if header.attentionBias {
        try require(prefix + "attn_q.bias", [queries])
        try require(prefix + "attn_k.bias", [keyValues])
        try require(prefix + "attn_v.bias", [keyValues])
      }
      try require(prefix + "attn_output.weight", [hidden, queries])
      try require(prefix + "ffn_norm.weight", [hidden])
      try require(prefix + "ffn_gate.weight", [header.feedForwardSize, hidden])
      try require(prefix + "ffn_up.weight", [header.feedForwardSize, hidden])
      try require(prefix + "ffn_down.weight", [hidden, header.feedForwardSize])
    }
    for tensor in tensors where !used.contains(tensor.name) {
      throw InputError(
        place: "tensor \(tensor.name)", offset: tensor.entryOffset,
        reason: tensor.name == "rope_freqs.weight"
          ? "RoPE frequency factors are not supported"
          : "\(header.architecture) with \(header.layerCount) layers has no such tensor")
    }
  }

  private mutating func require(_ name: String, _ dimensions: [Int]) throws(InputError) {
    guard let index = indices[name] else {
      throw InputError(place: "tensor \(name)", reason: "the tensor is missing")
    }
    let tensor = tensors[index]
    guard tensor.shape.dimensions == dimensions else {
      let expected = dimensions.map(String.init).joined(separator: "x")
      throw InputError(
        place: "tensor \(name)", offset: tensor.entryOffset,
        reason: "its shape is \(tensor.shape), but the metadata ask for \(expected)")
    }
    used.insert(name)
  }
}
