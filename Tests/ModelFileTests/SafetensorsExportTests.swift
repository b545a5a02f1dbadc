import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing
import Tokenization

@Suite struct SafetensorsExportTests {
  private func packed(
    _ format: WeightFormat, _ folder: ScratchFolder, kernelLayouts: Bool = false
  ) throws -> AFMWFile {
    let path = folder.path(kernelLayouts ? "kernel.afmw" : "m.afmw")
    let gguf = try GGUFModel(path: Repository.fixture("golden/tiny-llama.gguf").path)
    var packer = ModelPacker(weights: format, embedding: .u4g32)
    packer.usesKernelLayouts = kernelLayouts
    _ = try packer.pack(gguf, to: path)
    return try AFMWFile(opening: path)
  }

  private func values(_ tensor: LoadedTensor) -> [Float] {
    var values = [Float](repeating: .nan, count: tensor.shape.elementCount)
    var output = values.mutableSpan
    tensor.format.dequantize(
      tensor.planes, rowCount: tensor.shape.rowCount, columnCount: tensor.shape.columnCount,
      into: &output)
    return values
  }

  /// What Swift's own conversion gives, by another way than ours for BF16.
  private func rounded(_ value: Float, _ content: SafetensorsExport.Content) -> Float {
    switch content {
    case .f16: return Float(Float16(value))
    case .bf16:
      let below = Float(bitPattern: value.bitPattern & 0xFFFF_0000)
      let above = Float(bitPattern: (value.bitPattern & 0xFFFF_0000) &+ 0x1_0000)
      let (low, high) = (abs(value - below), abs(above - value))
      if low != high { return low < high ? below : above }
      return below.bitPattern & 0x1_0000 == 0 ? below : above
    default: return value
    }
  }

