/// Primitives of the `avx512vnni` level for ASTC tiles whose blocks have partitions (kinds 2 and 3):
/// sums of such tiles, 16 rows at a time; they need VBMI and VBMI2 too.
///
/// A row's values are lines in the grid weights w, one a partition: with W and X the sums of w·x and
/// of x over all columns, and Wp and Xp those over the columns of partition p,
///
///     Σ v·x = 64·e0·X + (e1 − e0)·W + Σ 64·(e0p − e0)·Xp + ((e1p − e0p) − (e1 − e0))·Wp
///
/// with the ends e0, e1 of partition 0 and p from 1 on. A row of logarithms is one line too, in what
/// its codes stand for.
#pragma once

#include "ck_primitives_astc_avx512.h"

#if defined(__x86_64__)

/// The tags of 16 rows, 32 bits each.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_tags(CK_IN side) {
  const __m512i bytes = _mm512_castsi256_si512(*(const ck_i256 *)((const char *)side + 24));
  // Of row r bits 12·r on, from byte 8 on.
  const __m512i places = _mm512_set_epi32(
      0x1F1E, 0x1E1D, 0x1C1B, 0x1B1A, 0x1918, 0x1817, 0x1615, 0x1514, 0x1312, 0x1211, 0x100F,
      0x0F0E, 0x0D0C, 0x0C0B, 0x0A09, 0x0908);
  return _mm512_and_si512(
      _mm512_srlv_epi32(_mm512_permutexvar_epi8(places, bytes), _mm512_set4_epi32(4, 0, 4, 0)),
      _mm512_set1_epi32(0xFFF));
}

/// 16 bytes of each of rows r, r + 4, r + 8 and r + 12.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_patterns(
    CK_IN patterns, const int32_t *_Nonnull offsets, int r) {
  const char *p = (const char *)patterns;
#define CK_ROW(R) _mm512_broadcast_i32x4(*(const ck_i128 *)(p + offsets[R]))
  const __m512i a = _mm512_mask_mov_epi32(CK_ROW(r), 0x00F0, CK_ROW(r + 4));
  const __m512i b = _mm512_mask_mov_epi32(a, 0x0F00, CK_ROW(r + 8));
  return _mm512_mask_mov_epi32(b, 0xF000, CK_ROW(r + 12));
#undef CK_ROW
}

/// Pairs of base and offset, in each 16 bits, to pairs of ends.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_offset_ends(__m512i pairs) {
  const __m512i low = _mm512_set1_epi16(0x3F), upper = _mm512_srli_epi16(pairs, 8);
  // (pairs >> 2 & 0x3F) | (upper & 0xC0).
  const __m512i base = _mm512_ternarylogic_epi64(
      _mm512_and_si512(_mm512_srli_epi16(pairs, 2), low), upper, _mm512_set1_epi16(0xC0), 0xF8);
  const __m512i end = _mm512_adds_epu8(base, _mm512_and_si512(upper, low));
  return _mm512_or_si512(base, _mm512_slli_epi16(end, 8));
}

/// The endpoints that numbers of 20 levels (0 to 19) and of 12 levels (20 to 31) stand for.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_endpoints(__m512i numbers) {
  const __m512i ends = _mm512_castsi256_si512(_mm256_setr_epi8(
      0, -1, 67, -68, 13, -14, 80, -81, 27, -28, 94, -95, 40, -41, 107, -108, 54, -55, 121, -122, 0,
      -1, 69, -70, 23, -24, 92, -93, 46, -47, 116, -117));
  return _mm512_permutexvar_epi8(numbers, ends);
}

/// The upper bits of a vector of codes of three partitions: an endpoint's number.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_number(CK_IN codes) {
  const __m512i pairs = _mm512_and_si512(
      _mm512_srli_epi16(*(const ck_i512 *)codes, 6), _mm512_set1_epi8(3));
  return _mm512_dpbusd_epi32(_mm512_setzero_si512(), pairs, _mm512_set1_epi32(0x00100401));
}

