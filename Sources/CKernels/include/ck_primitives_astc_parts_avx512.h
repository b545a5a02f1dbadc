/// Primitives of the `avx512vnni` level for ASTC tiles whose blocks have partitions (kinds 2 and 3):
/// the sums of ck_primitives_astc_parts_avx2.h, 16 rows at a time; they need VBMI and VBMI2 too.
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
// where the row's grid weights begin; which rows have three partitions, as bits.
enum {
  CK_PART_PLANES = 0,
  CK_PART_SLOPES = 192,
  CK_PART_BASES = 384,
  CK_PART_PLACES = 576,
  CK_PART_THREES = 640,
};

#define CK_PART(PLACE) (*(ck_i512 *)((char *)parts + (PLACE)))

/// All of a tile of kind 2 or 3 but the codes.
static inline CK_AVX512_VBMI void ck_avx512_astc_parts(
    CK_INOUT parts, CK_IN codes, CK_IN side, CK_IN patterns, int isThree) {
  const char *s = (const char *)side, *c = (const char *)codes;
  const __m512i tags = ck_avx512_astc_tags(side), three = _mm512_set1_epi32(3);
  const __m512i modes = _mm512_and_si512(tags, three);
  const __mmask16 ones = _mm512_testn_epi32_mask(modes, modes);
  const __mmask16 threes = isThree ? _mm512_cmpeq_epi32_mask(modes, _mm512_set1_epi32(2)) : 0;
  __mmask16 hasOffset = _mm512_cmpeq_epi32_mask(modes, three);
  // Patterns of 16 bytes: those of three partitions from 1024 on; with one, no columns: from 2050 on.
  __m512i offsets = _mm512_slli_epi32(_mm512_sub_epi32(tags, modes), 2);
  offsets = _mm512_mask_add_epi32(offsets, ones, offsets, _mm512_set1_epi32(2050 * 16));
  if (isThree) {
    offsets = _mm512_mask_add_epi32(offsets, threes, offsets, _mm512_set1_epi32(1024 * 16));
    *(uint16_t *)((char *)parts + CK_PART_THREES) = threes;
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
    CK_PART(CK_PART_PLANES + 128) =
        _mm512_unpacklo_epi64(_mm512_unpackhi_epi32(r0, r1), _mm512_unpackhi_epi32(r2, r3));
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
#define CK_BYTE(V, B) \
  _mm512_and_si512(_mm512_srli_epi32(V, 8 * (B)), _mm512_set1_epi32(255))
  const __m512i base = CK_BYTE(ends, 0), slope = _mm512_sub_epi32(CK_BYTE(ends, 1), base);
  const __m512i base1 = CK_BYTE(ends, 2);
  const __m512i slope1 = _mm512_sub_epi32(_mm512_srli_epi32(ends, 24), base1);
  CK_PART(CK_PART_SLOPES) = slope;
  CK_PART(CK_PART_SLOPES + 64) = _mm512_sub_epi32(slope1, slope);
  CK_PART(CK_PART_BASES) = _mm512_slli_epi32(base, 6);
  CK_PART(CK_PART_BASES + 64) = _mm512_slli_epi32(_mm512_sub_epi32(base1, base), 6);
  __m512i places = _mm512_maskz_mov_epi32(~ones, _mm512_set1_epi8(6));
  if (isThree) {
    const __m512i base2 = CK_BYTE(third, 0), slope2 = _mm512_sub_epi32(CK_BYTE(third, 1), base2);
    CK_PART(CK_PART_SLOPES + 128) = _mm512_sub_epi32(slope2, slope);
    CK_PART(CK_PART_BASES + 128) = _mm512_slli_epi32(_mm512_sub_epi32(base2, base), 6);
    places = _mm512_mask_mov_epi32(places, threes, _mm512_set1_epi8(11));
  }
#undef CK_BYTE
  CK_PART(CK_PART_PLACES) = places;
}

/// sums (16 × 32-bit) = Σ v·x over 36 columns of a tile of kind 2 or 3, less `offset`; `total` is
/// Σ x.
static inline CK_AVX512_VBMI void ck_avx512_astc_part_sums(
    CK_INOUT sums, CK_IN parts, CK_IN codes, CK_IN x, int32_t total, int32_t offset,
    int isThree) {
  const char *c = (const char *)codes, *a = (const char *)x;
  const __mmask16 threes = isThree ? *(const uint16_t *)((const char *)parts + CK_PART_THREES) : 0;
  __m512i plane = CK_PART(CK_PART_PLANES), last = CK_PART(CK_PART_PLANES + 64);
  __m512i second = isThree ? CK_PART(CK_PART_PLANES + 128) : _mm512_setzero_si512();
  const __m512i places = CK_PART(CK_PART_PLACES);
  const __m512i weights = _mm512_broadcast_i32x4(_mm_setr_epi8(
      0, 64, 12, 52, 25, 39, 0, 16, 32, 48, 64, 0, 21, 43, 64, 0));
  const __m512i one = _mm512_set1_epi8(1);
  __m512i w = _mm512_setzero_si512(), w1 = w, w2 = w, x1 = w, x2 = w;
  // A loop in the code too: it has to stay small enough to be inlined.
  _Pragma("clang loop unroll(disable)") for (int z = 0; z < 3; ++z) {
    __m512i code[3];
    ck_avx512_astc_triples(code, *(const ck_i512 *)(c + 64 * z), threes, isThree);
    _Pragma("clang loop unroll(full)") for (int d = 0; d < 3; ++d) {
      const __m512i v = _mm512_shuffle_epi8(weights, _mm512_add_epi8(code[d], places));
      const __m512i b = ck_avx512_splat(a + 12 * z + 4 * d);
      const __m512i bit = _mm512_set1_epi8((char)(d == 1 ? 64 : 128));
      const __m512i b1 =
          _mm512_maskz_mov_epi8(_mm512_test_epi8_mask(d < 2 ? plane : last, bit), b);
      w = _mm512_dpbusd_epi32(w, v, b);
      w1 = _mm512_dpbusd_epi32(w1, v, b1);
      x1 = _mm512_dpbusd_epi32(x1, one, b1);
      if (!isThree) continue;
      const __m512i bit2 = _mm512_set1_epi8((char)(d == 0 ? 128 : d == 1 ? 64 : 8));
      const __m512i b2 =
          _mm512_maskz_mov_epi8(_mm512_test_epi8_mask(d < 2 ? second : last, bit2), b);
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

#undef CK_PART
#endif
