import Files
import PackedFormats
import TensorCore

/// One thread of a loading: takes frames from the mapped file to where their bytes are used.
struct LoadWorker: ~Copyable {
  private let inflater: FrameInflater
  /// A frame's content on its way to another layout.
  private let buffer: AlignedStorage
  private let source: LoadSource
  var clock: StageClock

  init(_ source: LoadSource, clock: StageClock) {
    self.source = source
    self.clock = clock
    inflater = FrameInflater()
    // The frame's digest covers every bit that the content comes from.
    inflater.checkContent(source.checksContent)
    buffer = AlignedStorage(byteCount: ContainerLayout.contentLimit)
  }

  /// Brings the bytes of a job, by its number, to their place.
  mutating func run(_ number: Int) throws(InputError) {
    let job = source.plan.jobs[number]
    release(before: number)
    let work = source.plan.planes[job.tensor][job.plane]
    try read(job)
    switch work.stored.storage {
    case .compressed:
      try checkFrame(job)
      try inflateFrame(job, work)
    case .stored:
      if job.index == 0 { try checkStoredFrameStart(job) }
      let mapped = source.mapped
      work.notes[hash: job.index] = clock.measure(.check, byteCount: job.byteCount) {
        XXH64.hash(mapped.bytes(job.fileRange))
      }
      switch work.way {
      case .mapped: return
      case .copied:
        allocate(for: job, work)
        clock.measure(.transcode, byteCount: job.byteCount) {
          // The plane's memory has room for the plane, and no other job writes this part.
          unsafe (work.destination.address + job.offset).copyMemory(
            from: mapped.mapping.address(of: job.fileRange), byteCount: job.byteCount)
        }
      case .interleaved(let layout):
        let bytes = unsafe UnsafeRawBufferPointer(
          start: mapped.mapping.address(of: job.fileRange), count: job.byteCount)
        try unsafe interleave(bytes, job, work, layout)
      }
    }
  }

  /// Gives the pages of past jobs back, many at a time: each time costs every core that works at
  /// the file an interruption (35 ms of processor time for 0.9 GB, a frame at a time on two cores).
  ///
  /// A job that is not over yet gets its pages back by touching them.
  private mutating func release(before number: Int) {
    let count = Self.releasedJobCount
    guard number % count == 0, number >= 2 * count else { return }
    let source = source
    clock.measure(.read, byteCount: 0) {
      source.release(jobs: number - 2 * count..<number - count)
    }
  }

  /// At most 1 MiB each.
  private static var releasedJobCount: Int { 16 }

  /// Has the frame's bytes brought into the mapping.
  ///
  /// Nothing is said to the disk about the frames behind: the system sees for itself that the file
  /// is read in order, and then keeps it in large pieces, which it does not for what it is told to
  /// read. Of 0.9 GB in large pieces all is mapped in 5 ms of processor time, in small ones in 65.
  mutating func read(_ job: LoadPlan.Job) throws(InputError) {
    let source = source
    do {
      try clock.measure(.read, byteCount: job.fileRange.count) { () throws(FileError) in
        try source.mapped.mapping.populate(job.fileRange, of: source.file)
      }
    } catch {
      throw error.at(
        frame: job.frame, of: source.table, tensor: source.plan.tensors[job.tensor].name)
    }
  }

  private mutating func checkFrame(_ job: LoadPlan.Job) throws(InputError) {
    let mapped = source.mapped
    let digest = clock.measure(.check, byteCount: job.fileRange.count) {
      ContentDigest.of(mapped.bytes(job.fileRange))
    }
    guard digest == source.table.frames[job.frame].digest else {
      throw source.fault("the compressed bytes do not match their digest", job)
    }
  }

  /// The frame around a stored plane: its header, and zeros up to the plane.
  private func checkStoredFrameStart(_ job: LoadPlan.Job) throws(InputError) {
    let frame = source.table.frames[job.frame]
    let planeOffset = job.fileRange.lowerBound - frame.offset
    let bytes = source.mapped.bytes(frame.offset..<job.fileRange.lowerBound)
    guard AFMWFile.isStoredFrameStart(bytes, frame: frame, planeOffset: planeOffset) else {
      throw source.fault("not a skippable frame with zero padding before its plane", job)
    }
  }

  private mutating func inflateFrame(
    _ job: LoadPlan.Job, _ work: LoadPlan.PlaneWork
  ) throws(InputError) {
    let mapped = source.mapped
    let destination: UnsafeMutableRawPointer
    switch work.way {
    // The plane's memory has room for the plane, and no other job writes this part.
    case .copied, .mapped: unsafe destination = work.destination.address + job.offset
    case .interleaved: unsafe destination = buffer.baseAddress
    }
    if case .copied = work.way { allocate(for: job, work) }
    let frame = source.table.frames[job.frame]
    // Either place has room for the frame's content: the directory was held against the table.
    let fault = clock.measure(.inflate, byteCount: job.byteCount) {
      unsafe inflater.inflate(frame, mapped.bytes(job.fileRange), into: destination)
    }
    if let fault { throw source.fault(fault, job) }
    if case .interleaved(let layout) = work.way {
      try unsafe interleave(
        UnsafeRawBufferPointer(start: destination, count: job.byteCount), job, work, layout)
    }
  }

