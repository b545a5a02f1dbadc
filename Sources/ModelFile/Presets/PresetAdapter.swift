import PackedFormats
import TensorCore

/// A low-rank adapter for every projection of a preset, with weights from a seed: the same bytes on
/// every machine.
///
/// A's elements are normal with deviation 1/√columns, B's with 1/(4·√rank): what an adapter adds to
/// an output of unit root mean square is about a quarter of it, which nobody could overlook.
package struct PresetAdapter: Sendable {
  private let preset: ModelPreset
  private let rank: Int
  private let seed: UInt64

  /// The streams of adapters begin behind those of any model's tensors.
  private static let firstStream = 1 << 20

  /// `rank` is positive.
  package init(_ preset: ModelPreset, rank: Int, seed: UInt64) {
    precondition(rank > 0, "an adapter has a positive rank")
    self.preset = preset
    self.rank = rank
    self.seed = seed
  }

  /// Elements of all factors.
  package var parameterCount: Int {
    OnDeviceTensors(preset.header).adapterParameterCount(rank: rank)
  }

  /// Writes a file that ``AdapterFile`` reads, in binary16; returns its bytes.
  package func write(to path: String) throws(PackError) -> Int {
    let header = preset.header
    let tensors = OnDeviceTensors(header)
    let projections = (0..<header.layerCount).flatMap { tensors.projections(layer: $0) }
    var factors: [Factor] = []
    for entry in projections {
      let (rows, columns) = (entry.dimensions[0], entry.dimensions[1])
      factors.append(
        Factor(
          name: entry.name + ".lora_a", rows: rank, columns: columns,
          deviation: 1 / Float(columns).squareRoot()))
      factors.append(
        Factor(
          name: entry.name + ".lora_b", rows: rows, columns: rank,
          deviation: 0.25 / Float(rank).squareRoot()))
    }
    var writer = try SafetensorsWriter(
      creating: path,
      metadata: ["preset": preset.name, "seed": String(seed), "lora_alpha": String(rank)],
      tensors: try factors.map { factor throws(PackError) in try factor.tensor })
    for index in writer.dataOrder {
      for row in 0..<factors[index].rows {
        let bits = halves(of: factors[index], stream: Self.firstStream + index, row: row)
        // Integers have no padding.
        try writer.append(unsafe bits.span.bytes)
      }
    }
    let byteCount = writer.byteCount
    try writer.finish()
    return byteCount
  }

  private struct Factor {
    var name: String
    var rows: Int
    var columns: Int
    var deviation: Float

    var tensor: SafetensorsWriter.Tensor {
      get throws(PackError) {
        guard let shape = TensorShape([rows, columns]) else {
          throw .input(InputError(place: "tensor \(name)", reason: "the factor is too large"))
        }
        return SafetensorsWriter.Tensor(name: name, element: .f16, shape: shape)
      }
    }
  }

  private func halves(of factor: Factor, stream: Int, row: Int) -> [UInt16] {
    var values = [Float](repeating: 0, count: factor.columns)
    unsafe values.withUnsafeMutableBufferPointer { buffer in
      unsafe SeededRow(seed: seed, tensor: stream, row: row).fill(
        buffer, deviation: factor.deviation, mean: 0, quantiles: .shared)
    }
    return values.map { HalfPrecision.bits($0).littleEndian }
  }
}
