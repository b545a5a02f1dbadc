import Files
import PackedFormats
import TensorCore

extension AFMWFile {
  /// Loads a tensor by name. See ``loadTensors(_:threads:progress:)``.
  public func loadTensor(named name: String, threads: Int = 1) throws(InputError) -> LoadedTensor {
    guard let index = index(ofTensor: name) else {
      throw InputError(file: path, place: "tensor \(name)", reason: "the file has no such tensor")
    }
    let loaded = try loadTensors([index], threads: threads)
    return loaded[0]
  }

  /// Loads all tensors, in the order of the directory. See ``loadTensors(_:threads:progress:)``.
  public func loadAllTensors(
    threads: Int, progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
  ) throws(InputError) -> [LoadedTensor] {
    try loadTensors(Array(tensors.indices), threads: threads, progress: progress)
  }

  /// Loads tensors: reads, checks and inflates the frames of all their planes on several threads,
  /// straight into the memory that the tensors keep.
  ///
  /// - Parameters:
  ///   - indices: places in `tensors`.
  ///   - threads: how many threads work at once, at most the processors that there are.
  ///   - progress: called from the working threads with the plane bytes ready so far.
  /// - Throws: the first fault in file order: a digest or checksum that does not match, a frame
  ///   that zstd refuses, values that the format forbids; with tensor, frame and file offset.
  ///
  /// Memory: the planes, and about 1.3 MiB a thread.
  public func loadTensors(
    _ indices: [Int], threads: Int,
    progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
  ) throws(InputError) -> [LoadedTensor] {
    let loaded = indices.map { LoadedTensor(allocating: tensors[$0]) }
    let jobs = unsafe PlaneJobs(loaded, table: table)
    let meter = ProgressMeter(total: loaded.reduce(0) { $0 + $1.byteCount }, report: progress)
    try naming { () throws(InputError) in
      try WorkerGroup.forEach(
        jobs.list.count, threads: threads, context: FrameInflater.init
      ) { [self] inflater, number throws(InputError) in
        try run(jobs.list[number], with: &inflater)
        meter.add(jobs.list[number].byteCount)
      }
      try WorkerGroup.forEach(loaded.count, threads: threads, context: { () }) {
        _, number throws(InputError) in
        try loaded[number].validate()
      }
    }
    return loaded
  }

  /// Maps a stored plane: its bytes come from the page cache, without a copy.
  ///
  /// The whole plane is held against its digest first, unless the caller vouches that `verify` has
  /// passed. Throws where the plane is not stored, or not in the tensor.
  package func mapPlane(
    _ plane: Plane, ofTensor index: Int, checked: Bool = true, threads: Int = 1
  ) throws(InputError) -> FileMapping {
    let tensor = tensors[index]
    guard let stored = tensor.stored(plane), stored.storage == .stored else {
      throw InputError(
        file: path, place: "tensor \(tensor.name)",
        reason: "its \(plane) are not stored as they are")
    }
    let frame = table.frames[stored.frames.lowerBound]
    let offset = frame.offset + ContainerLayout.storedPlaneOffset(frameOffset: frame.offset)
    do {
      let mapping = try FileMapping(of: file, at: offset, byteCount: stored.byteCount)
      guard !checked || ContentDigest.of(mapping.bytes) == stored.digest else {
        throw InputError(
          file: path, place: "tensor \(tensor.name): frame \(stored.frames.lowerBound)",
          offset: offset, reason: "the \(plane) do not match their digest")
      }
      return mapping
    } catch let error as FileError {
      throw InputError(file: path, offset: offset, reason: error.summary)
    } catch let error as InputError {
      throw error
    } catch {
      preconditionFailure("neither a file error nor an input error")
    }
  }

  /// Names this file in the errors of a body.
  func naming<Result>(_ body: () throws(InputError) -> Result) throws(InputError) -> Result {
    do {
      return try body()
    } catch {
      throw error.inFile(path)
    }
  }
}

/// One frame to read, and where its plane bytes go.
@safe
struct PlaneJob: @unchecked Sendable {
  // Room for `byteCount` bytes in a tensor that outlives the job; no other job writes there.
  let destination: UnsafeMutableRawPointer
  /// The frame's number in the table.
  let frame: Int
  /// The plane bytes to bring: the frame's content, or one chunk of a stored plane.
  let byteCount: Int
  /// Where those bytes begin in a stored frame; 0 for a data frame.
  let offsetInFrame: Int
  let tensor: String
}