/// Codes of three columns a byte to three vectors; of the rows of `threes` four codes each.
static inline CK_AVX512_VBMI void ck_avx512_astc_triples(
    __m512i *_Nonnull c, __m512i t, __mmask16 threes, int isThree) {
  // Half of the triple says all but the first code's lowest bit.
#define CK_TABLE(T, CODE) \
  static const uint8_t T[128] = {CK_HALVES(CODE, 0), CK_HALVES(CODE, 36), CK_HALVES(CODE, 72)}
#define CK_HALVES(CODE, B) \
  CK_NINE(CODE, B), CK_NINE(CODE, B + 9), CK_NINE(CODE, B + 18), CK_NINE(CODE, B + 27)
#define CK_NINE(CODE, B) \
  CODE((B)), CODE((B + 1)), CODE((B + 2)), CODE((B + 3)), CODE((B + 4)), CODE((B + 5)), \
      CODE((B + 6)), CODE((B + 7)), CODE((B + 8))
#define CK_FIRST(H) ((H) % 3 * 2)
#define CK_SECOND(H) ((H) / 3 % 6)
#define CK_THIRD(H) ((H) / 18)
  CK_TABLE(firsts, CK_FIRST);
  CK_TABLE(seconds, CK_SECOND);
  CK_TABLE(thirds, CK_THIRD);
#undef CK_TABLE
#undef CK_HALVES
#undef CK_NINE
#undef CK_FIRST
#undef CK_SECOND
#undef CK_THIRD
  // The look-up ignores bit 7, which may be a neighbour's.
  const __m512i half = _mm512_srli_epi16(t, 1);
#define CK_CODES(T) \
  _mm512_permutex2var_epi8(*(const ck_i512 *)(T), half, *(const ck_i512 *)(T + 64))
  // first | (t & 1).
  c[0] = _mm512_ternarylogic_epi64(CK_CODES(firsts), t, _mm512_set1_epi8(1), 0xF8);
  c[1] = CK_CODES(seconds);
  c[2] = CK_CODES(thirds);
#undef CK_CODES
  if (isThree) {
    const __m512i field = _mm512_set1_epi8(3);
    c[0] = _mm512_mask_and_epi32(c[0], threes, t, field);
    c[1] = _mm512_mask_and_epi32(c[1], threes, _mm512_srli_epi16(t, 2), field);
    c[2] = _mm512_mask_and_epi32(c[2], threes, _mm512_srli_epi16(t, 4), field);
  }
}

// Working memory of a tile, 64 bytes each: planes as the patterns of ck_primitives_astc_parts_avx2.h
// have them; e1 − e0 of partition 0, and what that of partitions 1 and 2 is more; the same of 64·e0;
// where the row's grid weights begin; as bits, which rows have one or three partitions, which an
// offset, and which are logarithms; ends of partitions 0 and 1, and of partition 2, a byte each; what
// values are more, 16 bits.
enum {
  CK_PART_PLANES = 0,
  CK_PART_SLOPES = 192,
  CK_PART_BASES = 384,
  CK_PART_PLACES = 576,
  CK_PART_ONES = 640,
  CK_PART_THREES = 642,
  CK_PART_OFFSETS = 644,
  CK_PART_LOGS = 646,
  CK_PART_ENDS = 704,
  CK_PART_OFFSET = 832,
};

#define CK_PART(PLACE) (*(ck_i512 *)((char *)parts + (PLACE)))
#define CK_PART_ROWS(PLACE) (*(uint16_t *)((char *)parts + (PLACE)))

