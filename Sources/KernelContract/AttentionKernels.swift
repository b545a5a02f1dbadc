import CKernels

/// C = A · B or C = f · C + A · B for 16-bit A and 8-bit B, summed as integers: attention over caches of
/// codes, with queries or weights of 16 bits.
///
/// **Formula.** With s = Σ_d A[i][d] · B[d][j], exact, and all further results rounded to binary32 one
/// by one: t = f32(s) · rowScales[i], then t · columnScales[j] where there are any; C[i][j] becomes that,
/// or C[i][j] · rowFactors[i] + that where there are any.
///
/// **Shapes.** A [rowCount][depth] s16 −32767…32767, B [⌈depth / 2⌉][columnCount][2] s8 −127…127, whose
/// element (d, j) stands at (⌊d / 2⌋, j, d mod 2), C [rowCount][columnCount] f32; strides in elements, of
/// A and C from row to row, of B from two rows to the next two. Of an odd depth the elements behind each
/// row of A and in the last two rows of B are read, and have no effect. The depth is at most 512, so that
/// sums fit 32 bits.
///
/// **Tolerance.** None: all levels give the same bits. A NaN among the scales makes its row or column
/// NaN.
///
/// **Cost.** Built for the query heads that share a key head, 4 or 8 rows: B is widened once for each
/// four rows (eight with AVX-512), by the load where two rows stand side by side, and a product of two
/// pairs is one instruction where f32 takes two.
/// Columns behind the last multiple of 16 are slow. `next` is asked for in equal parts while this panel
/// is multiplied: pages of a cache lie where no hardware looks ahead.
package typealias CodePanelFunction =
  @Sendable @convention(c) (UnsafePointer<CKCodePanel>) -> Void

/// The next block of an online softmax (Milakov and Gimelshein 2018) over rows of scores.
///
/// **Formula.** For row i, with b the largest score in columns begins[i] ..< ends[i] and m = maxima[i]:
/// M = max(m, b); scores[i][j] = e^(s_j − M) in those columns and 0 in all others; decays[i] = e^(m − M);
/// sums[i] = sums[i] · decays[i] + lanes(e^(s_j − M)); maxima[i] = M. A sum of weighted values so far,
/// times the decay, and the sum with these weights are relative to the same maximum. Rows begin with
/// maxima of −infinity and sums of 0.
///
/// **Shapes.** scores [rowCount][columnCount]; 0 ≤ begins[i] ≤ ends[i] ≤ columnCount. What stands in
/// columns that a row does not see is not read. A row that sees nothing keeps maximum and sum.
///
/// **Exceptions.** −infinity is a masked entry and has no weight; a row that is masked throughout has
/// weights and a sum of 0. With a NaN or +infinity that a row sees its sum is NaN from then on, and the
/// weights of this block. Exponentials below e^−87.33 are 0.
///
/// **Tolerance.** 2^-20 of the weight, and the rounding of s − M, an absolute error of the exponent.
/// The levels that fuse multiply and add give the same bits.
package typealias BlockSoftmaxFunction =
  @Sendable @convention(c) (UnsafePointer<CKBlockSoftmax>) -> Void

/// Rows of floats as 16-bit codes with a scale each.
///
/// **Formula.** v_j = input[i][j] · columnScales[j], or the input where there are none; then as f32 to
/// s16 of `ConversionFunction`, and rowScales[i] = scale · factor. Exact.
///
/// **Shapes.** input [rowCount][columnCount], codes likewise; nothing behind a row's codes is written.
package typealias RowCodesFunction = @Sendable @convention(c) (UnsafePointer<CKRowCodes>) -> Void

/// 4-bit codes to bytes; exact.
///
/// - Rows: packed [rowCount][byteCount] to codes [⌈rowCount / 2⌉][2 · byteCount][2]: the codes of two
///   packed rows, the low nibble of a byte first, each beside that of the other row: values of a page. An
///   odd last row is its own partner.
/// - Pairs: packed [rowCount · byteCount] to twice as many codes; the low nibble of byte r becomes code
///   2r, the high one code 2r + 1: keys of a page.
package typealias NibbleFunction = @Sendable @convention(c) (UnsafePointer<CKNibbles>) -> Void

/// One key or value of a head to the codes that a cache keeps: the bytes that the cache's scalar
/// reference writes, where its scales are those of the model or belong to 32 elements.
///
/// - s8: codes[i] = roundToNearestEven(values[i] / scale) within −127…127, 0 for NaN.
/// - u4g32: of 32 values, within ±65504 and 0 for NaN, the minimum is the largest binary16 that is not
///   above the smallest, and scale = f16((largest − minimum) / 15); codes are
///   roundToNearestEven((value − minimum) / scale) within 0…15, 0 where that is NaN. Two share a byte,
///   the first in the low half. The last group may be shorter; the count is even.
///
/// Exact; a minimum or scale of zero has either sign. For u4g32 the 16 bytes behind the codes are
/// written too.
package typealias CacheVectorFunction =
  @Sendable @convention(c) (UnsafePointer<CKCacheVector>) -> Void
