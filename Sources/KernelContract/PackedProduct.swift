import CKernels
import PackedFormats

/// A packed product: y = W · x for the rows and tokens that its arguments name.
///
/// **Formula.** Codes c, int8 activations x, weight scales s and minimums m; all in f32, every
/// operation rounded to nearest even. With activations of one scale a[t] a token (`s8t`):
///
/// - u2c: y[t][r] = (f32(2·Σ c·x − 3·Σ x) · s[r]) · (0.5 · a[t]); for u2t every s[r] is its one scale
///
/// With a scale a[t][k] a token and chunk of 64 columns (`s8g64`), z beginning at +0 and chunks k
/// ascending:
///
/// - s8c: z ← z + a[t][k] · f32(Σ c·x), over the chunk's columns; y[t][r] = z · s[r]
/// - u2g64: z ← z + a[t][k] · (s[r,k] · (f32(Σ c·x) − 1.5·Σ x)); y[t][r] = z
/// - u4g32: for each group g of 32 columns of the chunk, ascending,
///   z ← z + a[t][k] · (s[r,g] · f32(Σ c·x) + m[r,g] · f32(Σ x)); y[t][r] = z
/// - u4c: likewise for each 32 columns, z ← z + a[t][k] · (f32(Σ c·x) − 7.5·Σ x); y[t][r] = z · s[r]
/// - s8g32: likewise, z ← z + a[t][k] · (s[r,g] · f32(Σ c·x)); y[t][r] = z
///
/// With a scale a[t][k] a token and chunk of 36 columns (`s8g36`), which are the packed blocks of
/// ASTC tiles:
///
/// - astc6x6-ldr: z ← z + a[t][k] · f32(Σ (v − 8160)·x); y[t][r] = (z · s[r]) · (257/64)
/// - astc6x6-hdr: z ← z + a[t][k] · (u[r,k] · f32(Σ v·x) + m[r,k] · f32(Σ x)); y[t][r] = z · s
///
/// v is an integer. On the line from endpoint e₀ to e₁ of its partition it is 64·e₀ + (e₁ − e₀)·w, w
/// the grid weight, and u = 257 · 2^-22: before the block format rounds to C = 257·v/64 (and in HDR
/// to a binary16 H), so that a weight is within 1/2 · s in LDR, and within 2^-10 of H and 2^-24, of
/// the format's. An HDR block of logarithms has six values H, at most an octave apart. With
/// u = 2^(e − 25), e = min(max(E, 1), 30) for the exponent bits E of the value at w = 0, they are
/// integers V = H/u; with δ = V − V(w = 0), v = V(w = 0) + q · 2^n, q = ⌊(δ + 2^(n−1)) / 2^n⌋ (q = δ for
/// n = 0) and the smallest n for which ⌊δ(w = 64) / 2^n⌋ < 128: off the format's value by at most
/// 1/127 of what the block spans.
///
/// c is the signed code in s8c and s8g32. Nothing is fused; f32(Σ c·x) and the differences in u2g64
/// and u4c are exact, and f32(Σ v·x) is rounded once.
/// Which grouping belongs to which format, and why, stands at `ActivationGrouping.required`.
///
/// **Exactness.** Integer sums are exact (at most 131,072 columns), and with the order above so is
/// everything: every kernel gives the bits of the reference. A token with a scale that is NaN gives
/// NaN in all of its outputs.
///
/// **Shapes.** Activations [tokens][chunkCount · 64] (`s8g36`: · 36), zero after the last column;
/// output [tokens][rows], of which only the tiles' rows are written. Scratch has
/// `PackedProductScratch.byteCount(columns:)` bytes for GEMM, over ASTC `astcByteCount(columns:)`, and
/// `tileByteCount` for GEMV; 64-byte aligned. ASTC has the tables of `ASTCKernelTables`.
///
/// **Any bytes.** Whatever codes, scales, activations and sums hold, a kernel ends, traps nowhere
/// and stays inside the shapes. The formula, and the same bits at every level, are of weights that
/// their format's validation accepts and of activations that a `QuantizationFunction` wrote. A tile
/// of ASTC whose kind does not exist makes the results of its 16 rows NaN.
///
/// **Aliasing and alignment.** Nothing may overlap. Codes are 64-byte aligned; all else has its
/// element's alignment. Nothing is allocated and no memory outside the shapes is read or written,
/// prefetches apart.
@safe package struct PackedProductFunction: Sendable {
  private let body: @Sendable @convention(c) (UnsafePointer<CKProduct>) -> Void

  @unsafe package init(
    _ body: @escaping @Sendable @convention(c) (UnsafePointer<CKProduct>) -> Void
  ) {
    unsafe self.body = unsafe body
  }

  /// Runs the kernel on memory that the caller vouches for.
  @unsafe package func callAsFunction(_ arguments: UnsafePointer<CKProduct>) {
    unsafe body(arguments)
  }
}