/// All frames of some tensors, in file order.
struct PlaneJobs: Sendable {
  private(set) var list: [PlaneJob] = []

  /// The caller keeps the tensors alive while the jobs run, and hands nobody their bytes before.
  @unsafe
  init(_ tensors: [LoadedTensor], table: FrameTable) {
    for tensor in tensors {
      for plane in tensor.description.planes {
        let start = unsafe tensor.destination(of: plane.plane)
        let chunk = ContainerLayout.contentLimit
        let frame = table.frames[plane.frames.lowerBound]
        for (number, done) in stride(from: 0, to: plane.byteCount, by: chunk).enumerated() {
          let isStored = plane.storage == .stored
          // `done` stays under the plane's byte count, which is what the tensor has room for.
          list.append(
            unsafe PlaneJob(
              destination: start + done,
              frame: plane.frames.lowerBound + (isStored ? 0 : number),
              byteCount: min(chunk, plane.byteCount - done),
              offsetInFrame: isStored
                ? ContainerLayout.storedPlaneOffset(frameOffset: frame.offset) + done : 0,
              tensor: tensor.name))
        }
      }
    }
    list.sort { ($0.frame, $0.offsetInFrame) < ($1.frame, $1.offsetInFrame) }
  }
}

extension AFMWFile {
  /// Reads one job's frame, checks it and brings its plane bytes to their place.
  ///
  /// The chunks of a stored plane are only read: their digest belongs to the whole plane, and is
  /// checked by the caller.
  func run(_ job: PlaneJob, with inflater: inout FrameInflater) throws(InputError) {
    let frame = table.frames[job.frame]
    switch frame.kind {
    case .stored:
      try at(frame: job.frame, tensor: job.tensor) { () throws(FileError) in
        // The job has room for that many bytes.
        try unsafe file.read(
          at: frame.offset + job.offsetInFrame, toAddress: job.destination,
          byteCount: job.byteCount)
      }
    case .data:
      try readFrame(job.frame, tensor: job.tensor, into: &inflater)
      // The job has room for the frame's content: the directory was held against the table.
      if let fault = unsafe inflater.inflate(frame, into: job.destination) {
        throw fault.at(frame: job.frame, of: table, tensor: job.tensor)
      }
    }
  }

  /// Brings a data frame into the inflater's buffer.
  func readFrame(
    _ index: Int, tensor: String?, into inflater: inout FrameInflater
  ) throws(InputError) {
    let frame = table.frames[index]
    var bytes = inflater.compressed.mutableBytes
    do {
      try file.read(
        at: frame.offset, into: &bytes, byteCount: frame.compressedByteCount)
    } catch {
      throw error.summary.at(frame: index, of: table, tensor: tensor)
    }
  }

  private func at(
    frame: Int, tensor: String?, _ body: () throws(FileError) -> Void
  ) throws(InputError) {
    do {
      try body()
    } catch {
      throw error.summary.at(frame: frame, of: table, tensor: tensor)
    }
  }
}

extension String {
  /// This reason as an error at a frame.
  func at(frame: Int, of table: FrameTable, tensor: String?) -> InputError {
    InputError(
      place: (tensor.map { "tensor \($0): " } ?? "") + "frame \(frame)",
      offset: table.frames[frame].offset, reason: self)
  }
}

extension LoadedTensor {
  /// Holds stored planes against their digests and the values against the rules of the format.
  func validate() throws(InputError) {
    for plane in description.planes where plane.storage == .stored {
      guard ContentDigest.of(planes.bytes(of: plane.plane)) == plane.digest else {
        throw InputError(
          place: "tensor \(name): frame \(plane.frames.lowerBound)", offset: plane.fileOffset,
          reason: "the \(plane.plane) do not match their digest")
      }
    }
    do {
      try format.validate(planes, rowCount: shape.rowCount, columnCount: shape.columnCount)
    } catch {
      let plane = error.plane.flatMap { description.stored($0) } ?? description.planes.first
      throw InputError(
        place: "tensor \(name)", offset: plane?.fileOffset, reason: error.description)
    }
  }
}