/// Tags and patterns of a tile of kind 2 or 3.
static inline CK_AVX512_VBMI void ck_avx512_astc_part_planes(
    CK_INOUT parts, CK_IN side, CK_IN patterns, int isThree) {
  const __m512i tags = ck_avx512_astc_tags(side), three = _mm512_set1_epi32(3);
  const __m512i modes = _mm512_and_si512(tags, three);
  const __mmask16 ones = _mm512_testn_epi32_mask(modes, modes);
  const __mmask16 threes = isThree ? _mm512_cmpeq_epi32_mask(modes, _mm512_set1_epi32(2)) : 0;
  CK_PART_ROWS(CK_PART_ONES) = ones;
  CK_PART_ROWS(CK_PART_OFFSETS) = _mm512_cmpeq_epi32_mask(modes, three);
  CK_PART_ROWS(CK_PART_LOGS) = _mm512_cmpeq_epi32_mask(tags, _mm512_set1_epi32(4));
  // Patterns of 16 bytes: those of three partitions from 1024 on; with one, no columns: from 2050 on.
  __m512i offsets = _mm512_slli_epi32(_mm512_sub_epi32(tags, modes), 2);
  offsets = _mm512_mask_add_epi32(offsets, ones, offsets, _mm512_set1_epi32(2050 * 16));
  if (isThree) {
    offsets = _mm512_mask_add_epi32(offsets, threes, offsets, _mm512_set1_epi32(1024 * 16));
    CK_PART_ROWS(CK_PART_THREES) = threes;
  }
  CK_PART(0) = offsets;
  const int32_t *o = (const int32_t *)parts;
  const __m512i r0 = ck_avx512_astc_patterns(patterns, o, 0);
  const __m512i r1 = ck_avx512_astc_patterns(patterns, o, 1);
  const __m512i r2 = ck_avx512_astc_patterns(patterns, o, 2);
  const __m512i r3 = ck_avx512_astc_patterns(patterns, o, 3);
  const __m512i r01 = _mm512_unpacklo_epi32(r0, r1), r23 = _mm512_unpacklo_epi32(r2, r3);
  CK_PART(CK_PART_PLANES) = _mm512_unpacklo_epi64(r01, r23);
  CK_PART(CK_PART_PLANES + 64) = _mm512_unpackhi_epi64(r01, r23);
  if (isThree) {
    CK_PART(CK_PART_PLANES + 128) =
        _mm512_unpacklo_epi64(_mm512_unpackhi_epi32(r0, r1), _mm512_unpackhi_epi32(r2, r3));
  }
}

