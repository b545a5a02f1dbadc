/// Products of packed weights with activations, y = W · x, for any engine.
///
/// The library needs libc and nothing else, chooses its kernels by the CPU it runs on, and keeps no
/// state but what `afm_*_create` returns. In short:
///
///     afm_library *library;
///     afm_library_create(AFM_LEVEL_BEST, &library);
///
///     afm_matrix w = {.format = AFM_FORMAT_U2C, .rows = rows, .columns = columns};
///     afm_matrix_bytes(w.format, w.rows, w.columns, &w.memory_bytes);
///     w.memory = aligned_alloc(64, w.memory_bytes);
///     afm_pack(&w, 0, rows, weights, weights_bytes, NULL);
///
///     afm_activations x = {.format = w.format, .tokens = 1, .columns = columns};
///     afm_activation_bytes(x.format, x.tokens, x.columns, &x.memory_bytes);
///     x.memory = aligned_alloc(64, x.memory_bytes);
///     afm_quantize(library, NULL, &x, floats, floats_bytes, columns);
///
///     afm_multiply(library, NULL, &w, &x, y, y_bytes, rows, NULL, 0);
///
/// **Errors.** Every function that can fail returns an `afm_error`, AFM_OK (0) on success, and
/// checks its arguments before it touches memory: on an error nothing has been written unless the
/// function says otherwise. Where several arguments are wrong, any of their errors may be the one
/// returned, and which one may change with AFM_VERSION.
///
/// **Any bytes.** Every call ends, and reads and writes nothing outside the buffers it is given,
/// whatever packed memory and activations hold (prefetches excepted, which have no effect on
/// memory). What the results mean is the caller's promise: `afm_check_matrix` says whether packed
/// memory from elsewhere keeps the rules of its format. Of memory that does not, results are any
/// numbers, and may differ between levels; a tile of ASTC of an unknown kind makes its 16 rows'
/// results NaN.
///
/// **Memory** belongs to the caller, who asks for sizes first. `memory` and `scratch` begin at an
/// address that 64 divides, and their byte counts are multiples of 64; floats need the alignment of
/// a float. Sizes of buffers are in bytes and may be larger than needed. `afm_quantize*` and
/// `afm_multiply*` allocate nothing, nor do `afm_dequantize_row` and `afm_check_matrix` but of
/// ASTC. Buffers, and the structs that name them, must stay as they are during a call; none is kept
/// after it. Weights that are read for every token are best in huge pages
/// (`madvise(MADV_HUGEPAGE)`, or a copy where a mapped file is in small pieces): from small pages a
/// token took 1.1 times as long.
///
/// The other functions end the process where the system has no memory left, as Swift programs do.
///
/// **Threads.** A library, a matrix and activations may be read by any number of threads at a time.
/// An engine with threads of its own gives each a share of the rows (`afm_share_rows`,
/// `afm_multiply_rows`), or lets the library's own do it (`afm_pool`). Results do not depend on the
/// number of threads, nor on the level: every level gives the same bits, on memory that
/// `afm_check_matrix` accepts.
///
/// **Fork.** A process that `fork` made may use all that it has copied. A pool has no threads
/// there: its calls run on the calling thread alone, `afm_pool_threads` is 1, and
/// `afm_pool_destroy` frees it. (The system clears a page at a fork, from Linux 4.14 on; before
/// that the library asks for the number of the process in every call.) A fork while another thread
/// is in a call copies what that call has half written.
///
/// **Rounding.** Every call computes to nearest even, with subnormal numbers and without traps, and
/// gives back the thread's mode (x86: MXCSR) at its end: flush-to-zero, which `-ffast-math` sets,
/// has no effect on results.
///
/// **Lifetime.** Handles are valid until they are destroyed; a handle that is not, or was not made
/// by this library, is undefined behaviour, as is an `afm_pool` destroyed during a call. Packed
/// memory has the same layout in AFM_VERSION 1 and 2, and on all CPUs of little-endian order, but
/// holds no record of its format or size: keep both beside it. Activation memory has a layout of
/// its own for each version and number of tokens, and is not for files.
///
/// **Not a number.** A NaN or an infinity in a token's activations makes all outputs of this token
/// NaN. Weights that are NaN, infinite or beyond ±2^100 are refused. With activations up to 2^100,
/// an output is infinite only where the sum of |weight · activation| reaches 2^126.
///
/// **Platform.** Linux on x86-64. Pools use futexes, and count the CPUs that the process may run on
/// (sched_getaffinity), which does not see the quota of a control group.
///
/// **Limits.** 1…2^31 rows, 1…2^17 columns, 1…2^24 tokens, 1…4096 threads.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/// The version of this header's interface: raised with every change that a caller could notice.
#define AFM_VERSION 2

