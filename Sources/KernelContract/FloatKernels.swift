import CKernels

// What every contract of this file shares. Floats are IEEE 754 binary32 ("f32") or binary16
// ("f16"), rounded to nearest even. `lanes(v)` is the one order of sums: element i belongs to
// lane i mod 16, each lane adds its elements in ascending order from +0, and the lanes are added
// as i + (i+8), i + (i+4), i + (i+2), i + (i+1). The vector levels fuse every multiply-add and
// give equal bits; the portable level rounds product and sum, which is why tolerances exist.
// Counts are positive; element alignment is enough; nothing is allocated, and no memory outside
// the shapes is read or written. Outputs overlap no input unless a contract says "in place".
// Functions are C functions, pointers without a context: copying one retains nothing.

/// Root-mean-square norm of one row: output[i] = (input[i] · f) · weight[i] with
/// f = 1 / √(lanes(input²) / count + epsilon).
///
/// In place is allowed (output == input). A NaN or an infinity in the input makes NaN or zeros of
/// the whole row: nothing plausible. Tolerance against the formula in f64: 2^-22 of the value,
/// times √(count / 16) for the lanes' sums, squares being positive.
package typealias NormFunction = @Sendable @convention(c) (UnsafePointer<CKNorm>) -> Void

/// `NormFunction` of each of `headCount` heads of a row, in place and with its bits: heads of
/// `dimension` floats, `headStride` floats apart, share one weight. Floats between the heads stay as
/// they are.
///
/// Exceptions and tolerance are those of `NormFunction`, head by head.
package typealias HeadNormFunction = @Sendable @convention(c) (UnsafePointer<CKHeadNorm>) -> Void

/// output[i] from a[i] and b[i]; in place with either input is allowed.
///
/// - add: a + b; multiply: a · b. Exact.
/// - swiglu: silu(a) · b with silu(a) = a / (1 + e^−a). Relative error of at most 2^-20 for
///   a ≥ −80: e^−a contributes 2^-22 and the sum, quotient and product three half units. silu is 0
///   below −88 (its value there is under 1e-36), a for large a; NaN stays NaN.
package typealias ElementwiseFunction =
  @Sendable @convention(c) (UnsafePointer<CKElementwise>) -> Void

/// values[i] = values[i] · factor, in place. Exact.
package typealias ScalingFunction = @Sendable @convention(c) (UnsafePointer<CKScaling>) -> Void

/// Softmax of factor · values, in place; factor > 0.
///
/// **Formula.** With m the largest value, e_i = e^((v_i − m) · factor) and values[i] = e_i / lanes(e).
///
/// **Exceptions.** −infinity is a masked entry and becomes exactly 0; a row that is masked
/// throughout becomes zeros. One NaN or +infinity makes the whole row NaN. Exponentials below
/// e^−87.33 are 0.
///
/// **Tolerance.** 2^-20 of the value, and the rounding of (v − m) · factor, which is an absolute
/// error of the exponent: 2^-23 · |v − m| · factor.
package typealias SoftmaxFunction = @Sendable @convention(c) (UnsafePointer<CKScaling>) -> Void

/// Elements from one type to another.
///
/// - f32 to f16: nearest even, overflow to infinity, NaN stays NaN. Exact.
/// - f16 to f32: exact.
/// - f32 to s8 with a scale: with m the largest magnitude, scale = m / 127 and
///   output[i] = roundToNearestEven(input[i] · (127 / m)). Where m < 2^-110, output and scale are
///   0; with a NaN or an infinity in the input the output is 0 and the scale NaN. Exact.
/// - f32 to s16 with a scale: the same with 32767 in the place of 127.
package typealias ConversionFunction =
  @Sendable @convention(c) (UnsafePointer<CKConversion>) -> Void

/// Rotates pairs (x, y) of each head by one position's angles:
/// (x·cos − y·sin, y·cos + x·sin), in place.
///
/// Halves: pair i is (values[i], values[i + pairCount]); adjacent: (values[2i], values[2i + 1]).
/// `cosines` and `sines` have `pairCount` entries; heads are `headStride` floats apart, and floats
/// of a head after 2 · pairCount stay as they are. Tolerance: 2^-22 · (|x| + |y|), two products
/// and a sum.
package typealias RotationFunction = @Sendable @convention(c) (UnsafePointer<CKRotation>) -> Void

/// The place of the largest value, the first of equals. −1 where any value is NaN, so that a
/// broken row never yields a plausible token. Exact; −infinity everywhere gives 0.
package typealias SearchFunction = @Sendable @convention(c) (UnsafePointer<CKSearch>) -> Void

/// The places of the k largest values, largest first, the smaller place first of equals (−0 equals
/// 0); 1 ≤ k ≤ count < 2^31.
///
/// `found` becomes k; or −1 where any value is NaN, and then what is in `indices` means nothing.
/// Infinities are values like others. Exact. `keys` is working memory of k numbers.
///
/// **Cost.** One pass over the values, 16 at a time, and log2(k) steps for each that is among the k
/// largest of those before it: k · ln(count / k) of them where the order is random.
package typealias TopKFunction = @Sendable @convention(c) (UnsafePointer<CKTopK>) -> Void

/// C = A · B or C = f · C + A · B for small panels: attention scores and weighted sums of values.
///
/// **Formula.** A sum starts at 0 and adds
/// A[i][d] · B[d][j] for d = 0, 1, …, depth − 1, in this order; C[i][j] becomes the sum, or
/// C[i][j] · rowFactors[i] plus the sum where there are factors.
///
/// **Shapes.** A [rowCount][depth] f32, B [depth][columnCount] f32 or f16, C [rowCount][columnCount] f32; row strides in elements, at least the row's length.
///
/// **Tolerance.** depth · 2^-24 · Σ|A·B| against the formula in f64: each step rounds once (twice
/// on the portable level, hence 2^-23 there).
///
/// **Exceptions.** A NaN in a row of A makes that row of C NaN; one in a column of B that column.
///
/// **Cost.** Built for 1…64 rows, 32…128 columns and a depth up to 256: B is read once for each
/// four rows.
package typealias PanelFunction = @Sendable @convention(c) (UnsafePointer<CKPanel>) -> Void

/// output[t][r] = lanes(weights[r] · activations[t]) for rows `rowBegin ..< rowEnd` and all tokens.
///
/// Weights f32 or f16. GEMV is written for one token and GEMM for many; both accept any number,
/// and give the same bits for the same row and token, whatever the ranges.
///
/// **Tolerance.** (columns / 16 + 4) · 2^-24 · Σ|w·x| (2^-23 on the portable level) against f64:
/// the length of a lane's chain and the four sums of lanes. A NaN or an infinity in the activations of
/// a token makes all of its results NaN or infinite, and those of no other token.
package typealias FloatProductFunction =
  @Sendable @convention(c) (UnsafePointer<CKFloatProduct>) -> Void