/// The rest of such a tile but the codes: factors for sums, or ends for values, which are taken
/// `center` less.
static inline CK_AVX512_VBMI void ck_avx512_astc_part_ends(
    CK_INOUT parts, CK_IN codes, CK_IN side, int center, int isThree, int forValues) {
  const char *s = (const char *)side, *c = (const char *)codes;
  const __mmask16 ones = CK_PART_ROWS(CK_PART_ONES);
  const __mmask16 threes = isThree ? CK_PART_ROWS(CK_PART_THREES) : 0;
  __mmask16 hasOffset = CK_PART_ROWS(CK_PART_OFFSETS);
  const __m512i bits = _mm512_or_si512(
      _mm512_cvtepu8_epi32(*(const ck_i128 *)s),
      _mm512_slli_epi32(_mm512_cvtepu8_epi32(*(const ck_i128 *)(s + 16)), 8));
  // Four numbers of four bits each, with two rows in a lane.
  __m512i numbers = _mm512_add_epi8(
      _mm512_and_si512(
          _mm512_multishift_epi64_epi8(CK_BYTES512(0, 4, 8, 12, 32, 36, 40, 44), bits),
          _mm512_set1_epi8(15)),
      _mm512_set1_epi8(20));
  __m512i third = _mm512_setzero_si512();
  if (isThree) {
    const __m512i four =
        _mm512_or_si512(bits, _mm512_slli_epi32(ck_avx512_astc_number(c), 24));
    numbers = _mm512_mask_and_epi32(
        numbers, threes,
        _mm512_multishift_epi64_epi8(CK_BYTES512(0, 5, 10, 24, 32, 37, 42, 56), four),
        _mm512_set1_epi8(31));
    third = ck_avx512_astc_endpoints(_mm512_or_si512(
        ck_avx512_astc_number(c + 64), _mm512_slli_epi32(ck_avx512_astc_number(c + 128), 8)));
    hasOffset |= _mm512_mask_test_epi32_mask(threes, bits, _mm512_set1_epi32(0x8000));
    third = _mm512_mask_mov_epi32(third, hasOffset, ck_avx512_astc_offset_ends(third));
  }
  __m512i ends = ck_avx512_astc_endpoints(numbers);
  ends = _mm512_mask_mov_epi32(ends, hasOffset, ck_avx512_astc_offset_ends(ends));
  ends = _mm512_mask_mov_epi32(ends, ones, bits);
  __m512i places = _mm512_maskz_mov_epi32(~ones, _mm512_set1_epi8(6));
  if (isThree) places = _mm512_mask_mov_epi32(places, threes, _mm512_set1_epi8(11));
  CK_PART(CK_PART_PLACES) = places;
  if (forValues) {
    CK_PART(CK_PART_ENDS) = ends;
    CK_PART(CK_PART_ENDS + 64) = third;
    CK_PART(CK_PART_OFFSET) = _mm512_set1_epi16((short)-center);
    return;
  }
#define CK_BYTE(V, B) \
  _mm512_and_si512(_mm512_srli_epi32(V, 8 * (B)), _mm512_set1_epi32(255))
  const __m512i base = CK_BYTE(ends, 0), slope = _mm512_sub_epi32(CK_BYTE(ends, 1), base);
  const __m512i base1 = CK_BYTE(ends, 2);
  const __m512i slope1 = _mm512_sub_epi32(_mm512_srli_epi32(ends, 24), base1);
  CK_PART(CK_PART_SLOPES) = slope;
  CK_PART(CK_PART_SLOPES + 64) = _mm512_sub_epi32(slope1, slope);
  CK_PART(CK_PART_BASES) = _mm512_slli_epi32(base, 6);
  CK_PART(CK_PART_BASES + 64) = _mm512_slli_epi32(_mm512_sub_epi32(base1, base), 6);
  if (isThree) {
    const __m512i base2 = CK_BYTE(third, 0), slope2 = _mm512_sub_epi32(CK_BYTE(third, 1), base2);
    CK_PART(CK_PART_SLOPES + 128) = _mm512_sub_epi32(slope2, slope);
    CK_PART(CK_PART_BASES + 128) = _mm512_slli_epi32(_mm512_sub_epi32(base2, base), 6);
  }
#undef CK_BYTE
}

/// The rows of a tile that are logarithms, as bits.
static inline CK_AVX512_VBMI uint32_t ck_avx512_astc_logs(CK_IN parts) {
  return CK_PART_ROWS(CK_PART_LOGS);
}

/// Has those rows be palettes, from their factors. Values are from a palette in which 64 stands for
/// zero.
static inline CK_AVX512_VBMI void ck_avx512_astc_part_logs(
    CK_INOUT parts, CK_IN slope, CK_IN base, int forValues) {
  const __mmask16 logs = CK_PART_ROWS(CK_PART_LOGS);
  const __m512i power = _mm512_cvttps_epi32(*(const ck_f512 *)slope);
  const __m512i first = _mm512_cvttps_epi32(*(const ck_f512 *)base);
  if (forValues) {
    const __m512i lowest = _mm512_add_epi32(first, _mm512_slli_epi32(power, 6));
    CK_PART(CK_PART_ENDS) = _mm512_mask_slli_epi32(CK_PART(CK_PART_ENDS), logs, power, 8);
    CK_PART(CK_PART_OFFSET) = _mm512_mask_or_epi32(
        CK_PART(CK_PART_OFFSET), logs, lowest, _mm512_slli_epi32(lowest, 16));
  } else {
    CK_PART(CK_PART_SLOPES) = _mm512_mask_mov_epi32(CK_PART(CK_PART_SLOPES), logs, power);
    CK_PART(CK_PART_BASES) = _mm512_mask_mov_epi32(CK_PART(CK_PART_BASES), logs, first);
  }
}

