import EngineInterface
import Engines
import Foundation
import KVCache
import ModelFile
import PackedFormats
import TestSupport
import Testing

/// The on-device graph: shared keys and values, normalised heads, prefill that skips.
@Suite struct OnDeviceTests {
  /// tools/oracles/ondevice_twin.py runs the same tensors in NumPy float64.
  @Test(.needs(.python), arguments: OnDeviceModel.all)
  func agreesWithTheTwin(_ model: OnDeviceModel) throws {
    let folder = try TemporaryFolder()
    try model.dump(into: folder.url("."))
    let ids = randomIDs(70, vocabulary: model.header.vocabularySize, seed: 5)
    try JSONEncoder().encode(ids).write(to: folder.url("ids.json"))
    let expected = try JSONDecoder().decode(
      [[Float]].self,
      from: Oracle.script(
        "ondevice_twin.py", "logits", folder.url(".").path, folder.url("ids.json").path))
    let found = try packing(model, .f32) { try EngineLoader.load($0).logits(ids) }
    // float32 against float64.
    let error = relativeError(found, expected)
    #expect(error < 5e-5, "\(model.header.name): \(error)")
  }

  @Test(arguments: WeightFormat.allCases)
  func packedWeightsComputeWhatTheirRealValuesDo(_ format: WeightFormat) throws {
    let model = OnDeviceModel.all[0]
    let ids = randomIDs(40, vocabulary: model.header.vocabularySize, seed: 9)
    try packing(model, format) { path in
      let found = try EngineLoader.load(path, options: EngineOptions(threads: 2)).logits(ids)
      let expected = try packing(DequantizedSource(file: AFMWFile(opening: path)), .f32) {
        try EngineLoader.load($0).logits(ids)
      }
      let error = relativeError(found, expected)
      // 8-bit activations through eight layers are the difference: measured up to 0.40 with one scale
      // a token (u2t); a wrong code or scale gives more than 1.
      #expect(error < (format == .f32 || format == .f16 ? 1e-4 : 0.5), "\(format.name): \(error)")
    }
  }

  /// What a prompt's last position gives does not depend on whether the other positions went through
  /// the layers that nobody reads, nor does what is generated from there.
  @Test(arguments: OnDeviceModel.all) func skippingChangesNothing(_ model: OnDeviceModel) throws {
    let ids = randomIDs(33, vocabulary: model.header.vocabularySize, seed: 6)
    try packing(model, .f32) { path in
      let engine = try EngineLoader.load(path, options: EngineOptions(threads: 2))
      let full = try engine.logits(ids, batch: 16)
      for batch in [1, 7, 16, 512] {
        let session = try engine.session(batch: batch)
        try session.prefill(ids[..<30])
        #expect(session.positionCount == 30)
        let rest = try ids[30...].map { try session.logits([$0])[0] }
        #expect(relativeError(rest, Array(full[30...])) < 2e-5, "batches of \(batch)")
      }
    }
  }

  @Test func aSessionMayRunAllLayersForEveryPosition() throws {
    let model = OnDeviceModel.all[0]
    let ids = randomIDs(20, vocabulary: model.header.vocabularySize, seed: 6)
    try packing(model, .f32) { path in
      let engine = try EngineLoader.load(path)
      func greedy(runsAllLayers: Bool) throws -> Int32 {
        var options = SessionOptions(contextLimit: 64)
        options.runsAllLayers = runsAllLayers
        let session = try engine.makeSession(options)
        try session.prefill(ids[...])
        var sampler = Sampler(.greedy)
        return try session.sample(using: &sampler)
      }
      #expect(try greedy(runsAllLayers: true) == greedy(runsAllLayers: false))
    }
  }

  @Test func layersThatShareNeedNoCacheOfTheirOwn() throws {
    let model = OnDeviceModel.all[0]
    try packing(model, .f32) { path in
      let session = try EngineLoader.load(path).session(cache: "s8")
      try session.prefill([1, 2, 3])
      // 5 layers, keys and values, 2 heads of 16 elements.
      #expect(session.cacheUsage.ideal == 3 * 5 * 2 * 2 * 16)
    }
  }

  @Test func countsParametersAndBytesFromItsGraph() throws {
    for model in OnDeviceModel.all {
      try packing(model, .f32) { path in
        let facts = try EngineLoader.load(path).facts
        #expect(facts.parameterCount == OnDeviceTensors(model.header).parameterCount)
        #expect(facts.weightByteCount == facts.parameterCount * 4)
        #expect(facts.layerCount == model.header.layerCount)
      }
    }
  }
}
