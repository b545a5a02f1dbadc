import ModelFile
import TensorCore

extension FuzzTarget {
  /// A safetensors file: header, and every value of every tensor that has real numbers.
  static let safetensors = FuzzTarget(name: "safetensors", heap: (1 << 20, 128)) { bytes in
    checking(bytes, name: "in memory") { name throws(InputError) in
      let file = try SafetensorsFile(bytes: bytes, name: name)
      var end = file.header.dataOffset
      for tensor in file.tensors {
        promise(tensor.offset == end, "\(tensor.name) does not follow the tensor before")
        end += tensor.byteCount
        guard tensor.element.isReadable else { continue }
        for start in stride(from: 0, to: tensor.shape.elementCount, by: 4096) {
          let range = start..<min(start + 4096, tensor.shape.elementCount)
          var values = [Float](repeating: 0, count: range.count)
          var output = values.mutableSpan
          try file.readElements(range, of: tensor, into: &output)
        }
      }
      promise(end == bytes.count, "the tensors end at \(end)")
    }
  }

  /// A Hugging Face `tokenizer.json`: parsed for a small vocabulary, then at work.
  static let tokenizerJSON = FuzzTarget(name: "tokenizer-json", heap: (4 << 20, 512)) { bytes in
    checking(bytes, name: "in memory") { name throws(InputError) in
      do throws(InputError) {
        let tokenizer = try HuggingFaceTokenizer(parsing: bytes, vocabularySize: 300)
        exercise(
          try tokenizer.description(
            special: { _ throws(InputError) in nil }, addsBeginToken: nil, chatTemplate: nil),
          on: sampleText)
      } catch {
        throw error.inFile(name)
      }
    }
  }
}
