import TensorCore

extension AFMWFile {
  /// Checks that the file has every tensor that the graph of its header needs, in its shape.
  ///
  /// Reads nothing: header and directory were read when the file was opened. Tensors that no graph
  /// needs may be there.
  package func checkTensors() throws(InputError) {
    let entries = tensors.map {
      ModelTensorCheck.Entry(name: $0.name, shape: $0.shape, shownName: $0.name)
    }
    try naming { () throws(InputError) in
      try ModelTensorCheck(entries, header: header).check(allowsOthers: true)
      let embedding = "token_embd.weight"
      if let index = index(ofTensor: embedding), adapter(ofTensor: index) != nil {
        throw InputError(
          place: "tensor \(embedding)", reason: "an embedding cannot have an adapter")
      }
    }
  }
}
