/// Primitives of the `avx2` level for ASTC tiles whose blocks have partitions (kinds 2 and 3).
///
/// A row's values are lines in the grid weights w, one a partition: with W and X the sums of w·x and
/// of x over all columns, and Wp and Xp those over the columns of partition p,
///
///     Σ v·x = 64·e0·X + (e1 − e0)·W + Σ 64·(e0p − e0)·Xp + ((e1p − e0p) − (e1 − e0))·Wp
///
/// with the ends e0, e1 of partition 0 and p from 1 on. Codes of three columns a byte are taken
/// apart where they lie, four columns of a row in each 32 bits.
///
/// Which columns are of a partition is a pattern of 16 bytes: byte i has bits of columns 4s + i, in
/// its bits 7 to 2 those of the first and second codes of three vectors, for partition 1; byte 4 + i
/// the third codes' in bits 7 to 5, and those of partition 2 in bits 3 to 1; byte 8 + i the first and
/// second codes' of partition 2. A bit is tested as the sign of a byte, shifted on step by step.
#pragma once

#include "ck_primitives_avx2.h"

#if defined(__x86_64__)

// Working memory of a tile: vectors of 32 bytes, those of a half side by side. Factors stand in both
// 16 bits of a row.
enum {
  /// Kind 2: four factors, see `ck_avx2_astc_pairs`; where the row's weights begin in their tables;
  /// planes. Two halves one after the other in each.
  CK_PAIRS_FACTORS = 0,
  CK_PAIRS_PLACES = 256,
  CK_PAIRS_PLANES = 320,
  /// Kind 3, for each half: e1 − e0 of partition 0, and what that of partitions 1 and 2 is more; the
  /// same of 64·e0; planes; where the row's weights begin; the bits of a byte that are codes, their
  /// base, and 65536 over it and over its square.
  CK_PARTS_SLOPE = 0,
  CK_PARTS_BASE = 96,
  CK_PARTS_PLANES = 192,
  CK_PARTS_PLACES = 288,
  CK_PARTS_MASK = 320,
  CK_PARTS_RADIX = 352,
  CK_PARTS_QUOTIENTS = 384,
  CK_PARTS_HALF_BYTES = 448,
};

/// Patterns of rows R and R + 4, whose places the macro ROW gives.
#define CK_TWO_PATTERNS(ROW, R) \
  _mm256_set_m128i(*(const ck_i128 *)(ROW((R) + 4)), *(const ck_i128 *)(ROW(R)))