/// The version of the library.
int32_t afm_version(void);

// --- Errors ---

typedef int32_t afm_error;
enum {
  AFM_OK = 0,
  /// A pointer is NULL that must not be.
  AFM_ERROR_NULL = 1,
  /// A number of rows, columns, tokens, threads or floats is zero or negative.
  AFM_ERROR_NOT_POSITIVE = 2,
  /// A number is beyond the limits, or a product such as rows × columns does not fit.
  AFM_ERROR_TOO_LARGE = 3,
  /// A buffer has fewer bytes than needed.
  AFM_ERROR_SHORT_BUFFER = 4,
  /// An address is not aligned as its use needs.
  AFM_ERROR_ALIGNMENT = 5,
  /// The output, or scratch memory, shares bytes with another buffer.
  AFM_ERROR_OVERLAP = 6,
  /// No format, or none that this library has kernels for.
  AFM_ERROR_FORMAT = 7,
  /// No level has that number.
  AFM_ERROR_LEVEL = 8,
  /// This CPU, or its operating system, cannot run that level.
  AFM_ERROR_UNAVAILABLE = 9,
  /// Activations that do not fit the weights (other columns, or quantized for another format), or
  /// whose memory was last quantized for another number of tokens or columns, or never.
  AFM_ERROR_MISMATCH = 10,
  /// Rows that do not exist, or a part that is no tiles: see `afm_multiply_rows`.
  AFM_ERROR_ROWS = 11,
  /// A weight is NaN, infinite, beyond ±2^100 or too large for the scales of the format.
  AFM_ERROR_WEIGHT = 12,
  /// Planes, or packed memory, that break a rule of their format: a scale that is not finite, is
  /// negative or is above 2^101 (2^104 for ASTC in HDR), a minimum that is not finite, the code
  /// −128, unused bits at the end of a row or padding that are not zero, an illegal block, or a
  /// tile of an unknown kind.
  AFM_ERROR_PLANES = 13,
  /// An option has no meaning: a fit that does not exist, an importance that is not positive.
  AFM_ERROR_OPTION = 14,
  /// The pool is serving another caller.
  AFM_ERROR_BUSY = 15,
  /// The system gives no more threads.
  AFM_ERROR_THREADS = 16,
  /// A block of ASTC that tiles have no place for: they hold those with a full grid in one plane
  /// and 1, 2 or 3 partitions of 6, 5 or 4 codes, which is what the suite's encoder writes.
  AFM_ERROR_BLOCKS = 17,
};

/// What an error means, in one line of English without an end; never NULL, valid for ever.
const char *afm_error_text(afm_error error);

// --- Formats ---

/// How the elements of a matrix are stored. Numbers are those of the container format; what is not
/// named here is AFM_ERROR_FORMAT. Codes fill a row from the lowest bits of its first byte on.
///
/// Groups of 32 or 64 columns, and blocks of 36, begin at column 0, g, 2g and so on; the last one
/// of a row is shorter where the columns are no multiple, and has a scale all the same.
typedef int32_t afm_format;
enum {
  /// 8-bit codes −127…127, a binary32 scale a row: code · scale.
  AFM_FORMAT_S8C = 16,
  /// 8-bit codes −127…127, a binary16 scale for 32 columns: code · scale.
  AFM_FORMAT_S8G32 = 17,
  /// 4-bit codes 0…15, a binary16 scale and minimum for 32 columns: minimum + code · scale.
  AFM_FORMAT_U4G32 = 32,
  /// 4-bit codes 0…15, a binary32 scale a row: (code − 7.5) · scale.
  AFM_FORMAT_U4C = 33,
  /// 2-bit codes 0…3, a binary32 scale a row: (code − 1.5) · scale.
  AFM_FORMAT_U2C = 48,
  /// 2-bit codes 0…3, a binary16 scale for 64 columns: (code − 1.5) · scale.
  AFM_FORMAT_U2G64 = 49,
  /// ASTC 6×6 blocks of 36 columns, 16 bytes each, LDR, a binary32 scale a row:
  /// (value of 0…65535 − 32767.5) · scale. Packed from blocks alone (`afm_pack_planes`).
  AFM_FORMAT_ASTC6X6_LDR = 64,
  /// The same in HDR, a binary32 scale for the matrix and a binary16 minimum a block:
  /// (minimum + value) · scale.
  AFM_FORMAT_ASTC6X6_HDR = 65,
};

