/// The names of a Llama or Qwen2 model's tensors: those of Hugging Face, and ours, which are GGUF's.
enum HuggingFaceNames {
  /// Names outside the layers, theirs first.
  private static let whole = [
    ("model.embed_tokens.weight", "token_embd.weight"),
    ("model.norm.weight", "output_norm.weight"),
    ("lm_head.weight", "output.weight"),
  ]

  /// Names behind `model.layers.N.` and behind `blk.N.`, without `.weight` and `.bias`.
  private static let inLayer = [
    ("input_layernorm", "attn_norm"), ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"), ("self_attn.v_proj", "attn_v"),
    ("self_attn.o_proj", "attn_output"), ("post_attention_layernorm", "ffn_norm"),
    ("mlp.gate_proj", "ffn_gate"), ("mlp.up_proj", "ffn_up"), ("mlp.down_proj", "ffn_down"),
  ]

  /// Our name of a tensor; nil where the models have none of that name.
  static func ours(_ name: String) -> String? {
    if let found = whole.first(where: { $0.0 == name }) { return found.1 }
    return renamed(
      name, from: "model.layers.", to: "blk.", Dictionary(uniqueKeysWithValues: inLayer))
  }

  /// The name of a tensor there; nil where the models have none of ours.
  static func theirs(_ name: String) -> String? {
    if let found = whole.first(where: { $0.1 == name }) { return found.0 }
    return renamed(
      name, from: "blk.", to: "model.layers.",
      Dictionary(uniqueKeysWithValues: inLayer.map { ($1, $0) }))
  }

  /// Tables that some files carry along, and that are computed here.
  static func isIgnored(_ name: String) -> Bool {
    name.hasSuffix(".rotary_emb.inv_freq") || name.hasSuffix(".self_attn.masked_bias")
  }

  private static func renamed(
    _ name: String, from prefix: String, to newPrefix: String, _ parts: [String: String]
  ) -> String? {
    guard name.utf8.starts(with: prefix.utf8) else { return nil }
    let rest = name.dropFirst(prefix.count)
    guard let dot = rest.firstIndex(of: "."), let last = rest.lastIndex(of: "."), dot < last else {
      return nil
    }
    let number = rest[..<dot]
    // The canonical number alone: `01` would be a second name of layer 1.
    guard let layer = Int(number), String(layer) == number, layer >= 0 else { return nil }
    let suffix = rest[last...]
    guard suffix == ".weight" || suffix == ".bias",
      let part = parts[String(rest[rest.index(after: dot)..<last])]
    else { return nil }
    return "\(newPrefix)\(layer).\(part)\(suffix)"
  }
}
