import Files
import TensorCore

/// Statistics as a safetensors file: an F32 vector for each matrix, named as its tensor, and in the
/// metadata `format` = `afm-bench activation statistics 1`, `tokens` and `origin`.
extension ActivationStatistics {
  private static let formatName = "afm-bench activation statistics 1"

  /// Writes the statistics; the file appears whole or not at all.
  package func write(to path: String) throws(PackError) {
    let names = meanSquares.keys.sorted()
    var tensors: [SafetensorsWriter.Tensor] = []
    for name in names {
      guard let shape = TensorShape([meanSquares[name]?.count ?? 0]) else {
        preconditionFailure("a vector in memory has a shape")
      }
      tensors.append(.init(name: name, element: .f32, shape: shape))
    }
    var writer = try SafetensorsWriter(
      creating: path,
      metadata: ["format": Self.formatName, "tokens": "\(tokenCount)", "origin": origin],
      tensors: tensors)
    for index in writer.dataOrder {
      var bytes: [UInt8] = []
      for value in meanSquares[names[index]] ?? [] { bytes.appendLittleEndian(value.bitPattern) }
      // Bytes have no padding.
      try writer.append(unsafe bytes.span.bytes)
    }
    try writer.finish()
  }

  /// Reads statistics that `write` has written; nil where the file is not one of those, such as a
  /// text. Throws where it is one, and damaged: a number that is negative or not finite, no tensor.
  package init?(savedAt path: String) throws(InputError) {
    // What does not parse as a safetensors file is text.
    guard let file = try? SafetensorsFile(path: path),
      file.metadata["format"] == Self.formatName
    else { return nil }
    var meanSquares: [String: [Float]] = [:]
    for tensor in file.tensors {
      func fault(_ reason: String) -> InputError {
        InputError(
          file: path, place: "tensor \(tensor.name)", offset: tensor.offset, reason: reason)
      }
      guard tensor.element == .f32, tensor.shape.dimensions.count == 1 else {
        throw fault("activation statistics are vectors of F32")
      }
      let count = tensor.shape.elementCount
      var values = [Float](repeating: 0, count: count)
      var output = values.mutableSpan
      try file.readElements(0..<count, of: tensor, into: &output)
      guard values.allSatisfy({ $0 >= 0 && $0.isFinite }) else {
        throw fault("a mean square is negative or not a finite number")
      }
      meanSquares[tensor.name] = values
    }
    guard !meanSquares.isEmpty else {
      throw InputError(file: path, reason: "activation statistics of nothing")
    }
    guard let tokens = file.metadata["tokens"].flatMap({ Int($0) }), tokens > 0,
      let origin = file.metadata["origin"]
    else {
      throw InputError(file: path, reason: "activation statistics without tokens and origin")
    }
    self.init(meanSquares: meanSquares, tokenCount: tokens, origin: origin)
  }
}
