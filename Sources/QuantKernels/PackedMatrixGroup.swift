import CKernels
import KernelContract
import PackedFormats

/// Matrices that are multiplied with the same activations in one run of a pool, such as Q, K and V:
/// one fork and join instead of one each, and rows for every thread where a matrix alone has few.
///
/// Their results are [tokens][rows] each, matrix after matrix.
@safe public final class PackedMatrixGroup: @unchecked Sendable {
  // Immutable after the initialiser.

  /// How the rows go to threads.
  public enum Arrangement: Hashable, Sendable {
    /// In the group's order: a thread has contiguous rows of one matrix, or of several.
    case stacked
    /// A thread has the same rows of all matrices, which have equally many: what is made of row i of
    /// each, it makes while they are in its cache.
    case paired
  }

  /// The matrices, in the order of their rows.
  public let matrices: [PackedMatrix]
  /// How the rows go to threads.
  public let arrangement: Arrangement
  /// The rows of all matrices.
  public let rowCount: Int
  /// The columns of each.
  public let columnCount: Int
  /// What the activations of each must be quantized as.
  public let grouping: ActivationGrouping

  /// Bytes of codes that a run reads.
  let codeByteCount: Int
  /// Pairs of row tiles that are distributed: of all matrices, or, paired, of each.
  let pairCount: Int
  let usesScratch: Bool
  /// One a matrix; kept in place, so that no thread retains anything.
  let members: UnsafeMutableBufferPointer<Member>

  /// What a thread needs to know of one matrix.
  @unsafe struct Member {
    var codes, scales: UnsafeRawPointer
    var codeTileBytes, scaleTileBytes, rowCount, chunkCount, tileCount: Int
    /// The rows of the matrices before it.
    var firstRow: Int
    /// In the group's order of pairs.
    var firstPair: Int
    var gemv, gemm: PackedProductFunction
    var gemmTokenCount: Int

    var pairCount: Int { unsafe (tileCount + 1) / 2 }
  }

  /// Puts matrices together for the kernels of a library.
  ///
  /// - Precondition: there is a matrix; all have the same columns and need the same activation
  ///   grouping; paired ones have the same rows.
  public init(
    _ matrices: [PackedMatrix], arrangement: Arrangement = .stacked, library: KernelLibrary
  ) {
    guard let first = matrices.first else { preconditionFailure("a group without a matrix") }
    let grouping = ActivationGrouping.required(by: first.format)
    var firstRow = 0
    var firstPair = 0
    unsafe members = .allocate(capacity: matrices.count)
    for (index, matrix) in matrices.enumerated() {
      precondition(matrix.columnCount == first.columnCount, "matrices of different columns")
      precondition(
        ActivationGrouping.required(by: matrix.format) == grouping,
        "\(matrix.format.name) and \(first.format.name) need activations of different grouping")
      precondition(
        arrangement == .stacked || matrix.rowCount == first.rowCount, "pairs of different rows")
      // The addresses are valid as long as the matrix, which this object keeps.
      unsafe (members.baseAddress! + index).initialize(
        to: Member(
          codes: matrix.codes, scales: matrix.scales, codeTileBytes: matrix.codeTileBytes,
          scaleTileBytes: matrix.scaleTileBytes, rowCount: matrix.rowCount,
          chunkCount: matrix.chunkCount, tileCount: matrix.tileCount, firstRow: firstRow,
          firstPair: arrangement == .stacked ? firstPair : 0,
          gemv: library.product(.gemv, matrix.format),
          gemm: library.product(.gemm, matrix.format),
          gemmTokenCount: library.choice[matrix.format]))
      firstRow += matrix.rowCount
      firstPair += (matrix.tileCount + 1) / 2
    }
    self.matrices = matrices
    self.arrangement = arrangement
    self.grouping = grouping
    rowCount = firstRow
    columnCount = first.columnCount
    pairCount = arrangement == .stacked ? firstPair : (first.tileCount + 1) / 2
    codeByteCount = matrices.reduce(0) { $0 + $1.codeTileBytes * $1.tileCount }
    usesScratch = matrices.contains { $0.format.isASTC }
  }

  // The members hold no references.
  deinit { unsafe members.deallocate() }
}

/// What is made of rows of a product by the thread that has computed them, while they are in its
/// cache.
package protocol ProductEpilogue {
  /// Called once for all tokens of each range of rows; ranges differ from thread to thread, but not
  /// what is in a row.
  ///
  /// - Parameters:
  ///   - rows: counted in each matrix, not in the group.
  ///   - matrices: one of a stacked group, all of a paired one.
  func finish(_ rows: Range<Int>, of matrices: Range<Int>)
}

/// Nothing.
private struct NoEpilogue: ProductEpilogue {
  func finish(_: Range<Int>, of _: Range<Int>) {}
}