/// Planes of 8 rows from their patterns, two at a time: of partition 1 the first and second codes'
/// and the third codes', and then of partition 2 the former.
static inline CK_AVX2 void ck_avx2_astc_planes(
    CK_INOUT planes, __m256i a, __m256i b, __m256i c, __m256i d, int count) {
  const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
  ck_i256 *plane = (ck_i256 *)planes;
  plane[0] = _mm256_unpacklo_epi64(ab, cd);
  plane[1] = _mm256_unpackhi_epi64(ab, cd);
  if (count > 2) {
    plane[2] =
        _mm256_unpacklo_epi64(_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
  }
}

/// Pairs of base and offset, in each 16 bits, to pairs of ends.
static inline CK_AVX2 __m256i ck_avx2_astc_offset_ends(__m256i pairs) {
  const __m256i low = _mm256_set1_epi16(0x3F), upper = _mm256_srli_epi16(pairs, 8);
  const __m256i base = _mm256_or_si256(
      _mm256_and_si256(_mm256_srli_epi16(pairs, 2), low),
      _mm256_and_si256(upper, _mm256_set1_epi16(0xC0)));
  const __m256i end = _mm256_adds_epu8(base, _mm256_and_si256(upper, low));
  return _mm256_or_si256(base, _mm256_slli_epi16(end, 8));
}

/// Bytes over a divisor, `by` being 65536 over it: exact for 6 and 36 where bytes are below 216, and
/// for 4 and 16.
static inline CK_AVX2 __m256i ck_avx2_astc_quotients(__m256i bytes, __m256i by) {
  const __m256i low = _mm256_set1_epi16(255);
  // Of 16 bits the upper byte of the quotient is that of the upper byte.
  return _mm256_blendv_epi8(
      _mm256_mulhi_epu16(bytes, by), _mm256_mulhi_epu16(_mm256_and_si256(bytes, low), by), low);
}

// MARK: Kind 2
//
// Five grid weights are 16 times their code, six are 13·k − u with k from 0 to 5 and u of 0 or 1:
// sums over all columns fit 16 bits.

/// 16 bits of 16 rows twice in the 32 bits of each row, a half after the other; the rows come as
/// 0 to 3, 8 to 11, 4 to 7, 12 to 15.
static inline CK_AVX2 void ck_avx2_astc_store_twice(CK_INOUT place, __m256i rows) {
  ((ck_i256 *)place)[0] = _mm256_unpacklo_epi16(rows, rows);
  ((ck_i256 *)place)[1] = _mm256_unpackhi_epi16(rows, rows);
}

/// All of a tile of kind 2 but the codes. Factors: of Σ k·x, of the same of partition 1, of Σ u·x
/// there (with two partitions u is 1), and 64·e0.
static inline CK_AVX2 void ck_avx2_astc_pairs(CK_INOUT parts, CK_IN side, CK_IN patterns) {
  const char *s = (const char *)side;
  char *out = (char *)parts;
#define CK_ROWS(V) _mm256_permute4x64_epi64(V, 0xD8)
  const __m256i low = CK_ROWS(_mm256_cvtepu8_epi16(*(const ck_i128 *)s));
  const __m256i high = CK_ROWS(_mm256_cvtepu8_epi16(*(const ck_i128 *)(s + 16)));
  // 12 bytes from 32 and from 44 on, as the last 12 of 16: later ones would not be the side's.
  const __m256i bytes = _mm256_shuffle_epi8(
      _mm256_set_m128i(*(const ck_i128 *)(s + 40), *(const ck_i128 *)(s + 28)),
      _mm256_broadcastsi128_si256(
          _mm_setr_epi8(4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13, 14, 14, 15)));
  // Even rows' 12 bits are the lower ones.
  const __m256i tags = CK_ROWS(_mm256_srli_epi16(
      _mm256_mullo_epi16(bytes, _mm256_set1_epi32(0x00010010)), 4));
#undef CK_ROWS
  const __m256i modes = _mm256_and_si256(tags, _mm256_set1_epi16(3));
  const __m256i ones = _mm256_cmpeq_epi16(modes, _mm256_setzero_si256());
  const __m256i hasOffset = _mm256_cmpeq_epi16(modes, _mm256_set1_epi16(3));
  // With one partition: all columns, of the patterns behind the 2048 of two and three.
  *(ck_i256 *)out = _mm256_or_si256(
      _mm256_slli_epi16(_mm256_sub_epi16(tags, modes), 2),
      _mm256_and_si256(ones, _mm256_set1_epi16((short)0x8000)));
  const uint16_t *offsets = (const uint16_t *)out;
  const char *p = (const char *)patterns;
  // The offsets are read before what follows takes their place.
#define CK_ROW0(R) (p + offsets[(R) < 4 ? (R) : (R) + 4])
#define CK_ROW1(R) (p + offsets[(R) < 4 ? (R) + 4 : (R) + 8])
  ck_avx2_astc_planes(
      out + CK_PAIRS_PLANES, CK_TWO_PATTERNS(CK_ROW0, 0), CK_TWO_PATTERNS(CK_ROW0, 1),
      CK_TWO_PATTERNS(CK_ROW0, 2), CK_TWO_PATTERNS(CK_ROW0, 3), 2);
  ck_avx2_astc_planes(
      out + CK_PAIRS_PLANES + 64, CK_TWO_PATTERNS(CK_ROW1, 0), CK_TWO_PATTERNS(CK_ROW1, 1),
      CK_TWO_PATTERNS(CK_ROW1, 2), CK_TWO_PATTERNS(CK_ROW1, 3), 2);
#undef CK_ROW0
#undef CK_ROW1
  const __m256i endpoints = _mm256_broadcastsi128_si256(_mm_setr_epi8(
      0, -1, 69, -70, 23, -24, 92, -93, 46, -47, 116, -117, 0, 0, 0, 0));
  // A byte's two numbers, of 12 levels.
#define CK_ENDS(V) \
  _mm256_shuffle_epi8( \
      endpoints, _mm256_and_si256( \
                     _mm256_or_si256(V, _mm256_slli_epi16(V, 4)), _mm256_set1_epi16(0x0F0F)))
  __m256i first = CK_ENDS(low), second = CK_ENDS(high);
#undef CK_ENDS
  first = _mm256_blendv_epi8(first, ck_avx2_astc_offset_ends(first), hasOffset);
  second = _mm256_blendv_epi8(second, ck_avx2_astc_offset_ends(second), hasOffset);
  first = _mm256_blendv_epi8(first, _mm256_or_si256(low, _mm256_slli_epi16(high, 8)), ones);
  const __m256i field = _mm256_set1_epi16(255);
  const __m256i base = _mm256_and_si256(first, field), base1 = _mm256_and_si256(second, field);
  const __m256i slope = _mm256_sub_epi16(_mm256_srli_epi16(first, 8), base);
  const __m256i slope1 = _mm256_sub_epi16(_mm256_srli_epi16(second, 8), base1);
  char *factors = out + CK_PAIRS_FACTORS;
  ck_avx2_astc_store_twice(
      factors, _mm256_mullo_epi16(
                   slope, _mm256_blendv_epi8(_mm256_set1_epi16(16), _mm256_set1_epi16(13), ones)));
  ck_avx2_astc_store_twice(
      factors + 64,
      _mm256_andnot_si256(ones, _mm256_slli_epi16(_mm256_sub_epi16(slope1, slope), 4)));
  ck_avx2_astc_store_twice(
      factors + 128, _mm256_blendv_epi8(
                         _mm256_slli_epi16(_mm256_sub_epi16(base1, base), 6),
                         _mm256_sub_epi16(_mm256_setzero_si256(), slope), ones));
  ck_avx2_astc_store_twice(factors + 192, _mm256_slli_epi16(base, 6));
  ck_avx2_astc_store_twice(
      out + CK_PAIRS_PLACES, _mm256_andnot_si256(ones, _mm256_set1_epi8(6)));
}

/// sums (8 × 32-bit) = Σ v·x over 36 columns of a half of a tile of kind 2, less `offset`; `total` is
/// Σ x. One half a call: both would be too much to be inlined.
static inline CK_AVX2 void ck_avx2_astc_pair_sums(
    CK_INOUT sums, CK_IN parts, CK_IN codes, CK_IN x, long h, int32_t total, int32_t offset) {
  const __m256i k = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 5, 1, 4, 2, 3, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0));
  const __m256i u = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0));
  const __m256i zero = _mm256_setzero_si256(), six = _mm256_set1_epi16(6);
  const char *a = (const char *)x;
  const char *c = (const char *)codes + 32 * h;
  const ck_i256 *vectors = (const ck_i256 *)parts + h;
  const __m256i places = vectors[CK_PAIRS_PLACES / 32];
  __m256i plane = vectors[CK_PAIRS_PLANES / 32 + h];
  __m256i last = vectors[CK_PAIRS_PLANES / 32 + h + 1];
  // At most 2·5·127 a step.
  __m256i sum = zero, sum1 = zero, rest = zero;
  _Pragma("clang loop unroll(full)") for (int z = 0; z < 3; ++z) {
    const __m256i t = *(const ck_i256 *)(c + 64 * z);
    const __m256i quotient = ck_avx2_astc_quotients(t, _mm256_set1_epi16(10923));
    const __m256i square = ck_avx2_astc_quotients(t, _mm256_set1_epi16(1821));
    // Six times a quotient fits a byte, so that the product of 16 bits is that of two bytes.
    const __m256i c0 = _mm256_sub_epi8(t, _mm256_mullo_epi16(quotient, six));
    const __m256i c1 = _mm256_sub_epi8(quotient, _mm256_mullo_epi16(square, six));
#define CK_STEP(CODES, COLUMN, PLANE) \
  do { \
    const __m256i place = _mm256_add_epi8(CODES, places); \
    const __m256i b = ck_avx2_splat(a + 12 * z + COLUMN); \
    const __m256i b1 = _mm256_blendv_epi8(zero, b, PLANE); \
    PLANE = _mm256_add_epi8(PLANE, PLANE); \
    const __m256i w = _mm256_shuffle_epi8(k, place); \
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(w, b)); \
    sum1 = _mm256_add_epi16(sum1, _mm256_maddubs_epi16(w, b1)); \
    rest = _mm256_add_epi16(rest, _mm256_maddubs_epi16(_mm256_shuffle_epi8(u, place), b1)); \
  } while (0)
    CK_STEP(c0, 0, plane);
    CK_STEP(c1, 4, plane);
    CK_STEP(square, 8, last);
