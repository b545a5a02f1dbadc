import FoundationEssentials
import TensorCore

/// The JSON sections: `HEAD`, the model header, and `prov`, where the model came from.
///
/// Written with sorted keys, so that the same model gives the same bytes. Keys that a reader does
/// not know may be ignored.
enum HeaderSection {
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    // Strings, integers and floats in a flat object: there is nothing that JSON cannot hold.
    guard let data = try? encoder.encode(value) else { preconditionFailure("not JSON") }
    return Array(data)
  }

  static func parse<Value: Decodable>(
    _: Value.Type, from section: IndexReader
  ) throws(InputError) -> Value {
    let bytes = Array(section.bytes[section.position..<section.end])
    try checkNesting(bytes, in: section)
    do {
      return try JSONDecoder().decode(Value.self, from: Data(bytes))
    } catch let error as DecodingError {
      if case .dataCorrupted(let context) = error, context.codingPath.isEmpty {
        throw try numberFault(Value.self, bytes, in: section) ?? section.error("not valid JSON")
      }
      throw section.error(reason(of: error))
    } catch {
      throw section.error("not valid JSON")
    }
  }

  /// What is wrong with JSON that the decoder calls invalid: it says so of numbers too.
  private static func numberFault<Value: Decodable>(
    _: Value.Type, _ bytes: [UInt8], in section: IndexReader
  ) throws(InputError) -> InputError? {
    let numbers: JSONNumberFault
    do {
      numbers = try JSONNumberFault(bytes, fileOffset: section.offset, place: section.place)
    } catch {
      throw section.error("not valid JSON: \(error.reason)", at: error.offset)
    }
    let fault = numbers.find { (try? JSONDecoder().decode(Value.self, from: Data($0))) != nil }
    return fault.map { section.error($0.reason, at: section.offset + $0.position) }
  }

  /// Refuses what a recursive parser could choke on before it sees it.
  private static func checkNesting(
    _ bytes: [UInt8], in section: IndexReader
  ) throws(InputError) {
    guard bytes.count <= ContainerLayout.jsonByteLimit else {
      throw section.error(
        "JSON of \(bytes.count) bytes, at most \(ContainerLayout.jsonByteLimit) is allowed")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw section.error("not valid UTF-8")
    }
    var depth = 0
    var inString = false
    var escaped = false
    for (index, byte) in bytes.enumerated() {
      if inString {
        if escaped {
          escaped = false
        } else if byte == UInt8(ascii: "\\") {
          escaped = true
        } else if byte == UInt8(ascii: "\"") {
          inString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): inString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      guard depth <= ContainerLayout.jsonDepthLimit else {
        throw section.error(
          "JSON nests deeper than \(ContainerLayout.jsonDepthLimit)", at: section.offset + index)
      }
    }
  }

  private static func reason(of error: DecodingError) -> String {
    func name(_ path: [any CodingKey]) -> String {
      path.map(\.stringValue).joined(separator: ".")
    }
    return switch error {
    case .keyNotFound(let key, _): "\(key.stringValue) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      context.codingPath.isEmpty
        ? "a JSON object is expected" : "\(name(context.codingPath)) has the wrong type"
    case .dataCorrupted(let context):
      context.codingPath.isEmpty
        ? "not valid JSON" : "\(name(context.codingPath)) has an impossible value"
    @unknown default: "not valid JSON"
    }
  }
}

extension ModelHeader {
  /// The first property whose value no model can have, in words, or nil.
  var fault: String? {
    let counts = [
      ("layerCount", layerCount), ("hiddenSize", hiddenSize),
      ("feedForwardSize", feedForwardSize), ("vocabularySize", vocabularySize),
      ("queryHeadCount", queryHeadCount), ("keyValueHeadCount", keyValueHeadCount),
      ("headDimension", headDimension), ("contextLength", contextLength),
    ]
    for (name, count) in counts where count < 1 || count > Int(Int32.max) {
      return "\(name) is \(count)"
    }
    if ropeDimension < 0 || ropeDimension > headDimension {
      return "ropeDimension is \(ropeDimension) in heads of \(headDimension)"
    }
    if queryHeadCount % keyValueHeadCount != 0 {
      return "\(queryHeadCount) query heads do not share \(keyValueHeadCount) key-value heads"
    }
    if !(ropeBase.isFinite && ropeBase > 0) { return "ropeBase is \(ropeBase)" }
    if !(normEpsilon.isFinite && normEpsilon >= 0) { return "normEpsilon is \(normEpsilon)" }
    if let keyValueLayerCount, keyValueLayerCount < 1 || keyValueLayerCount > layerCount {
      return "keyValueLayerCount is \(keyValueLayerCount) of \(layerCount) layers"
    }
    let ownCount = keyValueLayerCount ?? layerCount
    for (name, scales) in [("keys", cacheScales?.keys), ("values", cacheScales?.values)] {
      guard let scales else { continue }
      if scales.count != ownCount {
        return "cacheScales.\(name) has \(scales.count) scales for \(ownCount) layers"
      }
      if let scale = scales.first(where: { !($0.isFinite && $0 > 0) }) {
        return "cacheScales.\(name) has the scale \(scale)"
      }
    }
    return nil
  }
}
