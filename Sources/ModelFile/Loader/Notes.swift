import TensorCore

/// What the jobs of one plane leave behind for the work that follows: eight bytes a piece, each
/// written by one thread.
final class Notes: @unchecked Sendable {
  // Every job writes the places of its own piece only; all are read after the jobs.
  private let storage: AlignedStorage

  init(pieceCount: Int) { storage = AlignedStorage(byteCount: 8 * (pieceCount + 1)) }

  /// The hash of a chunk.
  subscript(hash index: Int) -> UInt64 {
    get { unsafe storage.baseAddress.load(fromByteOffset: place(index), as: UInt64.self) }
    set {
      unsafe storage.baseAddress.storeBytes(
        of: newValue, toByteOffset: place(index), as: UInt64.self)
    }
  }

  /// Keeps the first and the last four bytes of a piece, fewer where it is shorter: the first ones
  /// behind the last ones of the piece before.
  func keepEdges(of piece: UnsafeRawBufferPointer, index: Int) {
    let count = min(4, piece.count)
    for byte in 0..<count {
      unsafe storage.baseAddress.storeBytes(
        of: piece[byte], toByteOffset: place(index) + 4 + byte, as: UInt8.self)
      unsafe storage.baseAddress.storeBytes(
        of: piece[piece.count - count + byte], toByteOffset: place(index + 1) + 4 - count + byte,
        as: UInt8.self)
    }
  }

  /// The bytes on both sides of where the piece begins.
  func edges(at index: Int) -> (before: [UInt8], after: [UInt8]) {
    let bytes = (0..<8).map {
      unsafe storage.baseAddress.load(fromByteOffset: place(index) + $0, as: UInt8.self)
    }
    return (Array(bytes[..<4]), Array(bytes[4...]))
  }

  private func place(_ index: Int) -> Int {
    precondition(index >= 0 && index * 8 + 8 <= storage.byteCount, "no such piece")
    return index * 8
  }
}