/// The grid weights of six, five and four codes, from 0, 6 and 11 on.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_part_weights(void) {
  return _mm512_broadcast_i32x4(_mm_setr_epi8(
      0, 64, 12, 52, 25, 39, 0, 16, 32, 48, 64, 0, 21, 43, 64, 0));
}

/// What a step's codes stand for. With rows of logarithms the tables are those of
/// `ck_avx512_astc_two_tables`, less `zero`.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_part_codes(
    CK_IN parts, __m512i codes, CK_IN tables, int hasLogs, int zero) {
  const __m512i w = _mm512_shuffle_epi8(
      ck_avx512_astc_part_weights(), _mm512_add_epi8(codes, CK_PART(CK_PART_PLACES)));
  if (!hasLogs) return w;
  const __mmask16 logs = CK_PART_ROWS(CK_PART_LOGS);
  const ck_i512 *t = (const ck_i512 *)tables;
  const __m512i q = ck_avx512_astc_look_up(t[0], t[1], codes);
  return _mm512_mask_mov_epi32(w, logs, _mm512_sub_epi8(q, _mm512_set1_epi8((char)zero)));
}

/// The columns of a step, code d of three, in partitions 1 and 2.
static inline CK_AVX512_VBMI __mmask64 ck_avx512_astc_first(int d, __m512i plane, __m512i last) {
  return _mm512_test_epi8_mask(d < 2 ? plane : last, _mm512_set1_epi8((char)(d == 1 ? 64 : 128)));
}

static inline CK_AVX512_VBMI __mmask64 ck_avx512_astc_second(int d, __m512i plane, __m512i last) {
  return _mm512_test_epi8_mask(
      d < 2 ? plane : last, _mm512_set1_epi8((char)(d == 0 ? 128 : d == 1 ? 64 : 8)));
}

/// sums (16 × 32-bit) = Σ v·x over 36 columns of a tile of kind 2 or 3, less `offset`; `total` is
/// Σ x.
static inline CK_AVX512_VBMI void ck_avx512_astc_part_sums(
    CK_INOUT sums, CK_IN parts, CK_IN codes, CK_IN x, CK_IN tables, int32_t total, int32_t offset,
    int isThree, int hasLogs) {
  const char *c = (const char *)codes, *a = (const char *)x;
  const __mmask16 threes = isThree ? CK_PART_ROWS(CK_PART_THREES) : 0;
  __m512i plane = CK_PART(CK_PART_PLANES), last = CK_PART(CK_PART_PLANES + 64);
  __m512i second = isThree ? CK_PART(CK_PART_PLANES + 128) : _mm512_setzero_si512();
  const __m512i one = _mm512_set1_epi8(1);
  __m512i w = _mm512_setzero_si512(), w1 = w, w2 = w, x1 = w, x2 = w;
  // A loop in the code too: it has to stay small enough to be inlined.
  _Pragma("clang loop unroll(disable)") for (int z = 0; z < 3; ++z) {
    __m512i code[3];
    ck_avx512_astc_triples(code, *(const ck_i512 *)(c + 64 * z), threes, isThree);
    _Pragma("clang loop unroll(full)") for (int d = 0; d < 3; ++d) {
      const __m512i v = ck_avx512_astc_part_codes(parts, code[d], tables, hasLogs, 0);
      const __m512i b = ck_avx512_splat(a + 12 * z + 4 * d);
      const __m512i b1 = _mm512_maskz_mov_epi8(ck_avx512_astc_first(d, plane, last), b);
      w = _mm512_dpbusd_epi32(w, v, b);
      w1 = _mm512_dpbusd_epi32(w1, v, b1);
      x1 = _mm512_dpbusd_epi32(x1, one, b1);
      if (!isThree) continue;
      const __m512i b2 = _mm512_maskz_mov_epi8(ck_avx512_astc_second(d, second, last), b);
      w2 = _mm512_dpbusd_epi32(w2, v, b2);
      x2 = _mm512_dpbusd_epi32(x2, one, b2);
    }
    // What goes on into a neighbour's low bits is not looked at.
    plane = _mm512_slli_epi16(plane, 2);
    last = _mm512_slli_epi16(last, 1);
    if (isThree) second = _mm512_slli_epi16(second, 2);
  }
#define CK_TERM(FACTOR, SUM) _mm512_mullo_epi32(CK_PART(FACTOR), SUM)
  __m512i sum = _mm512_sub_epi32(
      CK_TERM(CK_PART_BASES, _mm512_set1_epi32(total)), _mm512_set1_epi32(offset));
  sum = _mm512_add_epi32(sum, CK_TERM(CK_PART_SLOPES, w));
  sum = _mm512_add_epi32(sum, CK_TERM(CK_PART_SLOPES + 64, w1));
  sum = _mm512_add_epi32(sum, CK_TERM(CK_PART_BASES + 64, x1));
  if (isThree) {
    sum = _mm512_add_epi32(sum, CK_TERM(CK_PART_SLOPES + 128, w2));
    sum = _mm512_add_epi32(sum, CK_TERM(CK_PART_BASES + 128, x2));
  }
#undef CK_TERM
  *(ck_i512 *)sums = sum;
}

