import TensorCore

/// The tensors of an `afm-ondevice` model, derived from its header.
///
/// Layers before `keyValueLayerCount` (segment 0) project queries, keys and values; the others
/// (segment 1) project queries only and read the keys and values of the last layer of segment 0.
/// Query heads are normalised everywhere, key heads where they are made.
package struct OnDeviceTensors: Sendable {
  /// The name of the graph in headers.
  package static let architecture = "afm-ondevice"

  /// A tensor that the graph needs.
  package struct Entry: Hashable, Sendable {
    package var name: String
    /// Outermost first: rows are output channels.
    package var dimensions: [Int]
    package var elementCount: Int { dimensions.reduce(1, *) }
  }

  private let header: ModelHeader

  /// Of a header that ``ModelHeader`` finds without fault.
  package init(_ header: ModelHeader) { self.header = header }

  /// Whether a layer projects keys and values of its own.
  package func hasOwnKeyValues(layer: Int) -> Bool {
    layer < header.keyValueLayerCount ?? header.layerCount
  }

  /// The seven linear layers of a transformer layer, five where it has no keys and values.
  package func projections(layer: Int) -> [Entry] {
    let hidden = header.hiddenSize
    let queries = header.queryHeadCount * header.headDimension
    let keyValues = header.keyValueHeadCount * header.headDimension
    func entry(_ name: String, _ rows: Int, _ columns: Int) -> Entry {
      Entry(name: "blk.\(layer).\(name).weight", dimensions: [rows, columns])
    }
    let own =
      hasOwnKeyValues(layer: layer)
      ? [entry("attn_k", keyValues, hidden), entry("attn_v", keyValues, hidden)] : []
    return [entry("attn_q", queries, hidden)] + own + [
      entry("attn_output", hidden, queries),
      entry("ffn_gate", header.feedForwardSize, hidden),
      entry("ffn_up", header.feedForwardSize, hidden),
      entry("ffn_down", hidden, header.feedForwardSize),
    ]
  }

  /// The gains of a transformer layer's norms.
  package func norms(layer: Int) -> [Entry] {
    func entry(_ name: String, _ count: Int) -> Entry {
      Entry(name: "blk.\(layer).\(name).weight", dimensions: [count])
    }
    var entries = [entry("attn_norm", header.hiddenSize), entry("ffn_norm", header.hiddenSize)]
    if header.headNorm != nil {
      entries.append(entry("attn_q_norm", header.headDimension))
      if hasOwnKeyValues(layer: layer) {
        entries.append(entry("attn_k_norm", header.headDimension))
      }
    }
    return entries
  }

  /// All tensors in file order: embedding, layers, final norm, and an output that is not tied.
  package var entries: [Entry] {
    let embedding = [header.vocabularySize, header.hiddenSize]
    var entries = [Entry(name: "token_embd.weight", dimensions: embedding)]
    for layer in 0..<header.layerCount {
      entries += norms(layer: layer) + projections(layer: layer)
    }
    entries.append(Entry(name: "output_norm.weight", dimensions: [header.hiddenSize]))
    if !header.tiedOutput { entries.append(Entry(name: "output.weight", dimensions: embedding)) }
    return entries
  }

  /// All elements: 3,111,368,064 for `afm-ondevice-2025`.
  package var parameterCount: Int { entries.reduce(0) { $0 + $1.elementCount } }

  /// Elements of a low-rank adapter on every projection of every layer: two factors, rank ×
  /// columns and rows × rank. 66,633,728 for `afm-ondevice-2025` at rank 32.
  package func adapterParameterCount(rank: Int) -> Int {
    (0..<header.layerCount).reduce(0) { sum, layer in
      projections(layer: layer).reduce(sum) { $0 + rank * $1.dimensions.reduce(0, +) }
    }
  }
}
