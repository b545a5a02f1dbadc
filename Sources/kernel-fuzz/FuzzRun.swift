import CQuantKernels
import PackedFormats
import RandomNumbers

/// The cases of one level and format.
@safe struct FuzzRun {
  /// What one case found.
  struct Outcome {
    /// Whether the memory keeps the rules of its format.
    var isWhole = false
    var fault: String?
  }

  private let library: FuzzedLibrary
  private let kernels: OpaquePointer
  private let portable: OpaquePointer
  private let matrices: [FuzzedMatrix]
  // Each has room for the largest shape.
  private let packed, activations, input, output, expected, scratch, row: GuardedPages

  private static let largestTokenCount = 9
  /// Activations are at most this.
  private static let reach: Float = 3

  /// Nil where the system has no memory.
  init?(
    _ library: FuzzedLibrary, kernels: OpaquePointer, portable: OpaquePointer,
    matrices: [FuzzedMatrix]
  ) {
    let rows = matrices.map(\.rows).max() ?? 1
    let columns = matrices.map(\.columns).max() ?? 1
    let floats = Self.largestTokenCount * 4
    guard let packed = GuardedPages(capacity: matrices.map(\.whole.count).max() ?? 1),
      let activations = GuardedPages(capacity: 1 << 18),
      let input = GuardedPages(capacity: columns * floats),
      let output = GuardedPages(capacity: (rows + 3) * floats),
      let expected = GuardedPages(capacity: (rows + 3) * floats),
      let scratch = GuardedPages(capacity: 1 << 20), let row = GuardedPages(capacity: columns * 4)
    else { return nil }
    self.library = library
    unsafe self.kernels = unsafe kernels
    unsafe self.portable = unsafe portable
    self.matrices = matrices
    (self.packed, self.activations, self.input) = (packed, activations, input)
    (self.output, self.expected, self.scratch, self.row) = (output, expected, scratch, row)
  }

  /// One damaged memory, and all that is done with it.
  func perform(_ seed: UInt64) -> Outcome {
    var random = SplitMix64(seed: seed)
    let matrix = matrices[Int(random.next() % UInt64(matrices.count))]
    let atEnd = random.next() % 2 == 0
    // Every place below lies between its own guards, and is as long as the library says.
    let memory = unsafe packed.place(matrix.whole.count, atEnd: atEnd)
    unsafe matrix.write(to: memory, &random)
    var weights = unsafe afm_matrix(
      format: matrix.number, rows: Int64(matrix.rows), columns: Int64(matrix.columns),
      memory: memory, memory_bytes: matrix.whole.count)
    let isWhole = unsafe library.checkMatrix(&weights, 0, Int64(matrix.rows)) == 0
    var outcome = Outcome(isWhole: isWhole)

    let rowBytes = matrix.columns * 4
    let values = unsafe row.place(rowBytes, atEnd: atEnd).assumingMemoryBound(to: Float.self)
    let index = Int(random.next() % UInt64(matrix.rows))
    let error = unsafe library.dequantizeRow(&weights, Int64(index), values, rowBytes)
    if isWhole, error != 0 { outcome.fault = "a row of whole memory gave error \(error)" }

    let tokens = 1 + Int(random.next() % UInt64(Self.largestTokenCount))
    let isQuantized = random.next() % 4 != 0
    var x = unsafe prepare(matrix, tokens: tokens, isQuantized: isQuantized, atEnd, &random)
    let part = Part(matrix, tokens: tokens, &random)
    if let fault = unsafe multiply(matrix, part, &weights, &x, kernels, to: output, atEnd) {
      outcome.fault = fault
    }
    guard isWhole, isQuantized, outcome.fault == nil else { return outcome }
    if let fault = unsafe multiply(matrix, part, &weights, &x, portable, to: expected, atEnd) {
      outcome.fault = fault
      return outcome
    }
    var reach = 0.0
    for column in 0..<matrix.columns {
      unsafe reach += Double(values[column].magnitude) * Double(Self.reach)
    }
    outcome.fault = difference(part, atEnd, finiteRow: reach < 0x1p126 ? index : nil)
    return outcome
  }

  /// The rows of a product, and where they go.
  private struct Part {
    let rows: Range<Int>
    let stride: Int
    let tokens: Int
    let floatCount: Int