/// A step of four columns to two of two columns: 16 bits of rows 0 and 1, and of rows 2 and 3 of a
/// lane, more by `offset`.
static inline CK_AVX512_VBMI void ck_avx512_astc_store_values(
    CK_INOUT values, long stride, __m512i low, __m512i high, __m512i offset) {
  const __m512 a = _mm512_castsi512_ps(low), b = _mm512_castsi512_ps(high);
  *(ck_i512 *)values =
      _mm512_add_epi16(_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88)), offset);
  *(ck_i512 *)((char *)values + stride) =
      _mm512_add_epi16(_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xDD)), offset);
}

/// 18 steps of the values of a tile of kind 2 or 3, 16 bits each, two columns of 16 rows a step.
///
/// A value is e0·(64 − w) + e1·w, one product of two pairs of bytes.
static inline CK_AVX512_VBMI void ck_avx512_astc_values(
    CK_INOUT values, CK_IN parts, CK_IN codes, CK_IN tables, long stride, int isThree,
    int hasLogs) {
  const char *c = (const char *)codes;
  char *v = (char *)values;
  const __mmask16 threes = isThree ? CK_PART_ROWS(CK_PART_THREES) : 0;
  __m512i plane = CK_PART(CK_PART_PLANES), last = CK_PART(CK_PART_PLANES + 64);
  __m512i second = isThree ? CK_PART(CK_PART_PLANES + 128) : _mm512_setzero_si512();
  const __m512i ends = CK_PART(CK_PART_ENDS), third = CK_PART(CK_PART_ENDS + 64);
  // A byte of each row in its four columns.
#define CK_END(V, B) \
  _mm512_shuffle_epi8( \
      V, _mm512_broadcast_i32x4(_mm_setr_epi8( \
             B, B, B, B, B + 4, B + 4, B + 4, B + 4, B + 8, B + 8, B + 8, B + 8, B + 12, B + 12, \
             B + 12, B + 12)))
  _Pragma("clang loop unroll(disable)") for (int z = 0; z < 3; ++z) {
    __m512i code[3];
    ck_avx512_astc_triples(code, *(const ck_i512 *)(c + 64 * z), threes, isThree);
    _Pragma("clang loop unroll(full)") for (int d = 0; d < 3; ++d) {
      const __m512i w = ck_avx512_astc_part_codes(parts, code[d], tables, hasLogs, 64);
      const __m512i rest = _mm512_sub_epi8(_mm512_set1_epi8(64), w);
      const __mmask64 m = ck_avx512_astc_first(d, plane, last);
      __m512i e0 = _mm512_mask_mov_epi8(CK_END(ends, 0), m, CK_END(ends, 2));
      __m512i e1 = _mm512_mask_mov_epi8(CK_END(ends, 1), m, CK_END(ends, 3));
      if (isThree) {
        const __mmask64 n = ck_avx512_astc_second(d, second, last);
        e0 = _mm512_mask_mov_epi8(e0, n, CK_END(third, 0));
        e1 = _mm512_mask_mov_epi8(e1, n, CK_END(third, 1));
      }
      ck_avx512_astc_store_values(
          v, stride,
          _mm512_maddubs_epi16(_mm512_unpacklo_epi8(e0, e1), _mm512_unpacklo_epi8(rest, w)),
          _mm512_maddubs_epi16(_mm512_unpackhi_epi8(e0, e1), _mm512_unpackhi_epi8(rest, w)),
          CK_PART(CK_PART_OFFSET));
      v += 2 * stride;
    }
    // As in `ck_avx512_astc_part_sums`.
    plane = _mm512_slli_epi16(plane, 2);
    last = _mm512_slli_epi16(last, 1);
    if (isThree) second = _mm512_slli_epi16(second, 2);
  }
#undef CK_END
}

