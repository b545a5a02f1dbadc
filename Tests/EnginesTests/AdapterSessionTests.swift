import EngineInterface
import Engines
import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing
import Tokenization

/// Low-rank adapters that sessions switch between.
@Suite struct AdapterSessionTests {
  static let preset = ModelPreset.onDeviceTiny

  /// Packs the tiny preset in a format, makes two adapters, and hands all over.
  private func withModel(
    _ format: WeightFormat, _ body: (_ model: String, _ adapters: [String], URL) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let adapters = try [(4, UInt64(7)), (9, 8)].map { rank, seed in
      let path = folder.file("adapter\(seed).safetensors")
      _ = try PresetAdapter(Self.preset, rank: rank, seed: seed).write(to: path)
      return path
    }
    try packing(PresetSource(Self.preset, seed: 3), format) { path in
      try body(path, adapters, folder.url("."))
    }
  }

  /// tools/oracles/ondevice_twin.py runs model and adapter in NumPy float64.
  @Test(.needs(.python)) func agreesWithTheTwin() throws {
    try withModel(.f32) { model, adapters, folder in
      try DequantizedSource(file: AFMWFile(opening: model)).dump(into: folder)
      let ids = randomIDs(50, vocabulary: Self.preset.header.vocabularySize, seed: 5)
      let idsFile = folder.appendingPathComponent("ids.json")
      try JSONEncoder().encode(ids).write(to: idsFile)
      let engine = try EngineLoader.load(model, options: EngineOptions(threads: 2))
      let session = try engine.session()
      for adapter in adapters {
        let expected = try JSONDecoder().decode(
          [[Float]].self,
          from: Oracle.script("ondevice_twin.py", "logits", folder.path, idsFile.path, adapter))
        session.truncate(to: 0)
        try session.use(try engine.loadAdapter(adapter))
        let error = relativeError(try session.logits(ids), expected)
        #expect(error < 1e-3, "\(error)")
        #expect(error < 1e-4, "float32 against float64: \(error)")
      }
    }
  }

  /// Whether a factor is of f16 or f32, one element that is no number is refused with its place.
  @Test(arguments: [Float.nan, .infinity, -.infinity], [SafetensorsElement.f16, .f32])
  func anElementThatIsNoNumberIsRefused(_ value: Float, _ element: SafetensorsElement) throws {
    try withModel(.f32) { model, _, folder in
      let header = Self.preset.header
      let matrix = "blk.0.attn_q.weight"
      let path = folder.appendingPathComponent("broken.safetensors").path
      func values(_ count: Int, broken: Int?) -> [UInt8] {
        (0..<count).flatMap { index -> [UInt8] in
          let number = index == broken ? value : 0.25
          let bits = element == .f16 ? UInt32(Float16(number).bitPattern) : number.bitPattern
          return (0..<(element == .f16 ? 2 : 4)).map { UInt8(bits >> (8 * $0) & 0xFF) }
        }
      }
      let rows = header.queryHeadCount * header.headDimension
      let shapes = [[3, header.hiddenSize], [rows, 3]]
      var writer = try SafetensorsWriter(
        creating: path, metadata: [:],
        tensors: try zip([".lora_a", ".lora_b"], shapes).map { suffix, shape in
          .init(name: matrix + suffix, element: element, shape: try #require(TensorShape(shape)))
        })
      for index in writer.dataOrder {
        let bytes = values(shapes[index][0] * shapes[index][1], broken: index == 1 ? 4 : nil)
        // Bytes have no padding.
        try writer.append(unsafe bytes.span.bytes)
      }
      try writer.finish()
      let engine = try EngineLoader.load(model, options: EngineOptions(threads: 1))
      let error = #expect(throws: InputError.self) { _ = try engine.loadAdapter(path) }
      #expect(error?.file == path)
      #expect(error?.place == "tensor \(matrix).lora_b")
      #expect(error?.offset != nil)
      #expect(error?.reason == "row 1, column 1: not a finite number")
    }
  }

  @Test(arguments: [WeightFormat.f32, .u2c, .u4g32, .s8c])
  func sessionsSwitchBetweenAdapters(_ format: WeightFormat) throws {
    try withModel(format) { model, adapters, _ in
      let engine = try EngineLoader.load(model, options: EngineOptions(threads: 2))
      let loaded = try adapters.map { try engine.loadAdapter($0) }
      #expect(loaded.map(\.name) == adapters)
      #expect(
        loaded[0].parameterCount == PresetAdapter(Self.preset, rank: 4, seed: 7).parameterCount)
      #expect(loaded[0].byteCount == loaded[0].parameterCount * 2)
      let ids = randomIDs(20, vocabulary: Self.preset.header.vocabularySize, seed: 6)
      let plain = try engine.logits(ids)
      let fresh = try loaded.map { adapter in
        let session = try engine.session()
        try session.use(adapter)
        return try session.logits(ids)
      }
      #expect(relativeError(fresh[0], plain) > 0.1 && relativeError(fresh[1], plain) > 0.1)
      #expect(relativeError(fresh[0], fresh[1]) > 0.1)
      // One session, request after request, and beside another one.
      let session = try engine.session()
      let other = try engine.session()
      try other.use(loaded[1])
      for adapter in [loaded[0], nil, loaded[1], loaded[0], nil] {
        session.truncate(to: 0)
        try session.use(adapter)
        #expect(session.adapter === adapter)
        let wanted = adapter.map { $0 === loaded[0] ? fresh[0] : fresh[1] } ?? plain
        #expect(try session.logits(ids) == wanted)
        other.truncate(to: 0)
        #expect(try other.logits(ids) == fresh[1])
      }
    }
  }