/// Activations to int8 with a scale per token (`s8t`) or per token and chunk of 64 (`s8g64`) or 36
/// (`s8g36`) columns.
///
/// **Formula.** With m the largest magnitude of the token or chunk: scale a = m / 127,
/// x = roundToNearestEven(v · (127 / m)) in f32, and sums of x over each 32 columns, in s8t over the
/// token too, in s8g36 over each chunk instead. Columns after the last up to a multiple of 64 (36)
/// become zero.
///
/// **Exceptions.** Where m < 2^-110 (zero included), x = 0 and a = 0. Where the token or chunk has a
/// NaN or an infinity, x = 0 and a = NaN, so that every product of the token is NaN and never a
/// plausible number.
///
/// **Exactness.** All levels give the same bits.
///
/// **Aliasing and alignment.** Input and outputs do not overlap; element alignment is enough.
@safe package struct QuantizationFunction: Sendable {
  private let body: @Sendable @convention(c) (UnsafePointer<CKQuantization>) -> Void

  @unsafe package init(
    _ body: @escaping @Sendable @convention(c) (UnsafePointer<CKQuantization>) -> Void
  ) {
    unsafe self.body = unsafe body
  }

  /// Runs the kernel on memory that the caller vouches for.
  @unsafe package func callAsFunction(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe body(arguments)
  }
}

/// The working memory that a GEMM kernel needs on each thread.
package enum PackedProductScratch {
  /// Bytes for a panel's sums of a block of tokens, and for a strip of its columns unpacked.
  package static func byteCount(columns: Int) -> Int {
    let stripColumns = min(Int(CK_STRIP_COLUMNS), (columns + 63) / 64 * 64)
    return Int(CK_BLOCK_BYTES) + stripColumns * Int(CK_PANEL_ROWS)
  }

  /// Bytes for a panel of ASTC unpacked over all columns, which may have 16 bits a value, and for the
  /// accumulators of a token tile.
  package static func astcByteCount(columns: Int) -> Int {
    let blockCount = (columns + 35) / 36
    let blocks = (blockCount + 63) / 64 * 64 + blockCount * Int(CK_ASTC_PANEL_BLOCK_BYTES)
    return Int(CK_ACCUMULATOR_BYTES) + Int(CK_ASTC_TILE_BYTES) + blocks
  }

  /// Bytes of each thread for a product, a multiple of 64; 0 where it needs none.
  package static func byteCount(_ format: WeightFormat, columns: Int, usesGEMM: Bool) -> Int {
    if format.isASTC {
      let needed = usesGEMM ? astcByteCount(columns: columns) : tileByteCount
      return (needed + 63) & ~63
    }
    return usesGEMM ? byteCount(columns: columns) : 0
  }

  /// Bytes that a GEMV kernel needs on each thread, over ASTC alone: those of one tile.
  package static var tileByteCount: Int { Int(CK_ASTC_TILE_BYTES) }
}