/// The same of a tile of kind 0 or 1, of which `bytes` has nine steps of w: base + slope·w.
static inline CK_AVX512_VBMI void ck_avx512_astc_line_values(
    CK_INOUT values, CK_IN bytes, CK_IN slope, CK_IN base, long stride) {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i s = _mm512_cvttps_epi32(*(const ck_f512 *)slope);
  const __m512i b = _mm512_cvttps_epi32(*(const ck_f512 *)base);
  // In both 16 bits of a row.
  const __m512i slopes = _mm512_mask_mov_epi16(s, 0xAAAAAAAA, _mm512_slli_epi32(s, 16));
  const __m512i offset = _mm512_mask_mov_epi16(b, 0xAAAAAAAA, _mm512_slli_epi32(b, 16));
  const __m512i low = _mm512_unpacklo_epi32(slopes, slopes);
  const __m512i high = _mm512_unpackhi_epi32(slopes, slopes);
  char *v = (char *)values;
  _Pragma("clang loop unroll(disable)") for (int step = 0; step < 9; ++step) {
    const __m512i w = ((const ck_i512 *)bytes)[step];
    ck_avx512_astc_store_values(
        v, stride, _mm512_mullo_epi16(_mm512_unpacklo_epi8(w, zero), low),
        _mm512_mullo_epi16(_mm512_unpackhi_epi8(w, zero), high), offset);
    v += 2 * stride;
  }
}

/// 36 activations of 16 bits.
static inline CK_AVX512_VBMI void ck_avx512_astc_widen(CK_INOUT wide, CK_IN x) {
  const char *a = (const char *)x;
  *(ck_i512 *)wide = _mm512_cvtepi8_epi16(*(const ck_i256 *)a);
  *(ck_i64 *)((char *)wide + 64) =
      _mm_cvtsi128_si64(_mm_cvtepi8_epi16(_mm_cvtsi32_si128(*(const ck_i32 *)(a + 32))));
}

/// Two tiles of one panel: both accumulators (32-bit) += values of 2 columns times their activations
/// of 16 bits.
static inline CK_AVX512_VBMI void ck_avx512_astc_panel_values(
    CK_INOUT acc0, CK_INOUT acc1, CK_IN values, CK_IN wide) {
  __m512i sum0 = *(const ck_i512 *)acc0, sum1 = *(const ck_i512 *)acc1;
  const __m512i x0 = ck_avx512_splat(wide);
  // Written out: the compiler would take two instructions for one, to save latency. And both products
  // are done before the next step, as in `ck_avx512_panel`.
#define CK_PRODUCT(SUM, TILE) \
  __asm__ volatile("vpdpwssd %2, %1, %0" \
                   : "+v"(SUM) \
                   : "v"(x0), "v"(((const ck_i512 *)values)[TILE]))
  CK_PRODUCT(sum0, 0);
  CK_PRODUCT(sum1, 1);
#undef CK_PRODUCT
  *(ck_i512 *)acc0 = sum0;
  *(ck_i512 *)acc1 = sum1;
}

#undef CK_PART
#undef CK_PART_ROWS
#endif
