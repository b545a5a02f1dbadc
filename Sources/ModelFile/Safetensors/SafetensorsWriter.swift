import Files
import TensorCore

/// Writes a safetensors file; the file appears at `finish` or not at all.
///
/// What it holds is said beforehand, so that the header comes first and the data stream behind it.
/// Data stand in order of falling element width, so that every tensor is aligned; the header
/// lists tensors in the order in which they were given.
///
/// ```
/// var writer = try SafetensorsWriter(creating: "out.safetensors", tensors: [weights, scales])
/// for index in writer.dataOrder { try writer.append(bytes(of: index)) }
/// try writer.finish()
/// ```
package struct SafetensorsWriter: ~Copyable {
  /// A tensor to be written.
  package struct Tensor: Hashable, Sendable {
    package var name: String
    package var element: SafetensorsElement
    package var shape: TensorShape

    package init(name: String, element: SafetensorsElement, shape: TensorShape) {
      self.name = name
      self.element = element
      self.shape = shape
    }

    /// Bytes of its data; nil where they do not fit an `Int` or are no whole number.
    package var byteCount: Int? {
      let (bits, overflow) = shape.elementCount.multipliedReportingOverflow(by: element.bitCount)
      return overflow || bits % 8 != 0 ? nil : bits / 8
    }
  }

  /// The places of the tensors in the order in which their data are to come.
  package let dataOrder: [Int]
  private var output: OutputFile
  /// Bytes of the whole file.
  package let byteCount: Int

  /// Creates the partial file and writes the header.
  ///
  /// Throws `.input` for a name that comes twice, a tensor that is too large, or a header longer
  /// than readers allow; `.output` where the destination cannot be written.
  package init(
    creating path: String, metadata: [String: String] = [:], tensors: [Tensor]
  ) throws(PackError) {
    let order = tensors.indices.sorted {
      (-tensors[$0].element.bitCount, $0) < (-tensors[$1].element.bitCount, $1)
    }
    let header = try Self.header(metadata, tensors, order)
    output = try Self.created(path, header.bytes)
    dataOrder = order
    byteCount = header.fileByteCount
  }

  private static func created(
    _ path: String, _ header: [UInt8]
  ) throws(PackError) -> OutputFile {
    do throws(FileError) {
      var output = try OutputFile(creating: path)
      // Bytes have no padding.
      try output.append(unsafe header.span.bytes)
      return output
    } catch {
      throw .output(error)
    }
  }

  /// Adds the next bytes of the data.
  package mutating func append(_ bytes: RawSpan) throws(PackError) {
    precondition(output.byteCount + bytes.byteCount <= byteCount, "more data than the header says")
    do throws(FileError) { try output.append(bytes) } catch { throw .output(error) }
  }

  /// Makes the file appear; all data must have come.
  package consuming func finish() throws(PackError) {
    precondition(output.byteCount == byteCount, "data are missing")
    do throws(FileError) { try output.commit() } catch { throw .output(error) }
  }

  /// Length, JSON and spaces up to a multiple of eight; and the byte count of the whole file.
  private static func header(
    _ metadata: [String: String], _ tensors: [Tensor], _ order: [Int]
  ) throws(PackError) -> (bytes: [UInt8], fileByteCount: Int) {
    func fault(_ name: String, _ reason: String) -> PackError {
      .input(InputError(place: name.isEmpty ? "header" : "tensor \(name)", reason: reason))
    }
    var starts = [Int](repeating: 0, count: tensors.count)
    var end = 0
    for index in order {
      starts[index] = end
      guard let byteCount = tensors[index].byteCount,
        case (let next, false) = end.addingReportingOverflow(byteCount)
      else {
        throw fault(tensors[index].name, "the tensor is too large")
      }
      end = next
    }
    var names: Set<[UInt8]> = []
    var members: [String] = []
    if !metadata.isEmpty {
      let pairs = metadata.sorted { $0.key < $1.key }
        .map { "\(JSONText.quoted($0.key)):\(JSONText.quoted($0.value))" }
      members.append("\"__metadata__\":{\(pairs.joined(separator: ","))}")
    }
    for (index, tensor) in tensors.enumerated() {
      guard names.insert(Array(tensor.name.utf8)).inserted, tensor.name != "__metadata__" else {
        throw fault(tensor.name, "the name is taken in a safetensors file")
      }
      let shape = tensor.shape.dimensions.map(String.init).joined(separator: ",")
      let range = "\(starts[index]),\(starts[index] + (tensor.byteCount ?? 0))"
      members.append(
        "\(JSONText.quoted(tensor.name)):{\"dtype\":\"\(tensor.element.rawValue)\","
          + "\"shape\":[\(shape)],\"data_offsets\":[\(range)]}")
    }
    var json = Array("{\(members.joined(separator: ","))}".utf8)
    while json.count % 8 != 0 { json.append(0x20) }
    let limit = SafetensorsHeader.byteCountLimit
    guard json.count <= limit else {
      throw fault("", "\(json.count) bytes, at most \(limit) are allowed")
    }
    let length = (0..<8).map { UInt8(truncatingIfNeeded: json.count >> (8 * $0)) }
    return (length + json, SafetensorsHeader.prefixByteCount + json.count + end)
  }
}

/// Text as JSON writes it.
enum JSONText {
  /// In quotation marks; what JSON forbids is escaped.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
