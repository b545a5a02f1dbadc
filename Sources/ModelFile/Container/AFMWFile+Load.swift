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

  /// Loads tensors as their formats define them: every plane canonical.
  ///
  /// - Parameters:
  ///   - indices: places in `tensors`.
  ///   - threads: how many threads work at once; fewer where the system refuses one.
  ///   - progress: called from the working threads with the plane bytes ready so far.
  /// - Throws: the first fault in file order: a digest or checksum that does not match, a frame
  ///   that zstd refuses, values that the format forbids; with tensor, frame and file offset.
  ///
  /// Memory: see ``ModelLoader``; a tensor that the file has in another layout is twice there while
  /// it is brought back.
  public func loadTensors(
    _ indices: [Int], threads: Int,
    progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
  ) throws(InputError) -> [LoadedTensor] {
    try load(indices, threads: threads, progress: progress).map { $0.inCanonicalLayout() }
  }

  /// Loads tensors in the layouts that the file has them in; computes zstd's checksums too.
  func load(
    _ indices: [Int], threads: Int,
    progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
  ) throws(InputError) -> [LoadedTensor] {
    var loader = ModelLoader(threads: threads)
    loader.progress = progress
    loader.checksContent = true
    do {
      return try loader.load(self, tensors: indices).tensors
    } catch {
      switch error {
      case .input(let fault): throw fault
      case .cancelled: preconditionFailure("nothing cancels this loading")
      }
    }
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
      throw InputError(error, file: path, offset: offset)
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

extension FileError {
  /// What the system refused of a frame.
  func at(frame: Int, of table: FrameTable, tensor: String?) -> InputError {
    var error = summary.at(frame: frame, of: table, tensor: tensor)
    error.isLackOfResources = isLackOfResources
    return error
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