  /// Has the system hand out the memory that the job writes to.
  mutating func allocate(for job: LoadPlan.Job, _ work: LoadPlan.PlaneWork) {
    let range: Range<Int>
    switch work.way {
    case .mapped: return
    case .copied: range = job.offset..<job.offset + job.byteCount
    case .interleaved(let layout):
      range = layout.range(of: work.stored.plane, at: job.offset, byteCount: job.byteCount)
    }
    clock.measure(.allocate, byteCount: range.count) { work.destination.populate(range) }
  }

  private mutating func interleave(
    _ bytes: UnsafeRawBufferPointer, _ job: LoadPlan.Job, _ work: LoadPlan.PlaneWork,
    _ layout: RowTileLayout
  ) throws(InputError) {
    allocate(for: job, work)
    let row = clock.measure(.transcode, byteCount: bytes.count) { () -> Int? in
      // The memory is that of the layout, and the bytes are the plane's from `offset` on.
      guard work.stored.plane == .codes else {
        unsafe layout.interleaveScales(
          bytes, of: work.stored.plane, at: job.offset, into: work.destination.address)
        return nil
      }
      unsafe work.notes.keepEdges(of: bytes, index: job.index)
      return unsafe layout.interleaveCodes(bytes, at: job.offset, into: work.destination.address)
    }
    if let row { throw source.fault(row: row, tensor: job.tensor) }
  }
}

/// Single stages, to be measured.
extension LoadWorker {
  /// Hashes the job's bytes.
  mutating func checkAlone(_ job: LoadPlan.Job) {
    let mapped = source.mapped
    let hash = clock.measure(.check, byteCount: job.fileRange.count) {
      ContentDigest.of(mapped.bytes(job.fileRange))
    }
    // Kept where it is never looked at, so that it has to be computed.
    source.plan.planes[job.tensor][job.plane].notes[hash: job.index] = hash
  }

  /// Has the system hand out the job's memory.
  mutating func allocateAlone(_ job: LoadPlan.Job) {
    allocate(for: job, source.plan.planes[job.tensor][job.plane])
  }

  /// Inflates the job's frame into memory that has been handed out: the plane's own, or the buffer
  /// where the plane's bytes would not have a place of their own there.
  mutating func inflateAlone(_ job: LoadPlan.Job) throws(InputError) {
    let frame = source.table.frames[job.frame]
    guard frame.kind == .data else { return }
    let mapped = source.mapped
    let work = source.plan.planes[job.tensor][job.plane]
    let hasPlace =
      work.stored.plane != .minimums && job.offset + job.byteCount <= work.destination.byteCount
    // The buffer has room for any frame's content; the plane's memory has it where that was tested.
    let destination = unsafe hasPlace ? work.destination.address + job.offset : buffer.baseAddress
    let fault = clock.measure(.inflate, byteCount: job.byteCount) {
      unsafe inflater.inflate(frame, mapped.bytes(job.fileRange), into: destination)
    }
    if let fault { throw source.fault(fault, job) }
  }

  /// Brings the buffer, whatever it holds, to the job's place.
  mutating func transcodeAlone(_ job: LoadPlan.Job) throws(InputError) {
    let work = source.plan.planes[job.tensor][job.plane]
    guard case .interleaved(let layout) = work.way else { return }
    clock.measure(.transcode, byteCount: job.byteCount) {
      // The buffer has room for any job's content; the memory is that of the layout.
      let bytes = unsafe UnsafeRawBufferPointer(start: buffer.baseAddress, count: job.byteCount)
      if work.stored.plane == .codes {
        _ = unsafe layout.interleaveCodes(bytes, at: job.offset, into: work.destination.address)
      } else {
        unsafe layout.interleaveScales(
          bytes, of: work.stored.plane, at: job.offset, into: work.destination.address)
      }
    }
  }
}

/// What all threads of a loading share.
struct LoadSource: Sendable {
  let container: AFMWFile
  let mapped: MappedFile
  let plan: LoadPlan
  /// Whether zstd computes the checksum of what it inflates, beside the frame's digest.
  let checksContent: Bool

  var table: FrameTable { container.table }
  var file: InputFile {
    _read { yield container.file }
  }

  /// Gives the pages of jobs' bytes back, but for those of planes that stay mapped.
  func release(jobs numbers: Range<Int>) {
    var range: Range<Int>?
    for number in numbers {
      let job = plan.jobs[number]
      if case .mapped = plan.planes[job.tensor][job.plane].way {
        range.map { mapped.mapping.release($0) }
        range = nil
      } else {
        range = (range?.lowerBound ?? job.fileRange.lowerBound)..<job.fileRange.upperBound
      }
    }
    range.map { mapped.mapping.release($0) }
  }

  func fault(_ reason: String, _ job: LoadPlan.Job) -> InputError {
    reason.at(frame: job.frame, of: table, tensor: plan.tensors[job.tensor].name)
  }

  /// Nonzero bits behind the last code of a row.
  func fault(row: Int, tensor: Int) -> InputError {
    let tensor = plan.tensors[tensor]
    let error = PackedFormatError(
      .nonzeroPadding, plane: .codes, row: row, column: tensor.shape.columnCount)
    return tensor.fault(error)
  }
}

extension LoadedTensor {
  /// A fault in the values, at the plane that it is in.
  func fault(_ error: PackedFormatError) -> InputError {
    let plane = error.plane.flatMap { description.stored($0) } ?? description.planes.first
    return InputError(
      place: "tensor \(name)", offset: plane?.fileOffset, reason: error.description)
  }
}