#undef CK_STEP
  }
  const __m256i all = _mm256_add_epi32(
      _mm256_madd_epi16(vectors[6], _mm256_set1_epi32(total & 0xFFFF)),
      _mm256_madd_epi16(sum, vectors[0]));
  const __m256i parted = _mm256_add_epi32(
      _mm256_madd_epi16(sum1, vectors[2]), _mm256_madd_epi16(rest, vectors[4]));
  *(ck_i256 *)sums = _mm256_sub_epi32(_mm256_add_epi32(all, parted), _mm256_set1_epi32(offset));
}

// MARK: Kind 3

#define CK_PARTS(PLACE) (*(ck_i256 *)((char *)parts + (PLACE)))

/// The endpoints that numbers of 20 levels (0 to 19) and of 12 levels (20 to 31) stand for.
static inline CK_AVX2 __m256i ck_avx2_astc_endpoints(__m256i numbers) {
  const __m256i first = _mm256_broadcastsi128_si256(_mm_setr_epi8(
      0, -1, 67, -68, 13, -14, 80, -81, 27, -28, 94, -95, 40, -41, 107, -108));
  const __m256i other = _mm256_broadcastsi128_si256(_mm_setr_epi8(
      54, -55, 121, -122, 0, -1, 69, -70, 23, -24, 92, -93, 46, -47, 116, -117));
  // Bit 7 of a place is set where the number belongs to the other table.
  return _mm256_or_si256(
      _mm256_shuffle_epi8(first, _mm256_add_epi8(numbers, _mm256_set1_epi8(0x70))),
      _mm256_shuffle_epi8(other, _mm256_sub_epi8(numbers, _mm256_set1_epi8(16))));
}

