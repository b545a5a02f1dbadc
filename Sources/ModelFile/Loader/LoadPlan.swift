import Files
import PackedFormats
import TensorCore

/// A file in memory's address space; its pages come and go with use.
final class MappedFile: Sendable {
  let mapping: FileMapping

  /// Bytes of the file; the borrow keeps the mapping.
  @_lifetime(borrow self)
  func bytes(_ range: Range<Int>) -> RawSpan {
    let span = unsafe RawSpan(
      _unsafeStart: mapping.address(of: range), byteCount: range.count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The share of the file that the page cache held before anything was read, 0…1.
  let residentAtStart: Double

  init(_ file: borrowing InputFile) throws(FileError) {
    mapping = try FileMapping(of: file, at: 0, byteCount: file.byteCount)
    residentAtStart = mapping.residentShare()
  }
}

/// What is to be done to load some tensors: memory for all of them, and a job for each frame.
struct LoadPlan: Sendable {
  /// One frame, or one chunk of a stored plane.
  struct Job: Sendable {
    /// Places in the plan.
    var tensor: Int
    var plane: Int
    /// The frame's number in the table.
    var frame: Int
    /// Where the bytes lie in the file: a whole frame, or a chunk of a stored plane.
    var fileRange: Range<Int>
    /// Where the content begins in the plane, and its byte count.
    var offset: Int
    var byteCount: Int
    /// The job's number in its plane.
    var index: Int
  }

  /// What becomes of a plane's bytes.
  enum Way: Sendable {
    /// They are used where they are mapped.
    case mapped
    /// They go into memory as they are.
    case copied
    /// They go into memory of the run-time layout.
    case interleaved(RowTileLayout)
  }

  struct PlaneWork: Sendable {
    var stored: StoredPlane
    var way: Way
    /// Where the bytes go (or are, where mapped): the plane's memory in the tensor's layout.
    var destination: LoadedTensor.Memory
    /// Room for what jobs leave behind: the hash of each chunk of a stored plane, then the first
    /// and last bytes of each piece of an interleaved one.
    var notes: Notes
  }

  private(set) var tensors: [LoadedTensor] = []
  /// By tensor, then plane, in the order of the directory.
  private(set) var planes: [[PlaneWork]] = []
  /// In file order.
  private(set) var jobs: [Job] = []
  /// Bytes of the tensors that are used where they are mapped.
  private(set) var mappedByteCount = 0

  /// - Parameter layout: how a tensor's planes are to lie in memory: canonical or any layout that
  ///   holds its format; what the file has in another layout than the canonical stays in it.
  init(
    _ descriptions: [StoredTensor], table: FrameTable, mapped: MappedFile,
    mapsStoredPlanes: Bool, layout: (StoredTensor) -> WeightLayout
  ) {
    let layouts = descriptions.map { tensor in
      guard tensor.layout == .canonical else { return tensor.layout }
      let wanted = layout(tensor)
      // An ASTC tile needs the blocks of 16 rows: it is made when all of them are there.
      return wanted != .astcTiles && tensor.fits(wanted) ? wanted : .canonical
    }
    let placed = zip(descriptions, layouts).map { tensor, layout in
      PlacedTensor(
        stored: tensor, layout: layout,
        isMapped: mapsStoredPlanes && tensor.isStored(as: layout))
    }
    var room = SharedRoom(placed)
    for tensor in placed { add(tensor, table: table, mapped: mapped, room: &room) }
    jobs.sort { $0.fileRange.lowerBound < $1.fileRange.lowerBound }
  }

  private mutating func add(
    _ placed: PlacedTensor, table: FrameTable, mapped: MappedFile, room: inout SharedRoom
  ) {
    let tensor = placed.stored
    let layout = placed.layout
    var memory = [LoadedTensor.Memory?](repeating: nil, count: Plane.allCases.count)
    let owner: any AnyObject & Sendable
    if placed.isMapped {
      for plane in tensor.planes {
        // A stored plane lies whole in the file, which is mapped whole; the mapping is read-only,
        // and nobody writes to a mapped tensor.
        let start = plane.storedOffset(in: table)
        let address = unsafe mapped.mapping.address(of: start..<start + plane.byteCount)
        memory[Int(plane.plane.rawValue)] = unsafe LoadedTensor.Memory(
          address: UnsafeMutableRawPointer(mutating: address), byteCount: plane.byteCount)
      }
      owner = mapped
    } else {
      owner = room.place(placed, into: &memory)
    }
    let tiles =
      layout == .rowTiles && tensor.layout == .canonical
      ? RowTileLayout(
        format: tensor.format, rows: tensor.shape.rowCount, columns: tensor.shape.columnCount)
      : nil
    var work: [PlaneWork] = []
    for plane in tensor.planes {
      // Minimums have no plane of their own among tiles: they go to the scales.
      guard
        let destination = memory[Int(plane.plane.rawValue)]
          ?? memory[Int(Plane.scales.rawValue)]
      else { preconditionFailure("a plane without memory") }
      let way: Way = placed.isMapped ? .mapped : tiles.map { .interleaved($0) } ?? .copied
      let count =
        (plane.byteCount + ContainerLayout.contentLimit - 1) / ContainerLayout.contentLimit
      work.append(
        PlaneWork(
          stored: plane, way: way, destination: destination,
          notes: Notes(pieceCount: count)))
      addJobs(for: plane, number: work.count - 1, table: table)
    }
    planes.append(work)
    let loaded = LoadedTensor(tensor, layout: layout, memory: memory, owner: owner)
    if placed.isMapped { mappedByteCount += loaded.byteCount }
    tensors.append(loaded)
  }

  private mutating func addJobs(for plane: StoredPlane, number: Int, table: FrameTable) {
    let chunk = ContainerLayout.contentLimit
    for (index, offset) in stride(from: 0, to: plane.byteCount, by: chunk).enumerated() {
      let byteCount = min(chunk, plane.byteCount - offset)
      let frame: Int
      let range: Range<Int>
      switch plane.storage {
      case .compressed:
        frame = plane.frames.lowerBound + index
        let start = table.frames[frame].offset
        range = start..<start + table.frames[frame].compressedByteCount
      case .stored:
        frame = plane.frames.lowerBound
        let start = plane.storedOffset(in: table) + offset
        range = start..<start + byteCount
      }
      jobs.append(
        Job(
          tensor: tensors.count, plane: number, frame: frame, fileRange: range, offset: offset,
          byteCount: byteCount, index: index))
    }
  }
}

/// A tensor of the file, and how it is to lie in memory.
private struct PlacedTensor {
  var stored: StoredTensor
  var layout: WeightLayout
  /// Whether it is used where the file is mapped.
  var isMapped: Bool
}

extension StoredTensor {
  /// Whether its planes lie in the file as that layout has them.
  func isStored(as wanted: WeightLayout) -> Bool {
    layout == wanted && planes.allSatisfy { $0.storage == .stored }
  }
}

extension StoredTensor {
  /// Whether a layout holds the format, and pads the tensor to no more than about twice its bytes:
  /// a small file must not ask for much memory.
  func fits(_ wanted: WeightLayout) -> Bool {
    guard wanted != layout else { return true }
    var total = 0
    for plane in wanted.planes(of: format) {
      let byteCount = wanted.byteCount(
        of: plane, format: format, rows: shape.rowCount, columns: shape.columnCount)
      guard let byteCount else { return false }
      total += byteCount
    }
    return total > 0 && total / 2 <= self.byteCount + (32 << 10)
  }
}

extension StoredPlane {
  /// The file offset of a stored plane's first byte.
  func storedOffset(in table: FrameTable) -> Int {
    let frame = table.frames[frames.lowerBound]
    return frame.offset + ContainerLayout.storedPlaneOffset(frameOffset: frame.offset)
  }
}

/// Memory that tensors share, so that huge pages hold many of them.
///
/// Real numbers and run-time layouts stay as long as a model and go there; canonical planes of
/// packed formats get memory of their own, to be given back when they have been converted.
private struct SharedRoom {
  private let shared: TensorStorage?
  private var position = 0

  init(_ tensors: [PlacedTensor]) {
    var total = 0
    for tensor in tensors where Self.isShared(tensor) {
      total += Self.byteCount(tensor.stored, tensor.layout)
    }
    shared = total > 0 ? TensorStorage(byteCount: total) : nil
  }

  private static func isShared(_ tensor: PlacedTensor) -> Bool {
    guard !tensor.isMapped else { return false }
    let format = tensor.stored.format
    return tensor.layout != .canonical || format == .f32 || format == .f16
  }

  /// Bytes of a plane in memory, up to a multiple of 64; the directory was held against the
  /// format's byte counts, and a layout's padding is a small part of those.
  private static func byteCount(
    of plane: Plane, _ tensor: StoredTensor, _ layout: WeightLayout
  ) -> Int {
    let byteCount = layout.byteCount(
      of: plane, format: tensor.format, rows: tensor.shape.rowCount,
      columns: tensor.shape.columnCount)
    guard let byteCount else { preconditionFailure("a tensor too large for its layout") }
    return (byteCount + 63) / 64 * 64
  }

  private static func byteCount(_ tensor: StoredTensor, _ layout: WeightLayout) -> Int {
    layout.planes(of: tensor.format).reduce(0) { $0 + byteCount(of: $1, tensor, layout) }
  }

  /// Gives each of a tensor's planes a place; returns what keeps it.
  mutating func place(
    _ placed: PlacedTensor, into memory: inout [LoadedTensor.Memory?]
  ) -> any AnyObject & Sendable {
    let tensor = placed.stored
    let layout = placed.layout
    let storage: TensorStorage
    var position = 0
    if let shared, Self.isShared(placed) {
      storage = shared
      position = self.position
      self.position += Self.byteCount(tensor, layout)
    } else {
      storage = TensorStorage(byteCount: Self.byteCount(tensor, layout))
    }
    for plane in layout.planes(of: tensor.format) {
      let byteCount = Self.byteCount(of: plane, tensor, layout)
      let exact = layout.byteCount(
        of: plane, format: tensor.format, rows: tensor.shape.rowCount,
        columns: tensor.shape.columnCount)
      // The storage has room for all planes, one after the other.
      memory[Int(plane.rawValue)] = unsafe LoadedTensor.Memory(
        address: storage.storage.baseAddress + position, byteCount: exact ?? 0)
      position += byteCount
    }
    return storage
  }
}