// --- Levels ---

/// A set of instructions that kernels are compiled for.
typedef int32_t afm_level;
enum {
  /// The best one that this CPU runs; only to choose with.
  AFM_LEVEL_BEST = 0,
  /// Any CPU.
  AFM_LEVEL_PORTABLE = 1,
  /// AVX2, FMA, F16C and BMI2.
  AFM_LEVEL_AVX2 = 2,
  /// AVX-512 F, BW, VL, DQ and VNNI, over everything that AVX2 has.
  AFM_LEVEL_AVX512VNNI = 3,
  /// What AFM_LEVEL_AVX2 needs, and AVX-VNNI.
  AFM_LEVEL_AVX2VNNI = 4,
};

/// The levels that this CPU and its operating system run: bit `1 << level` for each. Asks the CPU,
/// which takes up to microseconds in a virtual machine.
uint32_t afm_available_levels(void);

/// `portable`, `avx2`, `avx2vnni` or `avx512vnni`; NULL for other numbers.
const char *afm_level_name(afm_level level);

/// The kernels of one level.
typedef struct afm_library afm_library;

/// Chooses the kernels of a level.
///
/// @return AFM_ERROR_NULL, AFM_ERROR_LEVEL, AFM_ERROR_UNAVAILABLE; `*library` is NULL then.
afm_error afm_library_create(afm_level level, afm_library **library);

/// Frees it; nothing may be using it. NULL is allowed.
void afm_library_destroy(afm_library *library);

/// The level that was chosen; AFM_LEVEL_BEST for NULL.
afm_level afm_library_level(const afm_library *library);

/// The name of the kernel that multiplies weights of a format with so many tokens, such as
/// `gemv_f32_s8t_u2c_r16_avx2`; valid as long as the library. NULL where there is none.
const char *afm_kernel_name(const afm_library *library, afm_format format, int64_t tokens);

// --- Weights ---

/// A matrix W[row, column] packed as the kernels read it: rows in tiles of 16. `memory` can be
/// written to a file and mapped from it; it is the same at every level. A file that others can
/// change is to be checked (`afm_check_matrix`) and copied: one that shrinks while it is mapped
/// ends the process with SIGBUS.
typedef struct afm_matrix {
  afm_format format;
  /// The output channels.
  int64_t rows;
  /// The input channels.
  int64_t columns;
  void *memory;
  size_t memory_bytes;
} afm_matrix;

/// The bytes that the memory of a matrix needs.
///
/// @return AFM_ERROR_NULL, AFM_ERROR_FORMAT, AFM_ERROR_NOT_POSITIVE, AFM_ERROR_TOO_LARGE.
afm_error afm_matrix_bytes(afm_format format, int64_t rows, int64_t columns, size_t *bytes);

/// What scales are fitted to when weights are packed.
typedef int32_t afm_fit;
enum {
  /// The least squared error, or the largest magnitude for 8 bits: what suits the format.
  AFM_FIT_DEFAULT = 0,
  /// The largest magnitude gets the outermost value: nothing is clipped.
  AFM_FIT_ABSOLUTE_MAXIMUM = 1,
  /// The least squared error.
  AFM_FIT_MEAN_SQUARE = 2,
};

typedef struct afm_pack_options {
  afm_fit fit;
  /// The weight of each column's squared error, positive and finite, usually the mean squared
  /// activation; NULL counts all columns alike.
  const float *importance;
  size_t importance_bytes;
} afm_pack_options;

