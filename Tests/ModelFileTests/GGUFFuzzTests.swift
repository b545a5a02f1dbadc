import ModelFile
import TensorCore
import TestSupport
import Testing

@Suite struct GGUFFuzzTests {
  /// Flips bits, overwrites integers with extremes, cuts and doubles ranges: whatever the file
  /// becomes, it is read or refused with a typed error.
  @Test(arguments: [UInt64(1), 2, 3, 4, 5])
  func survivesMutations(seed: UInt64) throws {
    let (original, marks) = GGUFWriter.model().build()
    let headCount = try #require(marks["data"])
    var generator = SeededGenerator(seed: seed)
    var accepted = 0
    var refused = 0
    for _ in 0..<1000 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        mutate(&bytes, headCount: headCount, using: &generator)
      }
      try withTemporaryFile(bytes) { path in
        do throws(InputError) {
          try readAll(GGUFModel(path: path))
          accepted += 1
        } catch {
          #expect(error.file == path)
          #expect(!error.reason.isEmpty)
          refused += 1
        }
      }
    }
    // Both happen, or the mutations are too weak or too strong to say anything.
    #expect(accepted > 0 && refused > 100, "seed \(seed): \(accepted) accepted, \(refused) refused")
  }

  private func mutate(
    _ bytes: inout [UInt8], headCount: Int, using generator: inout SeededGenerator
  ) {
    let limit = min(headCount, bytes.count)
    guard limit > 16 else { return }
    let position = Int.random(in: 0..<limit - 8, using: &generator)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<5:
      bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 5..<7:
      let extremes: [UInt64] = [0, 1, .max, 1 << 63, (1 << 63) - 1, 1 << 31, 1 << 62]
      let value = extremes[Int.random(in: 0..<extremes.count, using: &generator)]
      bytes.replaceSubrange(position..<position + 8, with: GGUFWriter.little(value))
    case 7:
      bytes.removeLast(Int.random(in: 0..<bytes.count / 2, using: &generator))
    case 8:
      let count = Int.random(in: 1...min(64, limit - position), using: &generator)
      bytes.removeSubrange(position..<position + count)
    default:
      // Anywhere, so that data change too.
      let anywhere = Int.random(in: 0..<bytes.count, using: &generator)
      bytes[anywhere] = .random(in: 0...255, using: &generator)
    }
  }

  private func readAll(_ model: GGUFModel) throws(InputError) {
    for (index, tensor) in model.tensors.enumerated() {
      var values = [Float](repeating: 0, count: tensor.shape.elementCount)
      var output = values.mutableSpan
      try model.readRows(0..<tensor.shape.rowCount, ofTensor: index, into: &output)
    }
  }
}
