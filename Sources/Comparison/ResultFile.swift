import Foundation
import TensorCore

/// Files of results: a bundle's `results.json`, llama-bench's JSON and JSON lines, hyperfine's JSON.
package enum ResultFile {
  /// The measurements in the bytes of a file; throws what is wrong with them, with row and field.
  package static func measurements(
    in bytes: [UInt8], path: String
  ) throws(InputError) -> Measurements {
    let value = try parse(bytes, path: path)
    if let object = value as? [String: Any], let results = object["results"] as? [Any] {
      return try HyperfineResults.measurements(results, path: path)
    }
    guard let rows = value as? [Any] else {
      throw InputError(
        file: path, reason: "neither rows of results nor hyperfine's object with \"results\"")
    }
    guard !rows.isEmpty else { throw InputError(file: path, reason: "it holds no rows") }
    return try BenchmarkResults.measurements(rows, path: path)
  }

  /// One JSON value, or the values of JSON lines as an array.
  private static func parse(_ bytes: [UInt8], path: String) throws(InputError) -> Any {
    let data = Data(bytes)
    if let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) {
      // A file of one line is JSON lines with one row.
      if let row = value as? [String: Any], row["results"] == nil { return [row] }
      return value
    }
    var rows: [Any] = []
    for (number, line) in data.split(separator: UInt8(ascii: "\n")).enumerated() {
      guard line.contains(where: { !Self.isBlank($0) }) else { continue }
      guard let row = try? JSONSerialization.jsonObject(with: Data(line), options: .fragmentsAllowed) else {
        let place = number == 0 ? "" : "line \(number + 1)"
        throw InputError(file: path, place: place, reason: "not JSON")
      }
      rows.append(row)
    }
    return rows
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}

/// A row's fields as text and numbers.
struct RowReader {
  private let object: [String: Any]
  private let path: String
  private let index: Int

  init(_ value: Any, path: String, index: Int) throws(InputError) {
    guard let object = value as? [String: Any] else {
      throw InputError(file: path, place: "row \(index)", reason: "not an object")
    }
    self.object = object
    self.path = path
    self.index = index
  }

  func error(_ field: String, _ reason: String) -> InputError {
    InputError(file: path, place: "row \(index): \(field)", reason: reason)
  }

  func has(_ field: String) -> Bool {
    guard let value = object[field] else { return false }
    return !(value is NSNull)
  }

  /// A number, text or truth value as text; nil where there is none.
  func text(_ field: String) throws(InputError) -> String? {
    guard let value = object[field], !(value is NSNull) else { return nil }
    if let text = value as? String { return text }
    if let number = value as? NSNumber { return number.stringValue }
    throw error(field, "neither text nor a number")
  }

  /// Numbers in an array; none where there is no such field.
  func numbers(_ field: String) throws(InputError) -> [Double] {
    guard has(field) else { return [] }
    guard let values = object[field] as? [Any] else { throw error(field, "not an array") }
    var numbers: [Double] = []
    for value in values {
      guard let number = value as? NSNumber, number.doubleValue.isFinite else {
        throw error(field, "not an array of numbers")
      }
      numbers.append(number.doubleValue)
    }
    return numbers
  }

  /// The object behind a field, as texts.
  func texts(_ field: String) throws(InputError) -> [String: String] {
    guard has(field) else { return [:] }
    guard let values = object[field] as? [String: Any] else { throw error(field, "not an object") }
    return values.mapValues { "\($0)" }
  }
}