  @Test(arguments: [SafetensorsExport.Content.f32, .f16, .bf16])
  func valuesAreThoseOfThePackedFile(content: SafetensorsExport.Content) throws {
    let folder = try ScratchFolder()
    let file = try packed(.s8c, folder)
    let path = folder.path("m.safetensors")
    let report = try SafetensorsExport(content: content, threads: 2).write(file, to: path)
    #expect(report.tensorCount == file.tensors.count)
    let exported = try SafetensorsFile(path: path)
    #expect(exported.tensors.count == file.tensors.count + 1)
    for tensor in try file.loadAllTensors(threads: 2) {
      let found = try #require(exported.tensor(named: tensor.name))
      #expect(found.element.rawValue.lowercased() == content.rawValue)
      #expect(found.shape == tensor.shape)
      #expect(
        try exported.values(tensor.name) == values(tensor).map { rounded($0, content) },
        "\(tensor.name)")
      // Every tensor is aligned to its elements.
      #expect(found.offset % (found.element.bitCount / 8) == 0)
    }
    // As a model it is the same one, but for rounding.
    let model = try SafetensorsModel(path: path)
    #expect(model.header == file.header)
    #expect(model.tokenizer == file.tokenizer)
    #expect(model.tensors.allSatisfy { $0.stored == nil })
  }

  /// Codes out and in again: the same tensors in the same order, header, tokenizer and provenance.
  @Test(arguments: [WeightFormat.u2c, .u2g64, .s8c, .u4g32, .f16, .f32])
  func codesComeBackBitForBit(format: WeightFormat) throws {
    let folder = try ScratchFolder()
    let file = try packed(format, folder)
    let (middle, second) = (folder.path("m.safetensors"), folder.path("again.afmw"))
    _ = try SafetensorsExport(content: .codes).write(file, to: middle)
    _ = try ModelPacker(weights: format, embedding: .u4g32).pack(
      SafetensorsModel(path: middle), to: second)
    let again = try AFMWFile(opening: second)
    #expect(again.header == file.header && again.tokenizer == file.tokenizer)
    #expect(again.tensors.map(\.name) == file.tensors.map(\.name))
    for (first, second) in zip(
      try file.loadAllTensors(threads: 1), try again.loadAllTensors(threads: 1))
    {
      #expect(SampleTensor(first) == SampleTensor(second))
    }
    let same = try Data(contentsOf: URL(filePath: folder.path("m.afmw")))
    #expect(try Data(contentsOf: URL(filePath: second)) == same)
  }

  /// How planes lie in the file does not show in an export.
  @Test(arguments: WeightFormat.allCases, SafetensorsExport.Content.allCases)
  func layoutsOfTheFileDoNotShow(
    format: WeightFormat, content: SafetensorsExport.Content
  ) throws {
    let folder = try ScratchFolder()
    let names = [false, true].map { folder.path("\($0).safetensors") }
    for (name, isKernel) in zip(names, [false, true]) {
      let file = try packed(format, folder, kernelLayouts: isKernel)
      #expect(file.tensors.contains { $0.layout != .canonical } == isKernel, "\(format.name)")
      _ = try SafetensorsExport(content: content).write(file, to: name)
    }
    let exports = try names.map { try Data(contentsOf: URL(filePath: $0)) }
    #expect(exports[0] == exports[1])
    if content == .codes, format.isASTC {
      let again = folder.path("again.afmw")
      _ = try ModelPacker(weights: format, embedding: .u4g32).pack(
        SafetensorsModel(path: names[1]), to: again)
      #expect(
        try Data(contentsOf: URL(filePath: again))
          == Data(contentsOf: URL(filePath: folder.path("m.afmw"))))
    }
  }

  /// With Hugging Face's names and a config.json it is a Hugging Face model; queries and keys turn.
  @Test(arguments: [SafetensorsExport.Content.f32, .codes])
  func namesOfHuggingFaceTurnQueriesAndKeys(content: SafetensorsExport.Content) throws {
    let folder = try ScratchFolder()
    let file = try packed(.s8c, folder)
    let path = folder.path("model.safetensors")
    _ = try SafetensorsExport(content: content, naming: .huggingFace).write(file, to: path)
    let h = file.header
    let config = """
      {"model_type": "llama", "hidden_size": \(h.hiddenSize), "head_dim": \(h.headDimension),
       "intermediate_size": \(h.feedForwardSize), "num_hidden_layers": \(h.layerCount),
       "num_attention_heads": \(h.queryHeadCount), "num_key_value_heads": \(h.keyValueHeadCount),
       "vocab_size": \(h.vocabularySize), "max_position_embeddings": \(h.contextLength),
       "rms_norm_eps": \(h.normEpsilon), "rope_theta": \(h.ropeBase), "tie_word_embeddings": true}
      """
    try Data(config.utf8).write(to: URL(filePath: folder.path("config.json")))
    let model = try SafetensorsModel(path: folder.url.path)
    var expected = file.header
    expected.ropePairing = .halves
    expected.name = model.header.name
    #expect(model.header == expected)
    for (index, tensor) in model.tensors.enumerated() {
      let original = try file.loadTensor(named: tensor.name)
      var found = [Float](repeating: .nan, count: tensor.shape.elementCount)
      var output = found.mutableSpan
      try model.readRows(0..<tensor.shape.rowCount, ofTensor: index, into: &output)
      let columns = tensor.shape.columnCount
      let turns = tensor.name.contains("attn_q") || tensor.name.contains("attn_k")
      let source = values(original)
      let dimension = h.headDimension
      for row in 0..<tensor.shape.rowCount {
        // Row 2i + j of a head here is row i + j · half there.
        let (head, place) = (row / dimension, row % dimension)
        let there = head * dimension + place / 2 + place % 2 * (dimension / 2)
        let target = turns ? there : row
        #expect(
          found[target * columns..<(target + 1) * columns]
            == source[row * columns..<(row + 1) * columns], "\(tensor.name) row \(row)")
      }
    }
  }

  @Test func whatATypeCannotHoldIsRefused() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    var writer = try ContainerWriter(
      creating: path, compression: .zstd(level: 3), threads: 1)
    let shape = try #require(TensorShape([2, 2]))
    try writer.beginTensor(name: "large", shape: shape, format: .f32)
    let values: [Float] = [0, 0, 0, 1e5]
    try writer.append(unsafe values.span.bytes, to: .codes)
    try writer.endTensor()
    try writer.finish(header: .sample, tokenizer: nil, provenance: [:])
    let output = folder.path("m.safetensors")
    let error = #expect(throws: PackError.self) {
      try SafetensorsExport(content: .f16).write(AFMWFile(opening: path), to: output)
    }
    #expect(
      error?.description
        == "\(path): tensor large: row 1, column 1: 100000.0 is too large for F16")
    #expect(folder.entries == ["m.afmw"])
    let names = #expect(throws: PackError.self) {
      try SafetensorsExport(naming: .huggingFace).write(AFMWFile(opening: path), to: output)
    }
    #expect(names?.description.contains("Hugging Face models have no tensor for it") == true)
  }

  @Test(.needs(.python)) func theOracleReadsAnExport() throws {
    let folder = try ScratchFolder()
    let file = try packed(.u2g64, folder)
    for content in SafetensorsExport.Content.allCases {
      let path = folder.path("\(content.rawValue).safetensors")
      _ = try SafetensorsExport(content: content).write(file, to: path)
      let report = try SafetensorsOracleTests.report(path)
      let exported = try SafetensorsFile(path: path)
      #expect(report.metadata == exported.metadata)
      let lines = try exported.tensors.map { try SafetensorsOracleTests.line(exported, $0) }
      #expect(lines.sorted() == report.tensors.sorted())
    }
  }
}