/// The upper bits of a vector of codes of three partitions: an endpoint's number times `factor`.
static inline CK_AVX2 __m256i ck_avx2_astc_number(CK_IN codes, int factor) {
  const __m256i pairs = _mm256_and_si256(
      _mm256_srli_epi16(*(const ck_i256 *)codes, 6), _mm256_set1_epi8(3));
  return _mm256_madd_epi16(
      _mm256_maddubs_epi16(pairs, _mm256_set1_epi32(0x40100401)),
      _mm256_set1_epi16((short)factor));
}

/// Six numbers of every row of three partitions, and four of two: those of three in the first four
/// bytes of a row and two bytes of `others`.
static inline CK_AVX2 __m256i ck_avx2_astc_numbers(
    __m256i *_Nonnull others, CK_IN codes, __m256i low, __m256i high, __m256i threes) {
  const char *c = (const char *)codes;
  const __m256i nibbles = _mm256_or_si256(low, _mm256_slli_epi32(high, 16));
  const __m256i two = _mm256_add_epi8(
      _mm256_and_si256(
          _mm256_or_si256(nibbles, _mm256_slli_epi16(nibbles, 4)), _mm256_set1_epi16(0x0F0F)),
      _mm256_set1_epi8(20));
  const __m256i bits = _mm256_or_si256(low, _mm256_slli_epi32(high, 8));
  const __m256i three = _mm256_or_si256(
      _mm256_or_si256(
          _mm256_and_si256(bits, _mm256_set1_epi32(0x1F)),
          _mm256_and_si256(_mm256_slli_epi32(bits, 3), _mm256_set1_epi32(0x1F00))),
      _mm256_or_si256(
          _mm256_and_si256(_mm256_slli_epi32(bits, 6), _mm256_set1_epi32(0x1F0000)),
          _mm256_slli_epi32(ck_avx2_astc_number(c, 1), 24)));
  *others =
      _mm256_or_si256(ck_avx2_astc_number(c + 64, 1), ck_avx2_astc_number(c + 128, 256));
  return _mm256_blendv_epi8(two, three, threes);
}