extension PackedMatrixGroup {
  /// y = W · x for every token and every matrix, as `KernelLibrary.multiply` computes them one by
  /// one and with the same bits. Allocates nothing.
  ///
  /// - Parameter output: [tokens][rows] of the first matrix, then of the next, contiguous.
  /// - Precondition: the activations have the group's columns and grouping; `output` holds
  ///   `tokenCount` · `rowCount` floats and overlaps nothing; for more than one token, and for ASTC,
  ///   the pool has no more threads than the activations' capacity.
  public func multiply(
    _ activations: Activations, into output: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    unsafe multiply(activations, into: output, finishing: NoEpilogue(), pool: pool)
  }

  /// The same, with something made of the rows by the threads that have them.
  @unsafe package func multiply<Epilogue: ProductEpilogue>(
    _ activations: Activations, into output: UnsafeMutablePointer<Float>,
    finishing epilogue: Epilogue, pool: ThreadPool
  ) {
    let tokenCount = activations.tokenCount
    precondition(
      activations.columnCount == columnCount,
      "activations of \(activations.columnCount) columns, matrices of \(columnCount)")
    precondition(
      activations.grouping == grouping,
      "matrices for \(grouping.rawValue), activations quantized as "
        + activations.grouping.rawValue)
    precondition(
      tokenCount == 1 && !usesScratch || pool.threadCount <= activations.threadCapacity,
      "activations for \(activations.threadCapacity) threads, a pool of \(pool.threadCount)")
    let work = unsafe GroupWork(
      group: self, activations: activations,
      arguments: KernelLibrary.arguments(
        matrices[0], activations, output, matrices[0].rowCount),
      epilogue: epilogue)
    // A part of some microseconds, as for one matrix; one thread has nobody to share them with.
    let cost = codeByteCount * tokenCount / (pool.threadCount * 32768)
    pool.run(work, partsPerThread: pool.threadCount == 1 ? 1 : max(1, min(8, cost)))
  }
}

/// The products of a group on all threads of a pool.
@safe private struct GroupWork<Epilogue: ProductEpilogue>: ThreadPoolWork {
  // Both outlive the run, and threads that copy the work retain nothing.
  unowned(unsafe) let group: PackedMatrixGroup
  unowned(unsafe) let activations: Activations
  /// Those of the first matrix, without scratch.
  let arguments: CKProduct
  let epilogue: Epilogue

  init(
    group: PackedMatrixGroup, activations: Activations, arguments: CKProduct, epilogue: Epilogue
  ) {
    unsafe self.group = group
    unsafe self.activations = activations
    unsafe self.arguments = arguments
    self.epilogue = epilogue
  }

  func perform(part: Int, of partCount: Int, thread: Int) {
    let group = unsafe group
    let pairs = ThreadPool.share(of: group.pairCount, part: part, partCount: partCount)
    guard !pairs.isEmpty else { return }
    var rows = 0..<0
    for index in unsafe group.members.indices {
      let member = unsafe group.members[index]
      let begin = unsafe max(pairs.lowerBound - member.firstPair, 0)
      let end = unsafe min(pairs.upperBound - member.firstPair, member.pairCount)
      guard begin < end else { continue }
      rows = unsafe begin * 32..<min(end * 32, member.rowCount)
      unsafe multiply(member, pairs: begin..<end, thread: thread)
      if group.arrangement == .stacked { epilogue.finish(rows, of: index..<index + 1) }
    }
    if group.arrangement == .paired { unsafe epilogue.finish(rows, of: group.members.indices) }
  }

  /// Some pairs of tiles of one matrix.
  private func multiply(_ member: PackedMatrixGroup.Member, pairs: Range<Int>, thread: Int) {
    // The arguments describe memory that the caller of `multiply` vouched for; each part has the
    // rows of its own tiles, and each thread its own scratch.
    var part = unsafe arguments
    unsafe part.codes = member.codes
    unsafe part.scales = member.scales
    unsafe part.codeTileBytes = member.codeTileBytes
    unsafe part.scaleTileBytes = member.scaleTileBytes
    unsafe part.rowCount = member.rowCount
    unsafe part.output = part.output + part.tokenCount * member.firstRow
    unsafe part.outputStride = member.rowCount
    unsafe part.tileBegin = pairs.lowerBound * 2
    unsafe part.tileEnd = min(member.tileCount, pairs.upperBound * 2)
    let usesGEMM = unsafe part.tokenCount >= member.gemmTokenCount
    if unsafe usesGEMM || part.tables != nil {
      unsafe part.scratch = unsafe activations.scratch(thread: thread)
    }
    let function = unsafe usesGEMM ? member.gemm : member.gemv
    unsafe withUnsafePointer(to: part) { unsafe function($0) }
  }
}
