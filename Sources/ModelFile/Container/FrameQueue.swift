import Files

/// Frames that wait to be compressed and written, in the order in which they stand in the file.
///
/// Compression runs over many pieces at once, across planes and tensors; the order of the file is
/// the order of `add` and `release`, whatever the threads do.
struct FrameQueue: ~Copyable {
  /// One frame on its way: content, then compressed bytes, then a number in the table.
  ///
  /// Only one thread touches a piece at a time: workers have one each, the writer the rest.
  final class Piece: @unchecked Sendable {
    let kind: FrameTable.Kind
    let contentByteCount: Int
    /// What is left to do: the content first, then the frame.
    fileprivate var bytes: [UInt8]
    fileprivate var isCompressed = false
    /// XXH64 of the content of a data frame; the digest of a stored plane.
    fileprivate(set) var contentHash: UInt64 = 0
    /// The frame's number, once it is in the file.
    var index: Int?

    fileprivate init(kind: FrameTable.Kind, content: [UInt8]) {
      self.kind = kind
      contentByteCount = content.count
      bytes = content
    }

    /// The frame as it stands at that file offset; the piece then holds no bytes any more.
    func frame(at offset: Int) -> [UInt8] {
      let payload = bytes
      bytes = []
      guard kind == .stored else { return payload }
      let planeOffset = ContainerLayout.storedPlaneOffset(frameOffset: offset)
      var frame: [UInt8] = []
      frame.reserveCapacity(planeOffset + payload.count)
      frame.appendLittleEndian(ContainerLayout.storedFrameMagic)
      frame.appendLittleEndian(
        UInt32(planeOffset + payload.count - ContainerLayout.skippableHeaderByteCount))
      frame += [UInt8](
        repeating: 0, count: planeOffset - ContainerLayout.skippableHeaderByteCount)
      return frame + payload
    }
  }

  private let compression: FrameCompression
  private let threads: Int
  /// Pieces whose place in the file is decided.
  private var ready: [Piece] = []
  /// All pieces whose content is not compressed yet.
  private var waiting: [Piece] = []
  private var waitingByteCount = 0

  init(compression: FrameCompression, threads: Int) {
    self.compression = compression
    self.threads = max(1, threads)
  }

  /// Whether enough waits to occupy all threads.
  var isFull: Bool { waitingByteCount >= threads * 2 * ContainerLayout.contentLimit }

  /// Adds the content of a data frame; `isNext` gives it the next place in the file.
  mutating func add(_ content: [UInt8], isNext: Bool) -> Piece {
    let piece = Piece(kind: .data, content: content)
    wait(piece)
    if isNext { ready.append(piece) }
    return piece
  }

  /// Adds a plane that is stored as it is, at the next place.
  mutating func addStored(_ content: [UInt8]) -> Piece {
    let piece = Piece(kind: .stored, content: content)
    wait(piece)
    ready.append(piece)
    return piece
  }

  /// Gives pieces that were added without a place the next ones.
  mutating func release(_ pieces: [Piece]) { ready += pieces }

  private mutating func wait(_ piece: Piece) {
    waiting.append(piece)
    waitingByteCount += piece.contentByteCount
  }

  /// Compresses everything that waits.
  mutating func compressAll() {
    let pieces = waiting
    let compression = compression
    WorkerGroup.forEach(
      pieces.count, threads: threads, context: { FrameCompressor(compression) }
    ) { compressor, index in
      let piece = pieces[index]
      switch piece.kind {
      case .data:
        piece.contentHash = XXH64.hash(piece.bytes)
        piece.bytes = compressor.frame(piece.bytes)
      case .stored:
        piece.contentHash = ContentDigest.of(piece.bytes[...])
      }
      piece.isCompressed = true
    }
    waiting = []
    waitingByteCount = 0
  }

  /// The compressed pieces that may be written, in order.
  mutating func takeReady() -> [Piece] {
    defer { ready = [] }
    precondition(ready.allSatisfy { $0.isCompressed }, "compressAll comes first")
    return ready
  }
}
