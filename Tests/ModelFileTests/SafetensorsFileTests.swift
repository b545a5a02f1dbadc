import Foundation
import ModelFile
import TensorCore
import TestSupport
import Testing

@Suite struct SafetensorsFileTests {
  /// The example of ModelFile.docc/Safetensors.md, byte for byte.
  static let example: [UInt8] =
    [0x40, 0, 0, 0, 0, 0, 0, 0]
    + Array(#"{"scale":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}}    "#.utf8)
    + [0x00, 0x3C, 0x00, 0xC1]

  @Test func readsTheWorkedExample() throws {
    let file = try SafetensorsFile(bytes: Self.example, name: "example")
    let tensor = try #require(file.tensor(named: "scale"))
    #expect(tensor.element == .f16 && tensor.shape.dimensions == [2, 1])
    #expect(tensor.offset == 72 && tensor.byteCount == 4)
    #expect(try file.values(of: tensor) == [1, -2.5])
    // The writer's bytes are those.
    let folder = try ScratchFolder()
    let path = folder.path("example.safetensors")
    let shape = try #require(TensorShape([2, 1]))
    var writer = try SafetensorsWriter(
      creating: path, tensors: [.init(name: "scale", element: .f16, shape: shape)])
    try writer.append(unsafe Array(Self.example[72...]).span.bytes)
    try writer.finish()
    #expect(try Array(Data(contentsOf: URL(filePath: path))) == Self.example)
  }

  @Test func readsPartsOfEveryTypeFromAFile() throws {
    let folder = try ScratchFolder()
    var file = SafetensorsBytes()
    file.metadata = [("a", "b")]
    file.add("f32", [4], [1, -.infinity, 0x1p-149, 5])
    file.add("bf16", "BF16", [4], [0x80, 0x3F, 0x00, 0xC0, 0xC1, 0x7F, 0, 0])
    file.add("f64", "F64", [4], [0.1, -2, 1e300, 4].flatMap { GGUFWriter.little($0.bitPattern) })
    file.add("i8", "I8", [4], [0x80, 0xFF, 0, 0x7F])
    file.add("u16", "U16", [4], [0, 0, 1, 0, 0xFF, 0xFF, 0, 1])
    file.add(
      "i64", "I64", [4],
      [-1, 1 << 40, 0, 7].flatMap { GGUFWriter.little(UInt64(bitPattern: Int64($0))) })
    file.add("scalar", [], [7])
    file.add("nothing", [0, 3], [])
    let path = folder.path("types.safetensors")
    try file.write(to: path)
    let opened = try SafetensorsFile(path: path)
    #expect(opened.metadata == ["a": "b"])
    func part(_ name: String) throws -> [UInt32] {
      let tensor = try #require(opened.tensor(named: name))
      var values = [Float](repeating: .nan, count: 3)
      var output = values.mutableSpan
      try opened.readElements(1..<4, of: tensor, into: &output)
      return values.map(\.bitPattern)
    }
    func bits(_ values: [Float]) -> [UInt32] { values.map(\.bitPattern) }
    #expect(try part("f32") == bits([-.infinity, 0x1p-149, 5]))
    #expect(try part("bf16") == [0xC000_0000, 0x7FC1_0000, 0])
    #expect(try part("f64") == bits([-2, .infinity, 4]))
    #expect(try part("i8") == bits([-1, 0, 127]))
    #expect(try part("u16") == bits([1, 65535, 256]))
    #expect(try part("i64") == bits([0x1p40, 0, 7]))
    for (name, expected) in [("scalar", [7]), ("nothing", [])] as [(String, [Float])] {
      #expect(try opened.values(name) == expected)
    }
  }

  /// A file that shrinks after it was opened is an error, not a crash.
  @Test func aFileThatShrinksIsAnError() throws {
    let folder = try ScratchFolder()
    let path = folder.path("shrinks.safetensors")
    try Data(Self.example).write(to: URL(filePath: path))
    let file = try SafetensorsFile(path: path)
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.truncate(atOffset: 74)
    try handle.close()
    let error = #expect(throws: InputError.self) { try file.values(of: file.tensors[0]) }
    #expect(error?.file == path && error?.place == "tensor scale" && error?.offset == 72)
  }

  @Test func refusesEveryTruncation() throws {
    for count in 0..<Self.example.count {
      let error = #expect(throws: InputError.self) {
        try SafetensorsFile(bytes: Array(Self.example[..<count]), name: "cut")
      }
      #expect(error?.file == "cut" && error?.offset != nil)
    }
  }

  /// Flipped bits, extremes, cuts: a file is read or refused with a typed error.
  @Test(arguments: [UInt64(1), 2, 3]) func survivesMutations(seed: UInt64) throws {
    var file = SafetensorsBytes()
    file.metadata = [("format", "pt")]
    file.add("a", [2, 3], [1, 2, 3, 4, 5, 6])
    file.add("b", "U8", [3], [1, 2, 3])
    let original = file.bytes
    var generator = SeededGenerator(seed: seed)
    var (accepted, refused) = (0, 0)
    for _ in 0..<3000 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...2, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0..<3: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 3: bytes.remove(at: place)
        case 4: bytes.insert(.random(in: 32...126, using: &generator), at: place)
        default: bytes.insert(contentsOf: bytes[place...].prefix(12), at: place)
        }
      }
      do throws(InputError) {
        let file = try SafetensorsFile(bytes: bytes, name: "mutant")
        for tensor in file.tensors where tensor.element.isReadable {
          let count = tensor.shape.elementCount
          var values = [Float](repeating: 0, count: count)
          var output = values.mutableSpan
          try file.readElements(0..<count, of: tensor, into: &output)
        }
        accepted += 1
      } catch {
        #expect(error.file == "mutant" && !error.reason.isEmpty)
        refused += 1
      }
    }
    #expect(accepted > 0 && refused > 100, "seed \(seed): \(accepted), \(refused)")
  }
}
