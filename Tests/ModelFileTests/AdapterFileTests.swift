import Foundation
import ModelFile
import TensorCore
import TestSupport
import Testing

@Suite struct AdapterFileTests {
  /// A safetensors file of f32 zeros.
  private func file(
    _ tensors: [(name: String, shape: [Int])], metadata: [String: String] = [:],
    element: SafetensorsElement = .f32
  ) throws -> SafetensorsFile {
    let folder = try TemporaryFolder()
    let path = folder.file("adapter.safetensors")
    var writer = try SafetensorsWriter(
      creating: path, metadata: metadata,
      tensors: tensors.map {
        SafetensorsWriter.Tensor(
          name: $0.name, element: element, shape: TensorShape($0.shape)!)
      })
    for index in writer.dataOrder {
      let count = tensors[index].shape.reduce(1, *) * element.bitCount / 8
      let bytes = [UInt8](repeating: 0, count: count)
      try writer.append(unsafe bytes.span.bytes)
    }
    try writer.finish()
    return try SafetensorsFile(
      bytes: Array(Data(contentsOf: URL(fileURLWithPath: path))), name: "adapter")
  }

  @Test func pairsFactorsOfOurNames() throws {
    let adapter = try AdapterFile(
      file([
        ("blk.1.ffn_up.weight.lora_b", [9, 2]), ("blk.0.attn_q.weight.lora_a", [4, 7]),
        ("blk.0.attn_q.weight.lora_b", [5, 4]), ("blk.1.ffn_up.weight.lora_a", [2, 7]),
      ]))
    #expect(adapter.entries.map(\.matrix) == ["blk.0.attn_q.weight", "blk.1.ffn_up.weight"])
    #expect(adapter.entries.map(\.rank) == [4, 2] && adapter.entries.map(\.scale) == [1, 1])
    #expect(!adapter.hasForeignNames)
    #expect(adapter.entries[0].b.shape.dimensions == [5, 4])
  }

  @Test func readsPEFTsNamesWithTheirScale() throws {
    let prefix = "base_model.model.model.layers.3."
    let tensors = [
      (prefix + "self_attn.o_proj.lora_A.weight", [8, 6]),
      (prefix + "self_attn.o_proj.lora_B.weight", [6, 8]),
    ]
    let adapter = try AdapterFile(file(tensors, metadata: ["lora_alpha": "16"]))
    #expect(adapter.entries.map(\.matrix) == ["blk.3.attn_output.weight"])
    #expect(adapter.entries[0].scale == 2 && adapter.hasForeignNames)
    let error = #expect(throws: InputError.self) { try AdapterFile(file(tensors)) }
    #expect(error?.reason.contains("lora_alpha") == true)
  }

  struct Fault: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var tensors: [(name: String, shape: [Int])]
    var metadata: [String: String] = [:]
    var element = SafetensorsElement.f32
    var reason: String
  }

  static let faults: [Fault] = [
    Fault(testDescription: "no tensors", tensors: [], reason: "without tensors"),
    Fault(
      testDescription: "a foreign tensor", tensors: [("blk.0.attn_q.weight", [2, 2])],
      reason: "not one of an adapter's factor"),
    Fault(
      testDescription: "an unknown module",
      tensors: [("base_model.model.model.layers.0.router.lora_A.weight", [2, 2])],
      reason: "not one of an adapter's factor"),
    Fault(
      testDescription: "one factor", tensors: [("m.lora_a", [2, 5])],
      reason: "its other factor is missing"),
    Fault(
      testDescription: "two ranks", tensors: [("m.lora_a", [2, 5]), ("m.lora_b", [5, 3])],
      reason: "different ranks"),
    Fault(
      testDescription: "a vector", tensors: [("m.lora_a", [5]), ("m.lora_b", [5, 1])],
      reason: "is no matrix"),
    Fault(
      testDescription: "rank 0", tensors: [("m.lora_a", [0, 5]), ("m.lora_b", [5, 0])],
      reason: "is no matrix"),
    Fault(
      testDescription: "8-bit floats", tensors: [("m.lora_a", [2, 5]), ("m.lora_b", [5, 2])],
      element: .f8e4m3, reason: "F8_E4M3 are not read"),
    Fault(
      testDescription: "alpha", tensors: [("m.lora_a", [2, 5]), ("m.lora_b", [5, 2])],
      metadata: ["lora_alpha": "much"], reason: "\"much\" is not a number"),
    Fault(
      testDescription: "alpha without end",
      tensors: [("m.lora_a", [2, 5]), ("m.lora_b", [5, 2])], metadata: ["lora_alpha": "inf"],
      reason: "\"inf\" is not a number"),
    Fault(
      testDescription: "twice the same factor",
      tensors: [
        ("blk.0.attn_q.weight.lora_a", [2, 5]),
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", [2, 5]),
      ], reason: "there twice"),
  ]

  @Test(arguments: faults) func refuses(_ fault: Fault) throws {
    let error = #expect(throws: InputError.self) {
      try AdapterFile(file(fault.tensors, metadata: fault.metadata, element: fault.element))
    }
    #expect(error?.reason.contains(fault.reason) == true, "\(error?.reason ?? "")")
    #expect(error?.file == "adapter")
  }

  @Test func aPresetsAdapterHasFactorsForEveryProjection() throws {
    let folder = try TemporaryFolder()
    let preset = ModelPreset.onDeviceTiny
    let maker = PresetAdapter(preset, rank: 3, seed: 5)
    let byteCount = try maker.write(to: folder.file("a.safetensors"))
    let adapter = try AdapterFile(path: folder.file("a.safetensors"))
    #expect(adapter.file.byteCount == byteCount)
    let tensors = OnDeviceTensors(preset.header)
    let projections = (0..<preset.header.layerCount).flatMap { tensors.projections(layer: $0) }
    #expect(adapter.entries.map(\.matrix) == projections.map(\.name).sorted())
    let count = adapter.entries.reduce(0) { $0 + $1.a.shape.elementCount + $1.b.shape.elementCount }
    #expect(count == maker.parameterCount)
    #expect(adapter.entries.allSatisfy { $0.scale == 1 && $0.rank == 3 })
    // The same bytes again; other bytes from another seed.
    _ = try maker.write(to: folder.file("b.safetensors"))
    _ = try PresetAdapter(preset, rank: 3, seed: 6).write(to: folder.file("c.safetensors"))
    let bytes = try ["a", "b", "c"].map { try Data(contentsOf: folder.url("\($0).safetensors")) }
    #expect(bytes[0] == bytes[1] && bytes[0] != bytes[2])
    var values = [Float](repeating: 0, count: adapter.entries[0].a.shape.elementCount)
    var span = values.mutableSpan
    try adapter.readFactor(adapter.entries[0].a, into: &span)
    let square = values.reduce(0) { $0 + $1 * $1 } / Float(values.count)
    let columns = Float(adapter.entries[0].a.shape.columnCount)
    #expect(abs(square * columns - 1) < 0.3)
  }
}