/// Stores the factors of 8 rows: ends of partitions 0 and 1 in four bytes a row, of partition 2 in
/// two.
static inline CK_AVX2 void ck_avx2_astc_factors(CK_INOUT parts, __m256i ends, __m256i others) {
  // A byte of each row, twice in 16 bits.
#define CK_TWICE(V, B) \
  _mm256_shuffle_epi8( \
      V, _mm256_broadcastsi128_si256(_mm_setr_epi8( \
             B, -1, B, -1, B + 4, -1, B + 4, -1, B + 8, -1, B + 8, -1, B + 12, -1, B + 12, -1)))
  const __m256i base = CK_TWICE(ends, 0), slope = _mm256_sub_epi16(CK_TWICE(ends, 1), base);
  const __m256i base1 = CK_TWICE(ends, 2), slope1 = _mm256_sub_epi16(CK_TWICE(ends, 3), base1);
  const __m256i base2 = CK_TWICE(others, 0), slope2 = _mm256_sub_epi16(CK_TWICE(others, 1), base2);
#undef CK_TWICE
  CK_PARTS(CK_PARTS_SLOPE) = slope;
  CK_PARTS(CK_PARTS_SLOPE + 32) = _mm256_sub_epi16(slope1, slope);
  CK_PARTS(CK_PARTS_SLOPE + 64) = _mm256_sub_epi16(slope2, slope);
  CK_PARTS(CK_PARTS_BASE) = _mm256_slli_epi16(base, 6);
  CK_PARTS(CK_PARTS_BASE + 32) = _mm256_slli_epi16(_mm256_sub_epi16(base1, base), 6);
  CK_PARTS(CK_PARTS_BASE + 64) = _mm256_slli_epi16(_mm256_sub_epi16(base2, base), 6);
}

/// All of a tile of kind 3 but the codes.
static inline CK_AVX2 void ck_avx2_astc_parts(
    CK_INOUT tile, CK_IN codes, CK_IN side, CK_IN patterns) {
  const char *s = (const char *)side;
  const __m256i rows = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13, 14, 14, 15));
  _Pragma("clang loop unroll(disable)") for (int h = 0; h < 2; ++h) {
    char *parts = (char *)tile + CK_PARTS_HALF_BYTES * h;
    // As in `ck_avx2_astc_pairs`.
    const __m256i bytes = _mm256_shuffle_epi8(
        _mm256_broadcastsi128_si256(*(const ck_i128 *)(s + 28 + 12 * h)), rows);
    const __m256i tags = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(
        _mm256_srli_epi16(_mm256_mullo_epi16(bytes, _mm256_set1_epi32(0x00010010)), 4)));
    const __m256i modes = _mm256_and_si256(tags, _mm256_set1_epi32(3));
    const __m256i ones = _mm256_cmpeq_epi32(modes, _mm256_setzero_si256());
    const __m256i threes = _mm256_cmpeq_epi32(modes, _mm256_set1_epi32(2));
    // Patterns of three partitions from 1024 on; with one, no columns: from 2050 on.
    const __m256i more = _mm256_or_si256(
        _mm256_and_si256(ones, _mm256_set1_epi32(2050 * 16)),
        _mm256_and_si256(threes, _mm256_set1_epi32(1024 * 16)));
    CK_PARTS(0) = _mm256_add_epi32(_mm256_slli_epi32(_mm256_sub_epi32(tags, modes), 2), more);
    // The offsets are read before what follows takes their place.
    const int32_t *offsets = (const int32_t *)parts;
