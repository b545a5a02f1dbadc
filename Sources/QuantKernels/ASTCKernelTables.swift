import CKernels
import PackedFormats
import TensorCore

/// What the kernels over ASTC tiles look up: what numbers of 12 and of 20 levels mean, and the
/// partition of every column for each of 2 × 1024 seeds. 98 kB, made once.
final class ASTCKernelTables: Sendable {
  static let shared = ASTCKernelTables()

  private let storage: AlignedStorage

  /// The first byte; valid for ever, since `shared` is never freed.
  @unsafe var address: UnsafeRawPointer { unsafe UnsafeRawPointer(storage.baseAddress) }

  private init() {
    storage = AlignedStorage(byteCount: Int(CK_ASTC_TABLE_BYTES))
    let base = unsafe storage.baseAddress
    func store(_ value: UInt8, _ offset: Int) {
      precondition(offset < Int(CK_ASTC_TABLE_BYTES), "outside the tables")
      // Inside the storage.
      unsafe base.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    }
    for number in 0..<12 {
      store(ASTCQuantization.endpoint(number, range: .levels12), Int(CK_ASTC_LEVELS12) + number)
    }
    for number in 0..<20 {
      store(ASTCQuantization.endpoint(number, range: .levels20), Int(CK_ASTC_LEVELS20) + number)
    }
    for count in 2...3 {
      for seed in 0..<ASTCPartitioning.seedCount {
        let pattern = unsafe ASTCPartitioning.pattern(seed: seed, count: count)
        let begin =
          Int(CK_ASTC_PATTERNS)
          + ((count - 2) * ASTCPartitioning.seedCount + seed) * Int(CK_ASTC_PATTERN_BYTES)
        for column in 0..<36 {
          // The place of the partition's first value in the row's palette; columns as the triples
          // have them, first codes first.
          let partition = unsafe pattern[column]
          let place = 16 * (column % 12 / 4) + 4 * (column / 12) + column % 4
          store(partition * (count == 2 ? 8 : 4), begin + place)
        }
      }
    }
  }
}
