import CKernels

/// C = A · B or C += A · B for 16-bit A and 8-bit B, summed as integers: attention over caches of 8-bit
/// codes, with queries or probabilities of 16 bits.
///
/// **Formula.** With s = Σ_d A[i][d] · B[d][j], exact, and all further results rounded to binary32 one
/// by one: t = f32(s) · rowScales[i], then t · columnScales[j] where there are any; C[i][j] becomes that,
/// or its old value plus that where `accumulates` is set.
///
/// **Shapes.** A [rowCount][depth] s16 −32767…32767, B [depth][columnCount] s8 −127…127, C
/// [rowCount][columnCount] f32; row strides in elements, at least the row's length. Of an odd depth the
/// element of A behind each row is read, and has no effect. The depth is at most 512, so that sums fit 32
/// bits.
///
/// **Tolerance.** None: all levels give the same bits. A NaN among the scales makes its row or column
/// NaN.
///
/// **Cost.** Built for the query heads that share a key head, 4 or 8 rows: B is widened once for each
/// four rows (eight with AVX-512), and a product of two pairs is one instruction where f32 takes two.
/// Columns behind the last multiple of 16 are slow.
package typealias CodePanelFunction =
  @Sendable @convention(c) (UnsafePointer<CKCodePanel>) -> Void