#define CK_ROW(R) ((const char *)patterns + offsets[R])
    ck_avx2_astc_planes(
        parts + CK_PARTS_PLANES, CK_TWO_PATTERNS(CK_ROW, 0), CK_TWO_PATTERNS(CK_ROW, 1),
        CK_TWO_PATTERNS(CK_ROW, 2), CK_TWO_PATTERNS(CK_ROW, 3), 3);
#undef CK_ROW
    const __m256i low = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(s + 8 * h)));
    const __m256i high = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(s + 16 + 8 * h)));
    __m256i others;
    const __m256i numbers =
        ck_avx2_astc_numbers(&others, (const char *)codes + 32 * h, low, high, threes);
    // Two partitions have an offset where the tag has both bits.
    const __m256i hasOffset = _mm256_or_si256(
        _mm256_cmpeq_epi32(modes, _mm256_set1_epi32(3)),
        _mm256_and_si256(threes, _mm256_cmpgt_epi32(high, _mm256_set1_epi32(127))));
    __m256i ends = ck_avx2_astc_endpoints(numbers);
    others = ck_avx2_astc_endpoints(others);
    ends = _mm256_blendv_epi8(ends, ck_avx2_astc_offset_ends(ends), hasOffset);
    others = _mm256_blendv_epi8(others, ck_avx2_astc_offset_ends(others), hasOffset);
    ends = _mm256_blendv_epi8(ends, _mm256_or_si256(low, _mm256_slli_epi32(high, 8)), ones);
    ck_avx2_astc_factors(parts, ends, others);
    CK_PARTS(CK_PARTS_PLACES) = _mm256_add_epi8(
        _mm256_andnot_si256(ones, _mm256_set1_epi8(6)),
        _mm256_and_si256(threes, _mm256_set1_epi8(5)));
#define CK_EITHER(A, B) _mm256_blendv_epi8(_mm256_set1_epi16(A), _mm256_set1_epi16(B), threes)
    CK_PARTS(CK_PARTS_MASK) = CK_EITHER(-1, 0x3F3F);
    CK_PARTS(CK_PARTS_RADIX) = CK_EITHER(6, 4);
    CK_PARTS(CK_PARTS_QUOTIENTS) = CK_EITHER(10923, 16384);
    CK_PARTS(CK_PARTS_QUOTIENTS + 32) = CK_EITHER(1821, 4096);
#undef CK_EITHER
  }
}

