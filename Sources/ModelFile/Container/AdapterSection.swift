import PackedFormats
import TensorCore

/// Which tensors are low-rank additions to which: section `ADPT`.
///
/// An adapter count (8 bytes), then for each adapter, in ascending order of its matrix:
///
/// | offset | bytes | field |
/// | --- | --- | --- |
/// | 0 | 4 | tensor number of the matrix |
/// | 4 | 4 | tensor number of A |
/// | 8 | 4 | tensor number of B |
/// | 12 | 4 | reserved |
enum AdapterSection {
  private static let entryByteCount = 16

  static func encode(_ adapters: [LowRankAdapter]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendLittleEndian(UInt64(adapters.count))
    for adapter in adapters.sorted(by: { $0.tensor < $1.tensor }) {
      // A file has at most 2^20 tensors.
      bytes.appendLittleEndian(UInt32(adapter.tensor))
      bytes.appendLittleEndian(UInt32(adapter.a))
      bytes.appendLittleEndian(UInt32(adapter.b))
      bytes.appendLittleEndian(UInt32(0))
    }
    return bytes
  }

  /// The adapters, each held against the tensors that it names.
  static func parse(
    _ section: IndexReader, tensors: [StoredTensor]
  ) throws(InputError) -> [LowRankAdapter] {
    var reader = section
    let count = try reader.count(
      for: "the adapter count", limit: reader.remaining / entryByteCount)
    guard count > 0 else { throw reader.error("a section without adapters", at: section.offset) }
    var adapters: [LowRankAdapter] = []
    var used = [Bool](repeating: false, count: tensors.count)
    for index in 0..<count {
      reader.place = "section ADPT: adapter \(index)"
      let start = reader.offset
      var numbers: [Int] = []
      for what in ["the matrix", "A", "B"] {
        let number = Int(try reader.integer(UInt32.self, for: what))
        guard number < tensors.count else {
          throw reader.error("\(what) is tensor \(number) of \(tensors.count)", at: start)
        }
        guard !used[number] else {
          throw reader.error("tensor \(number) is in an adapter already", at: start)
        }
        used[number] = true
        numbers.append(number)
      }
      try reader.reserved(UInt32.self)
      let adapter = LowRankAdapter(tensor: numbers[0], a: numbers[1], b: numbers[2])
      guard adapters.last.map({ $0.tensor < adapter.tensor }) ?? true else {
        throw reader.error("its matrix stands before that of the adapter before", at: start)
      }
      if let fault = fault(of: adapter, tensors: tensors) { throw reader.error(fault, at: start) }
      adapters.append(adapter)
    }
    reader.place = "section ADPT"
    guard reader.remaining == 0 else {
      throw reader.error("\(reader.remaining) bytes follow the last adapter")
    }
    return adapters
  }

  /// Why those tensors do not make an adapter, or nil where they do.
  private static func fault(of adapter: LowRankAdapter, tensors: [StoredTensor]) -> String? {
    let matrix = tensors[adapter.tensor].shape.dimensions
    let a = tensors[adapter.a]
    let b = tensors[adapter.b]
    guard matrix.count == 2, a.shape.dimensions.count == 2, b.shape.dimensions.count == 2 else {
      return "an adapter is of matrices"
    }
    let rank = a.shape.dimensions[0]
    guard a.shape.dimensions[1] == matrix[1], b.shape.dimensions == [matrix[0], rank] else {
      return "B \(b.shape) and A \(a.shape) do not make \(tensors[adapter.tensor].shape)"
    }
    guard rank <= min(matrix[0], matrix[1]) else {
      return "rank \(rank) is more than \(tensors[adapter.tensor].shape) has"
    }
    for factor in [a, b] where factor.format != .f16 && factor.format != .f32 {
      return "\(factor.name) is \(factor.format.name), not f16 or f32"
    }
    return nil
  }
}
