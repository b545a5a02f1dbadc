import TensorCore

/// A JSON array of token ids, alone or under the name `ids` of an object.
package enum TokenIdList {
  /// The ids. An error names the place: `index 3: offset 12: 1.5 is no token id, …`.
  package static func parse(_ bytes: [UInt8]) throws(InputError) -> [Int32] {
    var reader = JSONReader(bytes)
    var ids: [Int32]?
    switch try? reader.kind() {
    case .array: ids = try array(&reader)
    case .object:
      try reader.object { reader, name throws(InputError) in
        if name == "ids" { ids = try array(&reader) } else { try reader.skip() }
      }
    default: break
    }
    guard let ids else { throw InputError(reason: "not a JSON array of token ids") }
    try reader.end()
    return ids
  }

  private static func array(_ reader: inout JSONReader) throws(InputError) -> [Int32] {
    var ids: [Int32] = []
    do {
      try reader.array { reader throws(InputError) in
        reader.place = "index \(ids.count)"
        // Passes the white space before it.
        _ = try reader.kind()
        let start = reader.offset
        let number = try reader.number()
        guard let id = Int32(exactly: number), id >= 0 else {
          throw reader.error(
            "no token id, which is an integer from 0 to \(Int32.max)", at: start)
        }
        ids.append(id)
      }
    } catch {
      var error = error
      error.reason = "not a JSON array of token ids: \(error.reason)"
      throw error
    }
    reader.place = ""
    return ids
  }
}
