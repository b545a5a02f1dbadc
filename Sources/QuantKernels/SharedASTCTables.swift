import KernelContract
import TensorCore

/// The tables of the kernels over ASTC tiles, made once.
final class SharedASTCTables: Sendable {
  static let shared = SharedASTCTables()

  private let storage = AlignedStorage(byteCount: ASTCKernelTables.byteCount)

  /// The first byte; valid for ever, since `shared` is never freed.
  @unsafe var address: UnsafeRawPointer { unsafe UnsafeRawPointer(storage.baseAddress) }

  // The storage is as long as the tables.
  private init() { unsafe ASTCKernelTables.fill(storage.baseAddress) }
}