/// Quantizes rows `row_begin ..< row_end` of a matrix and packs them.
///
/// Rows do not depend on each other, so that several threads can pack parts of one matrix.
///
/// @param weights f32 rows from `row_begin` on, [row_end − row_begin][columns].
/// @param row_begin a multiple of 16; `row_end` too, or the number of rows.
/// @param options NULL for the defaults.
/// @return all errors of `afm_matrix_bytes`, AFM_ERROR_FORMAT for ASTC too, whose encoder is not
///   here, AFM_ERROR_SHORT_BUFFER, AFM_ERROR_ALIGNMENT, AFM_ERROR_OVERLAP, AFM_ERROR_ROWS,
///   AFM_ERROR_OPTION; AFM_ERROR_WEIGHT, after which the rows hold anything. Magnitudes that
///   binary16 scales do not reach are about 8·10^6 in s8g32, 9·10^4 in u2g64; in u4g32 a minimum
///   below −65504 or a range of 10^6.
///
/// Allocates about 100 bytes a column for the time of the call.
afm_error afm_pack(
    const afm_matrix *matrix, int64_t row_begin, int64_t row_end, const float *weights,
    size_t weights_bytes, const afm_pack_options *options);

/// Rows of a matrix as formats are specified: codes row after row, each row beginning with a byte
/// and its unused bits zero; scales and minimums row-major over rows × groups, little-endian.
/// `minimums` is NULL and 0 where the format has none.
typedef struct afm_planes {
  const void *codes;
  size_t codes_bytes;
  const void *scales;
  size_t scales_bytes;
  const void *minimums;
  size_t minimums_bytes;
} afm_planes;

/// The bytes that so many rows have in each plane; the pointers are left alone.
///
/// @return the errors of `afm_matrix_bytes`.
afm_error afm_plane_bytes(afm_format format, int64_t rows, int64_t columns, afm_planes *planes);

/// Packs rows `row_begin ..< row_end` of a matrix whose codes and scales exist already, bit for
/// bit.
///
/// @param planes of these rows alone; of ASTC in HDR the scale is one for the whole matrix, and is
///   the same in every call.
/// @return all errors of `afm_matrix_bytes`, AFM_ERROR_SHORT_BUFFER, AFM_ERROR_ALIGNMENT,
///   AFM_ERROR_OVERLAP, AFM_ERROR_ROWS, AFM_ERROR_PLANES; AFM_ERROR_BLOCKS, after which the rows
///   hold anything.
///
/// One pass over the planes to check and one to pack. Allocates nothing, of ASTC some hundred bytes
/// for the time of the call.
afm_error afm_pack_planes(
    const afm_matrix *matrix, int64_t row_begin, int64_t row_end, const afm_planes *planes);

/// Checks rows `row_begin ..< row_end` of packed memory that comes from elsewhere, such as a file.
///
/// What passes is what `afm_pack` or `afm_pack_planes` writes for some weights: codes, scales,
/// minimums and padding as the format has them, and of ASTC every tile's kind and every block's
/// fields. Products of such memory are those of the formula, with the same bits at every level, and
/// finite where Σ|weight · activation| is below 2^126 and activations are at most 2^100. Products
/// and `afm_dequantize_row` of memory that does not pass end and stay inside of it all the same.
///
/// Rows do not depend on each other, except for the one scale of ASTC in HDR, which is held against
/// row 0's: several threads can check parts of one matrix. About as long as copying the memory; of
/// 2- and 4-bit codes only padding is looked at.
///
/// @param row_begin a multiple of 16; `row_end` too, or the number of rows.
/// @return all errors of `afm_matrix_bytes`, AFM_ERROR_SHORT_BUFFER, AFM_ERROR_ALIGNMENT,
///   AFM_ERROR_ROWS; AFM_ERROR_PLANES for memory that does not pass.
afm_error afm_check_matrix(const afm_matrix *matrix, int64_t row_begin, int64_t row_end);

/// The values of one row, as an embedding look-up needs them.
///
/// @return all errors of `afm_matrix_bytes`, AFM_ERROR_SHORT_BUFFER, AFM_ERROR_ALIGNMENT,
///   AFM_ERROR_OVERLAP, AFM_ERROR_ROWS; AFM_ERROR_PLANES for a block of ASTC that is none, after
///   which the output holds anything.
afm_error afm_dequantize_row(
    const afm_matrix *matrix, int64_t row, float *output, size_t output_bytes);

// --- Activations ---

