import ModelFile
import PackedFormats
import TensorCore

extension FuzzTarget {
  /// A `.afmw` file, with digests that are right whatever the fuzzer did to the rest: opened,
  /// loaded, verified, dequantized.
  static let container = FuzzTarget(name: "afmw", heap: (2 << 20, 64)) { input in
    var bytes = input
    ContainerSeal.seal(&bytes)
    reading(bytes, in: containerFile) { path throws(InputError) in
      let file = try AFMWFile(opening: path)
      promise(file.byteCount == bytes.count, "byte count")
      if let tokenizer = file.tokenizer { exercise(tokenizer, on: sampleText) }
      let loaded = try file.loadAllTensors(threads: 1)
      promise(loaded.count == file.tensors.count, "tensors loaded")
      for tensor in loaded { dequantize(tensor) }
      try loadForKernels(file)
      try file.verify(threads: 1)
    }
  }
}

private let containerFile = MemoryFile()

/// The way to kernels: the layouts that they read, wherever a tensor has one.
private func loadForKernels(_ file: AFMWFile) throws(InputError) {
  var loader = ModelLoader(threads: 1)
  loader.layout = { $0.format.isASTC ? .astcTiles : $0.format.kernelLayout ?? .canonical }
  do {
    let loaded = try loader.load(file)
    promise(loaded.tensors.count == file.tensors.count, "tensors loaded for kernels")
  } catch {
    switch error {
    case .input(let fault): throw fault
    case .cancelled: fatalError("nothing cancelled the loading")
    }
  }
}

/// What the loader lets through has values that are numbers.
private func dequantize(_ tensor: LoadedTensor) {
  let shape = tensor.shape
  guard shape.elementCount <= 1 << 16 else { return }
  var values = [Float](repeating: 0, count: shape.elementCount)
  var output = values.mutableSpan
  tensor.format.dequantize(
    tensor.planes, rowCount: shape.rowCount, columnCount: shape.columnCount, into: &output)
  promise(values.allSatisfy { !$0.isNaN }, "a value of \(tensor.name) is no number")
}
