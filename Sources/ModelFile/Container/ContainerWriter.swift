import Files
import PackedFormats
import TensorCore
import Tokenization

/// Writes a `.afmw` file from beginning to end; the file appears at `finish` or not at all.
///
/// Tensors come one after another, each a few rows of all its planes at a time. The same calls
/// give the same bytes on any number of threads (and with the same version of zstd): nothing in
/// the file depends on time, place or machine.
///
/// ```
/// var writer = try ContainerWriter(creating: "out.afmw", compression: .zstd(level: 3), threads: 2)
/// try writer.beginTensor(name: "w", shape: shape, format: .s8c)
/// try writer.append(codes, to: .codes)
/// try writer.append(scales, to: .scales)
/// let stored = try writer.endTensor()
/// try writer.finish(header: header, tokenizer: nil, provenance: [:])
/// ```
///
/// With `usesKernelLayouts`, formats that kernels read in a layout of their own are written in it and
/// stored as they are, so that a loader maps them; the planes still come canonical.
///
/// Memory: 2 MiB a thread and the compressed scales and minimums of one tensor, or all of the
/// tensor where it is stored as it is: twice, while it is brought into another layout.
package struct ContainerWriter: ~Copyable {
  private var output: OutputFile
  private var queue: FrameQueue
  private var table = FrameTable()
  /// The bytes of section `TENS` behind its count.
  private var directory: [UInt8] = []
  /// Tensors whose frames are not all in the file yet.
  private var unfinished: [OpenTensor] = []
  private var current: OpenTensor?
  private var names: Set<String> = []
  private let usesKernelLayouts: Bool
  /// Low-rank additions to tensors that have been written, by their numbers: 0 is the first tensor.
  package var adapters: [LowRankAdapter] = []

  /// Tensors that have begun.
  package var tensorCount: Int { names.count }

  /// A tensor on its way into the file.
  private struct OpenTensor {
    let name: String
    let shape: TensorShape
    let format: WeightFormat
    /// The layout that the bytes come in, and the one that they are written in.
    let arrival: WeightLayout
    var layout: WeightLayout
    let storage: PlaneStorage
    var planes: [OpenPlane]
  }

  private struct OpenPlane {
    let plane: Plane
    let expectedByteCount: Int
    var byteCount = 0
    /// Bytes that do not fill a chunk yet; all of them where the plane is stored as it is.
    var pending: [UInt8] = []
    /// Its frames, in order.
    var pieces: [FrameQueue.Piece] = []
  }

  /// Creates the partial file; fails where the destination cannot be written.
  package init(
    creating path: String, compression: FrameCompression, threads: Int,
    usesKernelLayouts: Bool = false
  ) throws(PackError) {
    self.usesKernelLayouts = usesKernelLayouts
    output = try Self.created(path)
    queue = FrameQueue(compression: compression, threads: threads)
  }

  private static func created(_ path: String) throws(PackError) -> OutputFile {
    do throws(FileError) {
      var output = try OutputFile(creating: path)
      // The prologue's place; its bytes are known at the end.
      try output.append([UInt8](repeating: 0, count: ContainerLayout.prologueByteCount))
      return output
    } catch {
      throw .output(error)
    }
  }

  /// Elements from which real numbers are stored as they are in a file that is to be mapped.
  private static var mappedElementCount: Int { 1 << 15 }

  /// Begins a tensor; its bytes follow in `append`: canonical ones, unless `layout` says which they
  /// come in and are to stay in.
  ///
  /// Throws for what the format cannot hold: see the limits in the specification.
  package mutating func beginTensor(
    name: String, shape: TensorShape, format: WeightFormat, layout given: WeightLayout? = nil,
    storage: PlaneStorage = .compressed
  ) throws(PackError) {
    precondition(current == nil, "the tensor before has not ended")
    func fault(_ reason: String) -> PackError {
      .input(InputError(place: "tensor \(name)", reason: reason))
    }
    if let reason = TensorDirectory.fault(name: name, shape: shape) { throw fault(reason) }
    guard names.count < ContainerLayout.tensorCountLimit else { throw fault("too many tensors") }
    guard names.insert(name).inserted else { throw fault("a second tensor has this name") }
    var planes: [OpenPlane] = []
    let arrival = given ?? .canonical
    precondition(!arrival.planes(of: format).isEmpty, "a layout that does not hold the format")
    let layout = given ?? (usesKernelLayouts ? format.kernelLayout : nil) ?? .canonical
    // Real numbers run as they are; vectors of them are not worth a page each.
    let isMapped =
      usesKernelLayouts && given == nil
      && (format == .f32 || format == .f16) && shape.elementCount >= Self.mappedElementCount
    let storage = layout == arrival && !isMapped ? storage : .stored
    for plane in arrival.planes(of: format) {
      guard
        let byteCount = arrival.byteCount(
          of: plane, format: format, rows: shape.rowCount, columns: shape.columnCount),
        let layoutByteCount = layout.byteCount(
          of: plane, format: format, rows: shape.rowCount, columns: shape.columnCount)
      else { throw fault("the tensor is too large") }
      if storage == .stored,
        max(byteCount, layoutByteCount) > Int(UInt32.max) - 2 * ContainerLayout.storedAlignment
      {
        throw fault("\(plane) of \(byteCount) bytes are too large to be stored as they are")
      }
      planes.append(OpenPlane(plane: plane, expectedByteCount: byteCount))
    }
    current = OpenTensor(
      name: name, shape: shape, format: format, arrival: arrival, layout: layout,
      storage: storage, planes: planes)
  }

  /// Adds the next bytes of a plane of the tensor that has begun.
  package mutating func append(_ bytes: RawSpan, to plane: Plane) throws(PackError) {
    guard var tensor = current, let index = tensor.planes.firstIndex(where: { $0.plane == plane })
    else { preconditionFailure("no tensor with such a plane has begun") }
    current = nil
    tensor.planes[index].byteCount += bytes.byteCount
    precondition(
      tensor.planes[index].byteCount <= tensor.planes[index].expectedByteCount,
      "more bytes than the plane has")
    var start = 0
    while start < bytes.byteCount {
      let room =
        tensor.storage == .stored
        ? Int.max : ContainerLayout.contentLimit - tensor.planes[index].pending.count
      let count = min(room, bytes.byteCount - start)
      tensor.planes[index].pending.append(bytes.extracting(start..<start + count))
      start += count
      if tensor.storage == .compressed,
        tensor.planes[index].pending.count == ContainerLayout.contentLimit
      {
        // The first plane's frames go into the file at once, the others' when the tensor ends.
        let content = tensor.planes[index].pending
        tensor.planes[index].pending = []
        tensor.planes[index].pieces.append(queue.add(content, isNext: index == 0))
      }
    }
    current = tensor
    try flushIfFull()
  }

  /// Ends the tensor: all bytes of all planes must have come.
  package mutating func endTensor() throws(PackError) {
    guard var tensor = current else { preconditionFailure("no tensor has begun") }
    current = nil
    if tensor.arrival == .canonical, tensor.layout == .rowTiles {
      tensor.planes = try Self.tiles(of: tensor)
    }
    if tensor.arrival == .canonical, tensor.layout == .astcTiles {
      if let tiles = Self.astcTiles(of: tensor) {
        tensor.planes = tiles
      } else {
        // A block has no place in the layout: the tensor stays as it is.
        tensor.layout = .canonical
      }
    }
    for index in tensor.planes.indices {
      let plane = tensor.planes[index]
      precondition(
        plane.byteCount == plane.expectedByteCount, "bytes of \(plane.plane) are missing")
      let content = tensor.planes[index].pending
      tensor.planes[index].pending = []
      if tensor.storage == .stored {
        tensor.planes[index].pieces.append(queue.addStored(content))
        continue
      }
      if !content.isEmpty {
        tensor.planes[index].pieces.append(queue.add(content, isNext: index == 0))
      }
      if index > 0 { queue.release(tensor.planes[index].pieces) }
    }
    unfinished.append(tensor)
    try flushIfFull()
  }

  /// The planes of a whole tensor in tiles of rows.
  private static func tiles(of tensor: OpenTensor) throws(PackError) -> [OpenPlane] {
    guard
      let layout = RowTileLayout(
        format: tensor.format, rows: tensor.shape.rowCount, columns: tensor.shape.columnCount)
    else { preconditionFailure("the tensor's byte counts were computed when it began") }
    func pending(_ plane: Plane) -> [UInt8] {
      tensor.planes.first { $0.plane == plane }?.pending ?? []
    }
    do {
      let tiles = try layout.interleaved(
        codes: pending(.codes), scales: pending(.scales), minimums: pending(.minimums))
      return [(Plane.codes, tiles.codes), (.scales, tiles.scales)].map { plane, bytes in
        OpenPlane(
          plane: plane, expectedByteCount: bytes.count, byteCount: bytes.count, pending: bytes)
      }
    } catch {
      throw .input(InputError(place: "tensor \(tensor.name)", reason: error.description))
    }
  }

  /// The planes of a whole tensor in ASTC tiles, or nil where one of its blocks has no place there.
  private static func astcTiles(of tensor: OpenTensor) -> [OpenPlane]? {
    guard
      let layout = ASTCTileLayout(
        format: tensor.format, rows: tensor.shape.rowCount, columns: tensor.shape.columnCount)
    else { preconditionFailure("the tensor's byte counts were computed when it began") }
    func pending(_ plane: Plane) -> [UInt8] {
      tensor.planes.first { $0.plane == plane }?.pending ?? []
    }
    guard
      let tiles = try? layout.tiles(
        codes: pending(.codes), scales: pending(.scales), minimums: pending(.minimums))
    else { return nil }
    return [(Plane.codes, tiles.codes), (.scales, tiles.scales)].map { plane, bytes in
      OpenPlane(
        plane: plane, expectedByteCount: bytes.count, byteCount: bytes.count, pending: bytes)
    }
  }

  private mutating func flushIfFull() throws(PackError) {
    if queue.isFull { try flush() }
  }

  /// Compresses what waits, and writes what may be written.
  private mutating func flush() throws(PackError) {
    queue.compressAll()
    do throws(FileError) {
      for piece in queue.takeReady() {
        let bytes = piece.frame(at: output.byteCount)
        try output.append(bytes)
        piece.index = table.frames.count
        table.frames.append(
          FrameTable.Frame(
            offset: output.byteCount - bytes.count, compressedByteCount: bytes.count,
            contentByteCount: piece.kind == .data ? piece.contentByteCount : 0,
            contentChecksum: piece.kind == .data
              ? UInt32(truncatingIfNeeded: piece.contentHash) : ContainerLayout.emptyChecksum,
            kind: piece.kind, digest: ContentDigest.of(bytes[...])))
      }
    } catch {
      throw .output(error)
    }
    while let tensor = unfinished.first, let entry = Self.entry(of: tensor) {
      TensorDirectory.append(entry, to: &directory)
      unfinished.removeFirst()
    }
  }

  /// The directory's entry of a tensor, or nil where a frame of it is not in the file yet.
  private static func entry(of tensor: OpenTensor) -> TensorDirectory.TensorEntry? {
    var planes: [TensorDirectory.PlaneEntry] = []
    for plane in tensor.planes {
      let indices = plane.pieces.compactMap(\.index)
      guard indices.count == plane.pieces.count, let first = indices.first else { return nil }
      planes.append(
        TensorDirectory.PlaneEntry(
          plane: plane.plane, storage: tensor.storage, frames: first..<first + indices.count,
          byteCount: plane.byteCount,
          digest: tensor.storage == .stored
            ? plane.pieces[0].contentHash
            : ContentDigest.of(chunkHashes: plane.pieces.map(\.contentHash))))
    }
    return TensorDirectory.TensorEntry(
      name: tensor.name, shape: tensor.shape, format: tensor.format, layout: tensor.layout,
      planes: planes)
  }

  /// Writes index, seek table and prologue, and makes the file appear at its path.
  package consuming func finish(
    header: ModelHeader, tokenizer: TokenizerDescription?, provenance: [String: String]
  ) throws(PackError) {
    precondition(current == nil, "a tensor has not ended")
    if let fault = header.fault {
      throw .input(InputError(place: "model header", reason: fault))
    }
    if let tokenizer, let fault = TokenizerSection.fault(tokenizer) {
      throw .input(InputError(place: "tokenizer", reason: fault))
    }
    guard HeaderSection.encode(provenance).count <= ContainerLayout.jsonByteLimit,
      HeaderSection.encode(header).count <= ContainerLayout.jsonByteLimit
    else { throw .input(InputError(place: "model header", reason: "too long")) }
    try flush()
    precondition(unfinished.isEmpty, "every frame has been written")
    var tensors: [UInt8] = []
    tensors.appendLittleEndian(UInt64(names.count))
    let index = ContainerIndex.encodedFrame(
      header: header, provenance: provenance, tokenizer: tokenizer,
      directory: tensors + directory, adapters: adapters, table: table)
    let seekTable = table.seekTable(indexByteCount: index.count)
    let prologue = Prologue(
      fileByteCount: table.endOffset + index.count + seekTable.count,
      indexOffset: table.endOffset, indexByteCount: index.count,
      indexDigest: ContentDigest.of(index[...]))
    do throws(FileError) {
      try output.append(index)
      try output.append(seekTable)
      try output.write(prologue.encoded(), at: 0)
      try output.commit()
    } catch {
      throw .output(error)
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ bytes: RawSpan) {
    // The buffer lives for the call.
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}

extension OutputFile {
  fileprivate mutating func append(_ bytes: [UInt8]) throws(FileError) {
    let span = bytes.span
    // Bytes have no padding.
    try unsafe append(span.bytes)
  }

  fileprivate mutating func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
    let span = bytes.span
    // Bytes have no padding.
    try unsafe write(span.bytes, at: offset)
  }
}