/// Tokens quantized to int8, with scales and sums, for weights of one format or of one that is
/// quantized for alike. Three kinds are alike among themselves and AFM_ERROR_MISMATCH with each
/// other, and their sizes differ:
///
/// - u2c: a scale per token.
/// - u2g64, u4g32, u4c, s8c, s8g32: a scale per token and 64 columns.
/// - astc6x6-ldr, astc6x6-hdr: a scale per token and 36 columns.
///
/// The layout depends on `tokens`: a product names as many as were quantized for, or is
/// AFM_ERROR_MISMATCH. The memory begins with a record of that, which `afm_quantize` and
/// `afm_quantize_tokens` write. It does not say which tokens have been quantized: results of the
/// others are any numbers.
typedef struct afm_activations {
  /// The weights that they are for.
  afm_format format;
  int64_t tokens;
  int64_t columns;
  void *memory;
  size_t memory_bytes;
} afm_activations;

/// The bytes that the memory of activations needs.
///
/// @return AFM_ERROR_NULL, AFM_ERROR_FORMAT, AFM_ERROR_NOT_POSITIVE, AFM_ERROR_TOO_LARGE.
afm_error afm_activation_bytes(afm_format format, int64_t tokens, int64_t columns, size_t *bytes);

/// Threads of the library: see below.
typedef struct afm_pool afm_pool;

/// Quantizes tokens to int8.
///
/// With m the largest magnitude of what shares a scale: a = m / 127 and x = v · (127 / m), rounded
/// to nearest even, in binary32. Where m is below 2^-110, x and a are zero; where there is a NaN or
/// an infinity, x is zero and a is NaN.
///
/// @param pool the threads that share the work; NULL for the calling one alone.
/// @param input f32 [tokens][columns], a token beginning every `input_stride` floats.
/// @return all errors of `afm_activation_bytes`, AFM_ERROR_SHORT_BUFFER, AFM_ERROR_ALIGNMENT,
///   AFM_ERROR_OVERLAP; AFM_ERROR_BUSY.
afm_error afm_quantize(
    const afm_library *library, afm_pool *pool, const afm_activations *activations,
    const float *input, size_t input_bytes, int64_t input_stride);

/// The same for tokens `token_begin ..< token_end` on the calling thread; `input` begins with token
/// 0. Threads may quantize different tokens of the same activations at a time.
///
/// @return the same errors; AFM_ERROR_ROWS for tokens that do not exist.
afm_error afm_quantize_tokens(
    const afm_library *library, const afm_activations *activations, int64_t token_begin,
    int64_t token_end, const float *input, size_t input_bytes, int64_t input_stride);

// --- Products ---
//
// The formula. c are codes, s scales and m minimums of the weights, x and a the int8 activations and
// their scales (see afm_quantize), t a token, r a row, k what shares a scale of the activations: 64
// columns, or 36 of ASTC. Sums of integers are exact, f32() rounds one to binary32, and every
// operation is rounded to nearest even by itself, in the order written; z begins at +0, and k ascends.
//
//   u2c     y = (f32(2·Σ c·x − 3·Σ x) · s[r]) · (0.5 · a[t]), sums over all columns
//   s8c     z ← z + a[t][k] · f32(Σ c·x);                                y = z · s[r]
//   u2g64   z ← z + a[t][k] · (s[r][k] · (f32(Σ c·x) − 1.5 · Σ x));      y = z
//
// and for each 32 columns g of k, in their order, with sums over g:
//
//   u4g32   z ← z + a[t][k] · (s[r][g] · f32(Σ c·x) + m[r][g] · f32(Σ x));   y = z
//   u4c     z ← z + a[t][k] · (f32(Σ c·x) − 7.5 · Σ x);                      y = z · s[r]
//   s8g32   z ← z + a[t][k] · (s[r][g] · f32(Σ c·x));                        y = z
//
// ASTC, with an integer v for every column (64 times its place between the endpoints of its
// partition, before the format rounds it) and a unit u for every block:
//
//   LDR     z ← z + a[t][k] · f32(Σ (v − 8160)·x);                           y = (z · s[r]) · (257/64)
//   HDR     z ← z + a[t][k] · (u[r][k] · f32(Σ v·x) + m[r][k] · f32(Σ x));   y = z · s
//
// How blocks of logarithms in HDR get v and u stands in Sources/KernelContract/PackedProduct.swift.

/// The bytes of scratch memory that a product needs on so many threads, at the level that needs
/// most; 0 where none needs any, as with one token of all formats but ASTC.
///
/// @return AFM_ERROR_NULL, AFM_ERROR_FORMAT, AFM_ERROR_NOT_POSITIVE, AFM_ERROR_TOO_LARGE.
afm_error afm_scratch_bytes(
    afm_format format, int64_t tokens, int64_t columns, int64_t threads, size_t *bytes);

