/// The indices of a Python slice.
struct TemplateSlice {
  let first: Int
  let stride: Int
  let count: Int

  /// The slice `[from:to:step]` of so many elements; the step is not 0.
  init(from: Int?, to: Int?, step: Int, of total: Int) {
    func clamped(_ bound: Int, _ range: ClosedRange<Int>) -> Int {
      let index = bound < 0 ? bound + total : bound
      return min(max(index, range.lowerBound), range.upperBound)
    }
    // Steps longer than the whole take one element, whatever their length.
    stride = min(max(step, -total - 1), total + 1)
    if step > 0 {
      first = from.map { clamped($0, 0...total) } ?? 0
      let end = to.map { clamped($0, 0...total) } ?? total
      count = max(0, (end - first + stride - 1) / stride)
    } else {
      first = from.map { clamped($0, -1...total - 1) } ?? total - 1
      let end = to.map { clamped($0, -1...total - 1) } ?? -1
      count = max(0, (first - end - stride - 1) / -stride)
    }
  }

  var all: some Sequence<Int> { (0..<count).lazy.map { first + $0 * stride } }
}

/// The scalars of a text by their indices, as Python counts them.
struct TemplateScalars {
  private let bytes: [UInt8]
  /// Where each scalar begins; empty where each is one byte.
  private var offsets: [Int32] = []
  let count: Int

  init(_ text: TemplateString, _ budget: inout TemplateBudget) throws(ChatTemplateError) {
    count = try text.scalarCount(&budget)
    bytes = try text.bytes(&budget)
    guard count < bytes.count else { return }
    try budget.spend(searching: bytes.count)
    try budget.makeRoom(for: 4 * count)
    offsets.reserveCapacity(count)
    for (offset, byte) in bytes.enumerated() where byte & 0xC0 != 0x80 {
      offsets.append(Int32(offset))
    }
  }

  /// The UTF-8 of some scalars, one after the other.
  func utf8(of range: Range<Int>) -> ArraySlice<UInt8> {
    bytes[offset(of: range.lowerBound)..<offset(of: range.upperBound)]
  }

  /// The text of the scalars at the indices of a slice.
  func text(
    at indices: TemplateSlice, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) -> TemplateString {
    if indices.count == 0 { return TemplateString(given: "") }
    if indices.stride == 1 {
      let range = indices.first..<indices.first + indices.count
      return try TemplateString(utf8: utf8(of: range), &budget)
    }
    try budget.spend(scalarsOf: bytes.count)
    try budget.makeRoom(for: 2 * bytes.count)
    var result: [UInt8] = []
    for index in indices.all { result += utf8(of: index..<index + 1) }
    return try TemplateString(utf8: result[...], &budget)
  }

  private func offset(of index: Int) -> Int {
    index == count ? bytes.count : offsets.isEmpty ? index : Int(offsets[index])
  }
}
