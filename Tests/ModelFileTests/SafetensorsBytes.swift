import Foundation
import ModelFile
import Testing

/// A safetensors file put together by hand: header as text, data as bytes.
struct SafetensorsBytes {
  var metadata: [(String, String)] = []
  var tensors: [(name: String, type: String, shape: [Int], data: [UInt8])] = []

  mutating func add(_ name: String, _ type: String, _ shape: [Int], _ data: [UInt8]) {
    tensors.append((name, type, shape, data))
  }

  mutating func add(_ name: String, _ shape: [Int], _ values: [Float]) {
    add(name, "F32", shape, values.flatMap { GGUFWriter.little($0.bitPattern) })
  }

  /// Binary16, as the standard library rounds.
  mutating func addHalves(_ name: String, _ shape: [Int], _ values: [Float]) {
    add(name, "F16", shape, values.flatMap { GGUFWriter.little(Float16($0).bitPattern) })
  }

  var bytes: [UInt8] {
    var members: [String] = []
    if !metadata.isEmpty {
      // No character in these tests needs an escape.
      let pairs = metadata.map { "\"\($0)\":\"\($1)\"" }
      members.append("\"__metadata__\":{\(pairs.joined(separator: ","))}")
    }
    var data: [UInt8] = []
    for tensor in tensors {
      let shape = tensor.shape.map(String.init).joined(separator: ",")
      members.append(
        "\"\(tensor.name)\":{\"dtype\":\"\(tensor.type)\",\"shape\":[\(shape)],"
          + "\"data_offsets\":[\(data.count),\(data.count + tensor.data.count)]}")
      data += tensor.data
    }
    let json = Array("{\(members.joined(separator: ","))}".utf8)
    return GGUFWriter.little(UInt64(json.count)) + json + data
  }

  func write(to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }
}

extension SafetensorsFile {
  /// A whole tensor as float32.
  func values(of tensor: SafetensorsTensor) throws -> [Float] {
    let count = tensor.shape.elementCount
    var values = [Float](repeating: .nan, count: count)
    var output = values.mutableSpan
    try readElements(0..<count, of: tensor, into: &output)
    return values
  }

  func values(_ name: String) throws -> [Float] {
    try values(of: #require(tensor(named: name)))
  }
}
