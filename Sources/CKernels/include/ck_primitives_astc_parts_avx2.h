/// Primitives of the `avx2` level for ASTC tiles whose blocks have partitions (kinds 2 and 3): their
/// patterns and ends, and sums over tiles of kind 2.
///
/// A row's values are lines in the grid weights w, one a partition: with W and X the sums of w·x and
/// of x over all columns, and W1 and X1 those over the columns of partition 1,
///
///     Σ v·x = 64·e0·X + (e1 − e0)·W + 64·(e01 − e0)·X1 + ((e11 − e01) − (e1 − e0))·W1
///
/// with the ends e0, e1 of partition 0 and e01, e11 of partition 1. Codes of three columns a byte are
/// taken apart where they lie, four columns of a row in each 32 bits.
///
/// Which columns are of a partition is a pattern of 16 bytes: byte i has bits of columns 4s + i, in
/// its bits 7 to 2 those of the first and second codes of three vectors, for partition 1; byte 4 + i
/// the third codes' in bits 7 to 5, and those of partition 2 in bits 3 to 1; byte 8 + i the first and
/// second codes' of partition 2. A bit is tested as the sign of a byte, shifted on step by step.
#pragma once

#include "ck_primitives_avx2.h"

#if defined(__x86_64__)

/// Working memory of a tile of kind 2, vectors of 32 bytes, two halves one after the other in each:
/// four factors, see `ck_avx2_astc_pairs`, in both 16 bits of a row; where the row's weights begin in
/// their tables; planes.
enum {
  CK_PAIRS_FACTORS = 0,
  CK_PAIRS_PLACES = 256,
  CK_PAIRS_PLANES = 320,
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

#endif
