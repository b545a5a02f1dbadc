import PackedFormats
import TensorCore

/// A tensor in memory: its planes in aligned storage, ready for kernels.
///
/// Immutable once loaded; may be shared among threads.
public final class LoadedTensor: Sendable {
  /// What the directory says of it.
  public let description: StoredTensor
  // Written by the loader before this object is handed out, and by nobody afterwards.
  let codesStorage: AlignedStorage
  let scalesStorage: AlignedStorage
  let minimumsStorage: AlignedStorage

  /// Zero planes of the byte counts that the description names.
  init(allocating description: StoredTensor) {
    self.description = description
    func storage(_ plane: Plane) -> AlignedStorage {
      AlignedStorage(
        byteCount: description.stored(plane)?.byteCount ?? 0, prefersHugePages: plane == .codes)
    }
    codesStorage = storage(.codes)
    scalesStorage = storage(.scales)
    minimumsStorage = storage(.minimums)
  }

  /// The tensor's name.
  public var name: String { description.name }
  /// The dimensions, outermost first.
  public var shape: TensorShape { description.shape }
  /// How the elements are packed.
  public var format: WeightFormat { description.format }
  /// Bytes in memory: all planes together.
  public var byteCount: Int {
    codesStorage.byteCount + scalesStorage.byteCount + minimumsStorage.byteCount
  }

  /// The codes (the values themselves for f32 and f16), 64-byte aligned.
  public var codes: RawSpan {
    @_lifetime(borrow self) get {
      let (start, byteCount) = unsafe (codesStorage.baseAddress, codesStorage.byteCount)
      return unsafe span(at: start, byteCount: byteCount)
    }
  }

  /// The scales; empty where the format has none.
  public var scales: RawSpan {
    @_lifetime(borrow self) get {
      let (start, byteCount) = unsafe (scalesStorage.baseAddress, scalesStorage.byteCount)
      return unsafe span(at: start, byteCount: byteCount)
    }
  }

  /// The minimums; empty where the format has none.
  public var minimums: RawSpan {
    @_lifetime(borrow self) get {
      let (start, byteCount) = unsafe (minimumsStorage.baseAddress, minimumsStorage.byteCount)
      return unsafe span(at: start, byteCount: byteCount)
    }
  }

  /// All planes, as the functions of `WeightFormat` take them.
  public var planes: PackedPlanes {
    @_lifetime(borrow self) get {
      PackedPlanes(codes: codes, scales: scales, minimums: minimums)
    }
  }

  /// A plane's bytes; the storage lives as long as this object, which the borrow keeps alive.
  @_lifetime(borrow self)
  private func span(at start: UnsafeMutableRawPointer, byteCount: Int) -> RawSpan {
    let span = unsafe RawSpan(_unsafeStart: start, byteCount: byteCount)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Where the loader writes a plane.
  func destination(of plane: Plane) -> UnsafeMutableRawPointer {
    switch plane {
    case .codes: unsafe codesStorage.baseAddress
    case .scales: unsafe scalesStorage.baseAddress
    case .minimums: unsafe minimumsStorage.baseAddress
    }
  }
}
