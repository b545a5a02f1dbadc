import Files
import PackedFormats
import TensorCore

extension AFMWFile {
  /// Checks every byte of the file that opening has not checked already.
  ///
  /// Every frame against its digest, every plane against its own, every value against the rules of
  /// its format, and the bytes around stored planes. What lies outside the frames (prologue, index,
  /// seek table) has been checked when the file was opened, so that `AFMWFile(opening:)` followed
  /// by `verify` finds any flipped bit.
  ///
  /// - Parameter progress: called from the working threads with the plane bytes checked so far.
  /// - Throws: the fault that comes first in the file's directory, with tensor, frame and offset.
  ///
  /// Memory: 64 MiB of tensors at a time, or the largest tensor where that is more.
  public func verify(
    threads: Int = 1, progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
  ) throws(InputError) {
    let total = tensors.reduce(0) { $0 + $1.byteCount }
    var done = 0
    for batch in batches(limit: 64 << 20) {
      let before = done
      let loaded = try load(batch, threads: threads) { bytes, _ in
        progress?(before + bytes, total)
      }
      _ = try naming { () throws(InputError) in
        try WorkerGroup.forEach(loaded.count, threads: threads, context: { () }) {
          _, number throws(InputError) in
          try loaded[number].verifyDigests()
        }
      }
      done += loaded.reduce(0) { $0 + $1.byteCount }
    }
    try naming { () throws(InputError) in try verifyFramesOutsidePlanes(threads: threads) }
  }

  /// Places in `tensors`, in runs of about `limit` bytes.
  private func batches(limit: Int) -> [[Int]] {
    var batches: [[Int]] = []
    var room = 0
    for (index, tensor) in tensors.enumerated() {
      if batches.isEmpty || tensor.byteCount > room {
        batches.append([])
        room = limit
      }
      batches[batches.count - 1].append(index)
      room -= tensor.byteCount
    }
    return batches
  }

  /// Stored frames as a whole (headers, padding), and frames of sections that are not known here.
  private func verifyFramesOutsidePlanes(threads: Int) throws(InputError) {
    var owners: [Int: String] = [:]
    for tensor in tensors {
      for plane in tensor.planes where plane.storage == .stored {
        owners[plane.frames.lowerBound] = tensor.name
      }
    }
    for index in owners.keys.sorted() {
      try verifyStoredFrame(index, tensor: owners[index])
    }
    try verifyUnnamedFrames(threads: threads)
  }

  /// Frames of sections that are not known here.
  func verifyUnnamedFrames(threads: Int) throws(InputError) {
    let frames = unnamedFrames
    try WorkerGroup.forEach(frames.count, threads: threads, context: FrameInflater.init) {
      [self] inflater, number throws(InputError) in
      let index = frames[number]
      guard table.frames[index].kind == .data else {
        return try verifyStoredFrame(index, tensor: nil)
      }
      try verifyUnnamedFrame(index, with: inflater)
    }
  }

  /// A data frame that belongs to no plane.
  private func verifyUnnamedFrame(
    _ index: Int, with inflater: borrowing FrameInflater
  ) throws(InputError) {
    let frame = table.frames[index]
    var compressed = AlignedStorage(byteCount: frame.compressedByteCount)
    var bytes = compressed.mutableBytes
    do { try file.read(at: frame.offset, into: &bytes) } catch {
      throw error.at(frame: index, of: table, tensor: nil)
    }
    guard ContentDigest.of(compressed.bytes) == frame.digest else {
      throw "the compressed bytes do not match their digest".at(
        frame: index, of: table, tensor: nil)
    }
    let content = AlignedStorage(byteCount: ContainerLayout.contentLimit)
    // The table was checked: no frame holds more than `contentLimit` bytes.
    let fault = unsafe inflater.inflate(frame, compressed.bytes, into: content.baseAddress)
    if let fault { throw fault.at(frame: index, of: table, tensor: nil) }
  }

  private func verifyStoredFrame(_ index: Int, tensor: String?) throws(InputError) {
    let frame = table.frames[index]
    var buffer = AlignedStorage(byteCount: ContainerLayout.contentLimit)
    var digest = ContentDigest()
    let planeOffset = ContainerLayout.storedPlaneOffset(frameOffset: frame.offset)
    for start in stride(from: 0, to: frame.compressedByteCount, by: buffer.byteCount) {
      let count = min(buffer.byteCount, frame.compressedByteCount - start)
      var bytes = buffer.mutableBytes
      do {
        try file.read(at: frame.offset + start, into: &bytes, byteCount: count)
      } catch {
        throw error.at(frame: index, of: table, tensor: tensor)
      }
      let read = bytes.bytes.extracting(0..<count)
      if start == 0, !Self.isStoredFrameStart(read, frame: frame, planeOffset: planeOffset) {
        throw "not a skippable frame with zero padding before its plane".at(
          frame: index, of: table, tensor: tensor)
      }
      digest.update(read)
    }
    guard digest.finish() == frame.digest else {
      throw "the bytes do not match their digest".at(frame: index, of: table, tensor: tensor)
    }
  }

  /// Whether a frame's first bytes are its magic, its byte count and zeros up to the plane.
  static func isStoredFrameStart(
    _ bytes: RawSpan, frame: FrameTable.Frame, planeOffset: Int
  ) -> Bool {
    var expected: [UInt8] = []
    expected.appendLittleEndian(ContainerLayout.storedFrameMagic)
    expected.appendLittleEndian(
      UInt32(frame.compressedByteCount - ContainerLayout.skippableHeaderByteCount))
    guard bytes.byteCount >= planeOffset else { return false }
    for index in 0..<planeOffset {
      // Inside the span, by the guard above; any byte is a UInt8.
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      if byte != (index < expected.count ? expected[index] : 0) { return false }
    }
    return true
  }
}

extension LoadedTensor {
  fileprivate func verifyDigests() throws(InputError) {
    for plane in description.planes where plane.storage == .compressed {
      guard ContentDigest.of(bytes(of: plane.plane)) == plane.digest else {
        throw InputError(
          place: "tensor \(name)", offset: plane.fileOffset,
          reason: "the \(plane.plane) do not match their digest")
      }
    }
  }
}