/// y = W · x for all rows and tokens: output[token][row], a token beginning every `output_stride`
/// floats. Floats between the rows and the stride are not written.
///
/// @param pool the threads that share the work; NULL for the calling one alone.
/// @param scratch for as many threads as the pool has; NULL where none is needed.
/// @return the errors of `afm_matrix_bytes` and `afm_activation_bytes`, AFM_ERROR_MISMATCH,
///   AFM_ERROR_SHORT_BUFFER, AFM_ERROR_ALIGNMENT, AFM_ERROR_OVERLAP; AFM_ERROR_BUSY.
afm_error afm_multiply(
    const afm_library *library, afm_pool *pool, const afm_matrix *matrix,
    const afm_activations *activations, float *output, size_t output_bytes, int64_t output_stride,
    void *scratch, size_t scratch_bytes);

/// The same for rows `row_begin ..< row_end` on the calling thread: what one of an engine's own
/// threads does. `output` begins with row 0; only these rows of it are written.
///
/// @param row_begin a multiple of 16; `row_end` too, or the number of rows (AFM_ERROR_ROWS).
/// @param scratch for one thread, and used by no other at the time.
/// @return the same errors.
afm_error afm_multiply_rows(
    const afm_library *library, const afm_matrix *matrix, const afm_activations *activations,
    int64_t row_begin, int64_t row_end, float *output, size_t output_bytes, int64_t output_stride,
    void *scratch, size_t scratch_bytes);

/// The rows that one of several threads takes: contiguous, as even as tiles allow, empty where
/// there are more threads than tiles (an empty part needs no call, and calls with it return
/// AFM_OK).
///
/// @return AFM_ERROR_NULL, AFM_ERROR_NOT_POSITIVE, AFM_ERROR_TOO_LARGE; AFM_ERROR_ROWS for a thread
///   that is not among 0 ..< threads.
afm_error afm_share_rows(
    int64_t rows, int64_t thread, int64_t threads, int64_t *row_begin, int64_t *row_end);

// --- Threads of the library ---

/// Starts threads that share the work of one call at a time; the caller is one of them.
///
/// Every thread begins with its own part of the rows, and takes what others have not begun when it
/// is done: a call does not wait for a thread that the system has given no core. Threads wait for
/// the next call spinning for about the time of a token, then sleep. They receive no signals but
/// those of their own faults. A pool serves one call at a time: others get AFM_ERROR_BUSY.
///
/// @param threads 0 for one on every core that the process may run on; never more are started.
/// @return AFM_ERROR_NULL, AFM_ERROR_NOT_POSITIVE, AFM_ERROR_TOO_LARGE, AFM_ERROR_THREADS where not
///   even one thread more can be had; `*pool` is NULL then.
afm_error afm_pool_create(int64_t threads, afm_pool **pool);

/// How threads wait for the next call.
typedef int32_t afm_waiting;
enum {
  /// For cores of one's own: some hundred microseconds before a thread sleeps.
  AFM_WAITING_SPINNING = 0,
  /// For shared cores: a microsecond or two. Waking costs tens of microseconds, in which the awake
  /// threads go on with the parts of the sleeping.
  AFM_WAITING_POLITE = 1,
};

/// Zeros are the defaults.
typedef struct afm_pool_options {
  /// As of `afm_pool_create`.
  int64_t threads;
  afm_waiting waiting;
  /// Not zero: more threads than cores are started where `threads` says so; they never spin.
  int32_t oversubscribe;
  /// Not zero: binds each thread but the caller's to a core of its own, where the system allows.
  int32_t pin;
  /// Zero.
  int32_t reserved;
} afm_pool_options;

/// The same with options; NULL for the defaults.
///
/// @return the same errors; AFM_ERROR_OPTION for a way of waiting that does not exist, or
///   `reserved` that is not zero.
afm_error afm_pool_create_with(const afm_pool_options *options, afm_pool **pool);

/// Ends the threads and frees the pool; no call may be using it. NULL is allowed.
void afm_pool_destroy(afm_pool *pool);

/// The number of its threads, the caller's included; 1 for NULL, and in a process that was forked
/// after the pool was made.
int64_t afm_pool_threads(const afm_pool *pool);

#if defined(__cplusplus)
}
#endif
