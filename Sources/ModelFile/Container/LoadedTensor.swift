import Files
import Glibc
import PackedFormats
import TensorCore

/// A tensor in memory: its planes, ready for kernels.
///
/// Immutable once loaded; may be shared among threads. The planes lie in memory of the tensor's own,
/// in memory that it shares with tensors loaded together, or in the mapped file; whichever it is
/// stays as long as a tensor in it lives.
@safe
public final class LoadedTensor: Sendable {
  /// What the directory says of it.
  public let description: StoredTensor
  /// How its planes are arranged in memory, which may not be how they are in the file.
  public let layout: WeightLayout

  /// A plane's place.
  @safe struct Memory: @unchecked Sendable {
    // 64-byte aligned; valid as long as the tensor's `owner`. The loader writes there before the
    // tensor is handed out (never to a mapped file), and nobody does afterwards.
    let address: UnsafeMutableRawPointer
    let byteCount: Int

    /// Has the system hand out the memory under a range, which would else come, a page at a time,
    /// when it is touched. Only a hint: systems before Linux 5.14 cannot do this.
    func populate(_ range: Range<Int>) {
      precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "outside the memory")
      guard !range.isEmpty else { return }
      let start = unsafe address + range.lowerBound
      // From the beginning of a page, in which the memory has a part. Pages keep what they hold.
      let before = Int(bitPattern: start) % FileMapping.alignment
      _ = unsafe madvise(start - before, range.count + before, Self.populateWrite)
    }

    /// MADV_POPULATE_WRITE, which Glibc's headers of some releases do not name.
    private static var populateWrite: Int32 { 23 }
  }

  private let memory: [Memory?]
  private let owner: any AnyObject & Sendable

  /// A tensor whose planes lie in memory that `owner` keeps: an entry for each of `Plane.allCases`.
  init(
    _ description: StoredTensor, layout: WeightLayout, memory: [Memory?],
    owner: any AnyObject & Sendable
  ) {
    precondition(memory.count == Plane.allCases.count, "an entry for each plane")
    self.description = description
    self.layout = layout
    self.memory = memory
    self.owner = owner
  }

  /// The tensor's name.
  public var name: String { description.name }
  /// The dimensions, outermost first.
  public var shape: TensorShape { description.shape }
  /// How the elements are packed.
  public var format: WeightFormat { description.format }
  /// Bytes in memory: all planes together.
  public var byteCount: Int { memory.reduce(0) { $0 + ($1?.byteCount ?? 0) } }

  /// The codes (the values themselves for f32 and f16), 64-byte aligned.
  public var codes: RawSpan { @_lifetime(borrow self) get { bytes(of: .codes) } }

  /// The scales; empty where format and layout have none.
  public var scales: RawSpan { @_lifetime(borrow self) get { bytes(of: .scales) } }

  /// The minimums; empty where format and layout have none.
  public var minimums: RawSpan { @_lifetime(borrow self) get { bytes(of: .minimums) } }

  /// All planes, as the functions of `WeightFormat` take them.
  ///
  /// - Precondition: the layout is canonical.
  public var planes: PackedPlanes {
    @_lifetime(borrow self) get {
      precondition(layout == .canonical, "planes in another layout than the format's own")
      return PackedPlanes(codes: codes, scales: scales, minimums: minimums)
    }
  }

  /// The bytes of a plane in the tensor's layout; empty where it has none.
  @_lifetime(borrow self)
  public func bytes(of plane: Plane) -> RawSpan {
    guard let memory = memory[Int(plane.rawValue)] else { return RawSpan() }
    // The memory lives as long as this object, which the borrow keeps alive.
    let span = unsafe RawSpan(_unsafeStart: memory.address, byteCount: memory.byteCount)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Where a plane lies, or nil where the layout has none.
  func place(of plane: Plane) -> Memory? { memory[Int(plane.rawValue)] }

  /// The first byte of a plane, for kernels; valid as long as this object. The layout has the plane.
  @unsafe package func address(of plane: Plane) -> UnsafeRawPointer {
    guard let memory = place(of: plane) else { preconditionFailure("no such plane") }
    return unsafe UnsafeRawPointer(memory.address)
  }
}

/// Storage that tensors share.
final class TensorStorage: Sendable {
  let storage: AlignedStorage

  init(byteCount: Int) {
    storage = AlignedStorage(byteCount: byteCount, prefersHugePages: true)
  }
}