/// sums (16 × 32-bit) = Σ v·x over 36 columns of a tile of kind 3, less `offset`; `total` is Σ x.
static inline CK_AVX2 void ck_avx2_astc_part_sums(
    CK_INOUT sums, CK_IN tile, CK_IN codes, CK_IN x, int32_t total, int32_t offset) {
  const __m256i weights = _mm256_broadcastsi128_si256(_mm_setr_epi8(
      0, 64, 12, 52, 25, 39, 0, 16, 32, 48, 64, 0, 21, 43, 64, 0));
  const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi8(1);
  const char *a = (const char *)x;
  _Pragma("clang loop unroll(disable)") for (int h = 0; h < 2; ++h) {
    const char *c = (const char *)codes + 32 * h;
    const char *parts = (const char *)tile + CK_PARTS_HALF_BYTES * h;
    __m256i first = CK_PARTS(CK_PARTS_PLANES), second = CK_PARTS(CK_PARTS_PLANES + 64);
    __m256i last = CK_PARTS(CK_PARTS_PLANES + 32), lastOfSecond = _mm256_slli_epi16(last, 4);
    __m256i sum = _mm256_sub_epi32(
        _mm256_madd_epi16(CK_PARTS(CK_PARTS_BASE), _mm256_set1_epi32(total & 0xFFFF)),
        _mm256_set1_epi32(offset));
    __m256i x1 = zero, x2 = zero;
    _Pragma("clang loop unroll(disable)") for (int z = 0; z < 3; ++z) {
      const __m256i t =
          _mm256_and_si256(*(const ck_i256 *)(c + 64 * z), CK_PARTS(CK_PARTS_MASK));
      const __m256i quotient = ck_avx2_astc_quotients(t, CK_PARTS(CK_PARTS_QUOTIENTS));
      const __m256i square = ck_avx2_astc_quotients(t, CK_PARTS(CK_PARTS_QUOTIENTS + 32));
      // As in `ck_avx2_astc_pair_sums`.
      const __m256i radix = CK_PARTS(CK_PARTS_RADIX), places = CK_PARTS(CK_PARTS_PLACES);
      const __m256i c0 = _mm256_sub_epi8(t, _mm256_mullo_epi16(quotient, radix));
      const __m256i c1 = _mm256_sub_epi8(quotient, _mm256_mullo_epi16(square, radix));
      const __m256i w0 = _mm256_shuffle_epi8(weights, _mm256_add_epi8(c0, places));
      const __m256i w1 = _mm256_shuffle_epi8(weights, _mm256_add_epi8(c1, places));
      const __m256i w2 = _mm256_shuffle_epi8(weights, _mm256_add_epi8(square, places));
      const __m256i a0 = ck_avx2_splat(a + 12 * z), a1 = ck_avx2_splat(a + 12 * z + 4);
      const __m256i a2 = ck_avx2_splat(a + 12 * z + 8);
      // Four products of at most 64·127 fit 16 bits.
#define CK_ADD(SLOPE, A0, A1, A2) \
  sum = _mm256_add_epi32( \
      sum, _mm256_madd_epi16( \
               _mm256_add_epi16(_mm256_maddubs_epi16(w0, A0), _mm256_maddubs_epi16(w1, A1)), \
               CK_PARTS(SLOPE))); \
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(w2, A2), CK_PARTS(SLOPE)))
      // A partition's activations, zeros elsewhere.
#define CK_PARTITION(SLOPE, PLANE, LAST, XSUM) \
  do { \
    const __m256i b0 = _mm256_blendv_epi8(zero, a0, PLANE); \
    PLANE = _mm256_add_epi8(PLANE, PLANE); \
    const __m256i b1 = _mm256_blendv_epi8(zero, a1, PLANE); \
    PLANE = _mm256_add_epi8(PLANE, PLANE); \
    const __m256i b2 = _mm256_blendv_epi8(zero, a2, LAST); \
    LAST = _mm256_add_epi8(LAST, LAST); \
    const __m256i b01 = \
        _mm256_add_epi16(_mm256_maddubs_epi16(one, b0), _mm256_maddubs_epi16(one, b1)); \
    XSUM = _mm256_add_epi16(XSUM, _mm256_add_epi16(b01, _mm256_maddubs_epi16(one, b2))); \
    CK_ADD(SLOPE, b0, b1, b2); \
  } while (0)
      CK_ADD(CK_PARTS_SLOPE, a0, a1, a2);
      CK_PARTITION(CK_PARTS_SLOPE + 32, first, last, x1);
      CK_PARTITION(CK_PARTS_SLOPE + 64, second, lastOfSecond, x2);
#undef CK_PARTITION
#undef CK_ADD
    }
    ((ck_i256 *)sums)[h] = _mm256_add_epi32(
        sum, _mm256_add_epi32(
                 _mm256_madd_epi16(x1, CK_PARTS(CK_PARTS_BASE + 32)),
                 _mm256_madd_epi16(x2, CK_PARTS(CK_PARTS_BASE + 64))));
  }
}

#undef CK_PARTS
#endif
