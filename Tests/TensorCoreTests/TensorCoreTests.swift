import TensorCore
import Testing

@Suite struct TensorCoreTests {
  @Test(arguments: [0, 1, 63, 4_096, 1 << 20, (1 << 20) + 5])
  func storageIsAlignedZeroedAndWritable(_ byteCount: Int) {
    var storage = AlignedStorage(byteCount: byteCount, prefersHugePages: byteCount > 4_096)
    // Only the number of the address is used.
    #expect(unsafe UInt(bitPattern: storage.baseAddress) % 64 == 0)
    #expect(storage.byteCount == byteCount)
    #expect(sum(storage.bytes) == 0)
    guard byteCount > 0 else { return }
    // One borrow at a time: the mutable span ends with the call.
    setLast(&storage)
    #expect(sum(storage.bytes) == 0xA5)
  }

  private func setLast(_ storage: inout AlignedStorage) {
    var bytes = storage.mutableBytes
    bytes.storeBytes(of: 0xA5, toByteOffset: bytes.byteCount - 1, as: UInt8.self)
  }

  private func sum(_ bytes: RawSpan) -> Int {
    // Offsets are inside the span, and any byte is a valid element.
    (0..<bytes.byteCount).reduce(0) {
      unsafe $0 + Int(bytes.unsafeLoad(fromByteOffset: $1, as: UInt8.self))
    }
  }

  @Test func shapesMultiplyWithoutOverflow() throws {
    let shape = try #require(TensorShape([3, 5, 7]))
    #expect(shape.elementCount == 105 && shape.rowCount == 15 && shape.columnCount == 7)
    #expect(shape.description == "3x5x7")
    let scalar = try #require(TensorShape([]))
    #expect(scalar.elementCount == 1 && scalar.rowCount == 1 && scalar.columnCount == 1)
    #expect(TensorShape([1 << 32, 1 << 31]) == nil)
    #expect(TensorShape([2, -1]) == nil)
    #expect(TensorShape([0, 4])?.elementCount == 0)
  }

  @Test func inputErrorsAreOneLine() {
    let error = InputError(place: "tensor a\nb", offset: 12, reason: "5 bytes\u{7F} are missing")
    #expect(
      error.inFile("m.gguf").description
        == "m.gguf: tensor a\\nb: offset 12: 5 bytes\\u{7F} are missing")
    #expect(error.inFile("first").inFile("second").file == "first")
    #expect(InputError(reason: "empty").description == "empty")
  }
}