    /// All rows, or some tiles.
    init(_ matrix: FuzzedMatrix, tokens: Int, _ random: inout SplitMix64) {
      let tileCount = (matrix.rows + 15) / 16
      let isPart = random.next() % 2 == 0
      let first = isPart ? Int(random.next() % UInt64(tileCount)) : 0
      let end = isPart ? first + 1 + Int(random.next() % UInt64(tileCount - first)) : tileCount
      rows = first * 16..<min(matrix.rows, end * 16)
      stride = matrix.rows + Int(random.next() % 4)
      self.tokens = tokens
      floatCount = (tokens - 1) * stride + matrix.rows
    }
  }

  /// Activations: tokens that were quantized, or any bytes behind the record of such.
  private func prepare(
    _ matrix: FuzzedMatrix, tokens: Int, isQuantized: Bool, _ atEnd: Bool,
    _ random: inout SplitMix64
  ) -> afm_activations {
    let byteCount = library.bytes {
      unsafe library.activationBytes(
        matrix.number, Int64(tokens), Int64(matrix.columns), $0)
    }
    let memory = unsafe activations.place(byteCount, atEnd: atEnd)
    var x = unsafe afm_activations(
      format: matrix.number, tokens: Int64(tokens), columns: Int64(matrix.columns), memory: memory,
      memory_bytes: byteCount)
    let count = tokens * matrix.columns
    let floats = unsafe input.place(count * 4, atEnd: atEnd).assumingMemoryBound(to: Float.self)
    for place in 0..<count {
      let word = random.next()
      // Any bits are floats that can be quantized.
      unsafe floats[place] =
        isQuantized
        ? Float(Int32(truncatingIfNeeded: word)) * (Self.reach * 0x1p-31)
        : Float(bitPattern: UInt32(truncatingIfNeeded: word))
    }
    let error = unsafe library.quantize(
      kernels, nil, &x, floats, count * 4, Int64(matrix.columns))
    precondition(error == 0, "floats were refused")
    if !isQuantized {
      // The first line is the record that a product asks for.
      unsafe FuzzedMatrix.fill(
        UnsafeMutableRawBufferPointer(start: memory + 64, count: byteCount - 64), &random)
    }
    return unsafe x
  }

  /// The product of a part, which may not write other rows.
  private func multiply(
    _ matrix: FuzzedMatrix, _ part: Part, _ weights: inout afm_matrix,
    _ x: inout afm_activations, _ kernels: OpaquePointer, to pages: GuardedPages, _ atEnd: Bool
  ) -> String? {
    let byteCount = part.floatCount * 4
    let floats = unsafe pages.place(byteCount, atEnd: atEnd).assumingMemoryBound(to: Float.self)
    let untouched: UInt32 = 0x7FA1_B2C3
    for place in 0..<part.floatCount { unsafe floats[place] = Float(bitPattern: untouched) }
    let scratchBytes = library.bytes {
      unsafe library.scratchBytes(
        matrix.number, Int64(part.tokens), Int64(matrix.columns), 1, $0)
    }
    let error = unsafe library.multiplyRows(
      kernels, &weights, &x, Int64(part.rows.lowerBound), Int64(part.rows.upperBound), floats,
      byteCount, Int64(part.stride), scratch.place(scratchBytes, atEnd: atEnd), scratchBytes)
    if error != 0 { return "a product gave error \(error)" }
    for place in 0..<part.floatCount where !part.rows.contains(place % part.stride) {
      if unsafe floats[place].bitPattern != untouched { return "other rows were written" }
    }
    return nil
  }

  /// What is wrong with the product of whole memory: other bits than the portable level's, or a
  /// number that is not finite in a row whose result is within range.
  private func difference(_ part: Part, _ atEnd: Bool, finiteRow: Int?) -> String? {
    let byteCount = part.floatCount * 4
    let found = unsafe output.place(byteCount, atEnd: atEnd).assumingMemoryBound(to: Float.self)
    let wanted = unsafe expected.place(byteCount, atEnd: atEnd)
      .assumingMemoryBound(to: Float.self)
    for place in 0..<part.floatCount {
      let (token, row) = (place / part.stride, place % part.stride)
      if unsafe found[place].bitPattern != wanted[place].bitPattern {
        return "token \(token), row \(row): not the portable level's bits"
      }
      if unsafe row == finiteRow && part.rows.contains(row) && !found[place].isFinite {
        return "token \(token), row \(row): not finite"
      }
    }
    return nil
  }
}
