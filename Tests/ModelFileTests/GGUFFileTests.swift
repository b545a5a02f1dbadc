import Foundation
import ModelFile
import TensorCore
import Testing

@Suite struct GGUFFileTests {
  @Test(arguments: [UInt32(2), 3])
  func readsMetadataOfAllTypes(version: UInt32) throws {
    var writer = GGUFWriter()
    writer.version = version
    let long = String(repeating: "é", count: 50_000)
    writer.set("u8", .u8(200))
    writer.set("i8", .init(type: 1, bytes: [0x80]))
    writer.set("u16", .init(type: 2, bytes: [0x01, 0x80]))
    writer.set("i16", .init(type: 3, bytes: [0xFF, 0xFF]))
    writer.set("u32", .u32(.max))
    writer.set("i32", .i32(.min))
    writer.set("f32", .f32(1.5))
    writer.set("bool", .bool(1))
    writer.set("string", .string("ü\n"))
    writer.set("long", .string(long))
    writer.set("u64", .u64(.max))
    writer.set("i64", .init(type: 11, bytes: GGUFWriter.little(Int64.min)))
    writer.set("f64", .f64(-0.1))
    writer.set("empty", .array(8, []))
    let inner: [GGUFWriter.Value] = [
      .array(4, [.u32(1), .u32(2)]), .array(8, [.string("x")]), .array(0, []),
    ]
    writer.set("nested", .array(9, inner))
    try withTemporaryFile(writer.build().bytes) { path in
      let file = try GGUFFile(path: path)
      #expect(file.version == version)
      #expect(file.metadata["u8"] == .unsigned(200))
      #expect(file.metadata["i8"] == .signed(-128))
      #expect(file.metadata["u16"] == .unsigned(0x8001))
      #expect(file.metadata["i16"] == .signed(-1))
      #expect(file.metadata["u32"] == .unsigned(UInt64(UInt32.max)))
      #expect(file.metadata["i32"] == .signed(Int64(Int32.min)))
      #expect(file.metadata["f32"] == .float32(1.5))
      #expect(file.metadata["bool"] == .bool(true))
      #expect(file.metadata["string"] == .string("ü\n"))
      #expect(file.metadata["long"] == .string(long))
      #expect(file.metadata["u64"] == .unsigned(.max))
      #expect(file.metadata["i64"] == .signed(.min))
      #expect(file.metadata["f64"] == .float64(-0.1))
      #expect(file.metadata["empty"] == .array(.string([])))
      #expect(
        file.metadata["nested"]
          == .array(.nested([.uint32([1, 2]), .string(["x"]), .uint8([])])))
      #expect(file.tensors.isEmpty)
    }
  }

  @Test(arguments: [1, 8, 32, 4096])
  func honoursTheAlignment(alignment: Int) throws {
    var writer = GGUFWriter()
    writer.alignment = alignment
    writer.set("general.alignment", .u32(UInt32(alignment)))
    writer.addFloats("a", [3])
    writer.addFloats("b", [2, 5])
    try withTemporaryFile(writer.build().bytes) { path in
      let file = try GGUFFile(path: path)
      #expect(file.alignment == alignment)
      #expect(file.tensors.map(\.shape.dimensions) == [[3], [2, 5]])
      #expect(try file.values(of: file.tensors[1]) == (0..<10).map { Float($0) / 64 })
    }
  }

  /// golden/gguf-types.gguf and .f32: `tools/oracles/gguf_oracle.py types GGUF F32`.
  @Test(arguments: [1, 2])
  func dequantizesEveryTypeAsTheOracleDid(step: Int) throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Fixtures/golden")
    let file = try GGUFFile(path: folder.appendingPathComponent("gguf-types.gguf").path)
    let expected = [UInt8](
      try Data(contentsOf: folder.appendingPathComponent("gguf-types.f32")))
    #expect(Set(file.tensors.map(\.type)) == Set(GGUFTensorType.allCases))
    var start = 0
    for tensor in file.tensors {
      let bytes = try file.values(of: tensor, step: step).flatMap {
        GGUFWriter.little($0.bitPattern)
      }
      try #require(expected.count >= start + bytes.count)
      #expect(bytes == Array(expected[start..<start + bytes.count]), "\(tensor.type.name)")
      start += bytes.count
    }
    #expect(start == expected.count)
  }

  @Test func refusesWhatIsNoFile() {
    for path in ["/", "/nonexistent/model.gguf", "/dev/null", ""] {
      let error = #expect(throws: InputError.self) { try GGUFFile(path: path) }
      #expect(error?.file == path)
    }
  }

  /// The example of ModelFile.docc/GGUF.md.
  @Test func readsTheWorkedExample() throws {
    var writer = GGUFWriter()
    let unit = [UInt8](repeating: 0xE4, count: 64) + [0x00, 0x40]
    writer.tensors.append(.init(name: "t", dimensions: [256], type: 35, data: unit))
    try withTemporaryFile(writer.build().bytes) { path in
      let file = try GGUFFile(path: path)
      let half = [-2, 0, 2, 4].flatMap { [Float](repeating: $0, count: 32) }
      #expect(try file.values(of: file.tensors[0]) == half + half)
    }
  }
}