  @Test func anAdapterIsThePackedMatrixPlusItsProduct() throws {
    try withModel(.f32) { model, adapters, _ in
      let engine = try EngineLoader.load(model)
      let session = try engine.session()
      try session.use(try engine.loadAdapter(adapters[0]))
      let ids = randomIDs(12, vocabulary: Self.preset.header.vocabularySize, seed: 4)
      let merged = MergedSource(
        source: PresetSource(Self.preset, seed: 3), adapter: try AdapterFile(path: adapters[0]))
      let expected = try packing(merged, .f32) { try EngineLoader.load($0).logits(ids) }
      #expect(relativeError(try session.logits(ids), expected) < 1e-4)
    }
  }

  @Test func refusesWhatDoesNotFitAndStaysUsable() throws {
    try withModel(.u2c) { model, adapters, folder in
      let engine = try EngineLoader.load(model)
      let session = try engine.session()
      let ids: [Int32] = [1, 2, 3]
      let before = try session.logits(ids)
      let wrong = folder.appendingPathComponent("wrong.safetensors").path
      _ = try PresetAdapter(.onDevice2024, rank: 1, seed: 1).write(to: wrong)
      let error = #expect(throws: InputError.self) { try engine.loadAdapter(wrong) }
      #expect(error?.file == wrong && error?.place.hasPrefix("tensor blk.0.") == true)
      #expect(error?.reason.contains("do not fit") == true, "\(error?.reason ?? "")")
      let foreign = try EngineLoader.load(model).loadAdapter(adapters[0])
      #expect(throws: EngineError.self) { try session.use(foreign) }
      #expect(session.adapter == nil)
      session.truncate(to: 0)
      #expect(try session.logits(ids) == before)
    }
  }
}

/// A model whose matrices have an adapter's products added.
private struct MergedSource: ModelSource {
  let source: PresetSource
  let adapter: AdapterFile

  var header: ModelHeader { source.header }
  var tokenizer: TokenizerDescription? { source.tokenizer }
  var tensors: [SourceTensor] { source.tensors }
  var provenance: [String: String] { [:] }

  func readRows(
    _ rows: Range<Int>, ofTensor index: Int, into output: inout MutableSpan<Float>
  ) throws(InputError) {
    try source.readRows(rows, ofTensor: index, into: &output)
    guard let entry = adapter.entries.first(where: { $0.matrix == tensors[index].name }) else {
      return
    }
    var (a, b) = (
      [Float](repeating: 0, count: entry.a.shape.elementCount),
      [Float](repeating: 0, count: entry.b.shape.elementCount)
    )
    var aSpan = a.mutableSpan
    var bSpan = b.mutableSpan
    try adapter.readFactor(entry.a, into: &aSpan)
    try adapter.readFactor(entry.b, into: &bSpan)
    let columns = entry.a.shape.columnCount
    for (place, row) in rows.enumerated() {
      for column in 0..<columns {
        let sum = (0..<entry.rank).reduce(0.0) {
          $0 + Double(b[row * entry.rank + $1]) * Double(a[$1 * columns + column])
        }
        output[place * columns + column] += Float(sum) * entry.scale
      }
    }
  }
}
