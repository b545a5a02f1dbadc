/// Primitives of the `avx512vnni` level for products with ASTC tiles (layout 2); they need VBMI and
/// VBMI2 too.
#pragma once

#include "ck_targets.h"

#if defined(__x86_64__)

/// The same eight bytes in every 64-bit lane, lowest first.
#define CK_BYTES512(A, B, C, D, E, F, G, H) \
  _mm512_set1_epi64( \
      (long long)((uint64_t)(A) | (uint64_t)(B) << 8 | (uint64_t)(C) << 16 | \
                  (uint64_t)(D) << 24 | (uint64_t)(E) << 32 | (uint64_t)(F) << 40 | \
                  (uint64_t)(G) << 48 | (uint64_t)(H) << 56))

/// The places of a step's eight codes in its lane, from a bit on.
#define CK_ASTC_STEP(BIT) \
  CK_BYTES512( \
      (BIT), (BIT) + 3, (BIT) + 6, (BIT) + 9, (BIT) + 12, (BIT) + 15, (BIT) + 18, (BIT) + 21)

/// The grid weights of the six codes in every eight bytes.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_weights(void) {
  return CK_BYTES512(0, 64, 12, 52, 25, 39, 0, 0);
}

/// The tail's 64 codes of three bits, with bits of others above them.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_tail(CK_IN side) {
  // The last 32 bytes of endpoints and tails: three bytes of tail a lane, from byte 8 on.
  const __m512i tail = _mm512_castsi256_si512(*(const ck_i256 *)((const char *)side + 24));
  const __m512i places = _mm512_set_epi64(
      0x1F1E1D, 0x1C1B1A, 0x191817, 0x161514, 0x131211, 0x100F0E, 0x0D0C0B, 0x0A0908);
  return _mm512_multishift_epi64_epi8(CK_ASTC_STEP(0), _mm512_permutexvar_epi8(places, tail));
}

/// Nine steps of 64 codes of three bits, with bits of others above them.
static inline CK_AVX512_VBMI void ck_avx512_astc_steps(__m512i *_Nonnull v, CK_IN codes, CK_IN side) {
  const char *c = (const char *)codes;
  const __m512i q0 = *(const ck_i512 *)c, q1 = *(const ck_i512 *)(c + 64);
  const __m512i q2 = *(const ck_i512 *)(c + 128);
  // Bits 48 to 111 and 96 to 159 of each lane's 192.
  const __m512i t0 = _mm512_shrdi_epi64(q0, q1, 48), t1 = _mm512_shrdi_epi64(q1, q2, 32);
  v[0] = _mm512_multishift_epi64_epi8(CK_ASTC_STEP(0), q0);
  v[1] = _mm512_multishift_epi64_epi8(CK_ASTC_STEP(24), q0);
  v[2] = _mm512_multishift_epi64_epi8(CK_ASTC_STEP(0), t0);
  v[3] = _mm512_multishift_epi64_epi8(CK_ASTC_STEP(24), t0);
  v[4] = _mm512_multishift_epi64_epi8(CK_ASTC_STEP(0), t1);
  v[5] = _mm512_multishift_epi64_epi8(CK_ASTC_STEP(24), t1);
  v[6] = _mm512_multishift_epi64_epi8(CK_ASTC_STEP(16), q2);
  v[7] = _mm512_multishift_epi64_epi8(CK_ASTC_STEP(40), q2);
  v[8] = ck_avx512_astc_tail(side);
}

/// sums (16 × 32-bit) = Σ w·x over the 36 columns of a tile of kind 0, w the grid weights.
static inline CK_AVX512_VBMI void ck_avx512_astc_line_sums(
    CK_INOUT sums, CK_IN codes, CK_IN side, CK_IN x) {
  __m512i v[9], sum = _mm512_setzero_si512();
  const __m512i w = ck_avx512_astc_weights();
  ck_avx512_astc_steps(v, codes, side);
  _Pragma("clang loop unroll(full)") for (int s = 0; s < 9; ++s) {
    // The look-up ignores the upper bits: its 64 bytes repeat the same eight.
    sum = _mm512_dpbusd_epi32(
        sum, _mm512_permutexvar_epi8(v[s], w), ck_avx512_splat((const char *)x + 4 * s));
  }
  *(ck_i512 *)sums = sum;
}

/// Kind 0: slope = e1 − e0 and base = 64·e0 − center of 16 rows, in binary32.
static inline CK_AVX512_VBMI void ck_avx512_astc_line(
    CK_INOUT slope, CK_INOUT base, CK_IN side, float center) {
  const __m512i e0 = _mm512_cvtepu8_epi32(*(const ck_i128 *)side);
  const __m512i e1 = _mm512_cvtepu8_epi32(*(const ck_i128 *)((const char *)side + 16));
  *(ck_f512 *)slope = _mm512_cvtepi32_ps(_mm512_sub_epi32(e1, e0));
  *(ck_f512 *)base =
      _mm512_fmsub_ps(_mm512_cvtepi32_ps(e0), _mm512_set1_ps(64), _mm512_set1_ps(center));
}

/// total = slope·sums + base·x, rounded once: base·x is exact.
static inline CK_AVX512_VBMI void ck_avx512_astc_total(
    CK_INOUT total, CK_IN sums, CK_IN slope, CK_IN base, float x) {
  const __m512 s = _mm512_cvtepi32_ps(*(const ck_i512 *)sums);
  const __m512 offset = _mm512_mul_ps(*(const ck_f512 *)base, _mm512_set1_ps(x));
  *(ck_f512 *)total = _mm512_fmadd_ps(*(const ck_f512 *)slope, s, offset);
}

/// Nine steps of the grid weights of kind 0, 64 bytes each, `stride` bytes apart.
static inline CK_AVX512_VBMI void ck_avx512_astc_unpack_line(
    CK_INOUT panel, CK_IN codes, CK_IN side, long stride) {
  __m512i v[9];
  ck_avx512_astc_steps(v, codes, side);
  _Pragma("clang loop unroll(full)") for (int s = 0; s < 9; ++s) {
    *(ck_i512 *)((char *)panel + s * stride) =
        _mm512_permutexvar_epi8(v[s], ck_avx512_astc_weights());
  }
}

// What the codes of a tile of kind 1 stand for: two vectors, of the lanes of 128 bits, j holding for
// rows 4j and 4j + 2 (the first), and for rows 4j + 1 and 4j + 3 (the second), eight bytes each.

/// 16 bytes of each of two tiles, 16 bits each.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_bytes(CK_IN side, long stride) {
  const char *s = (const char *)side;
  return _mm512_cvtepu8_epi16(_mm256_inserti128_si256(
      _mm256_castsi128_si256(*(const ck_i128 *)s), *(const ck_i128 *)(s + stride), 1));
}

/// The rows of two tiles of kind 1 that are lines.
static inline CK_AVX512_VBMI uint32_t ck_avx512_astc_lines(CK_IN side, long stride) {
  const char *s = (const char *)side + 88;
  return ~((uint32_t) * (const uint16_t *)s | (uint32_t) * (const uint16_t *)(s + stride) << 16);
}

/// As `ck_avx2_astc_palette`, of two tiles whose side records are `stride` bytes apart, in 16 bits:
/// five vectors of q of the codes 1 to 5, then slopes, bases, and 102 more than the exponents of
/// units, which are 0 of rows that are lines: bits of `lines`, the second tile's above the first's.
static inline CK_AVX512_VBMI void ck_avx512_astc_palettes(
    CK_INOUT palettes, CK_IN side, long stride, uint32_t lines) {
  const char *s = (const char *)side;
  const __m512i v0 = ck_avx512_astc_bytes(s, stride), v1 = ck_avx512_astc_bytes(s + 16, stride);
  const __mmask32 coarse = _mm512_cmpgt_epi16_mask(v0, _mm512_set1_epi16(127));
  __m512i low = _mm512_slli_epi16(_mm512_and_si512(v0, _mm512_set1_epi16(0x7F)), 1);
  low = _mm512_mask_add_epi16(low, coarse, low, low);
  const __m512i high = _mm512_and_si512(
      v1, _mm512_mask_mov_epi16(_mm512_set1_epi16(0xF0), coarse, _mm512_set1_epi16(0xE0)));
  const __m512i start = _mm512_or_si512(low, _mm512_slli_epi16(high, 4));
  __m512i width = _mm512_slli_epi16(_mm512_sub_epi16(v1, high), 1);
  width = _mm512_mask_add_epi16(width, coarse, width, width);
  width = _mm512_min_epi16(width, _mm512_sub_epi16(_mm512_set1_epi16(0xFFF), start));
  const __m512i octave = _mm512_srli_epi16(start, 7);
  const __mmask32 lowest = _mm512_testn_epi16_mask(octave, octave);
  const __mmask32 above = _mm512_cmpgt_epi16_mask(octave, _mm512_set1_epi16(29));
  const __mmask32 highest = _mm512_cmpgt_epi16_mask(octave, _mm512_set1_epi16(30));
  const __m512i cap =
      _mm512_mask_mov_epi16(_mm512_set1_epi16(0x7FFF), above, _mm512_set1_epi16(2047));
  width = _mm512_maskz_mov_epi16(~highest, width);
  const __m512i ends = _mm512_or_si512(
      width, _mm512_slli_epi16(_mm512_and_si512(start, _mm512_set1_epi16(127)), 8));
  const __m512i slopes = _mm512_broadcast_i32x4(_mm_setr_epi16(3, 4, 4, 5, 3, 4, 4, 5));
  const __m512i starts = _mm512_broadcast_i32x4(
      _mm_setr_epi16(8192, 7680, 7680, 6144, 2048, -512, -512, -4096));
  const int weights[6] = {0, 64, 12, 52, 25, 39};
  __m512i value[6];
  _Pragma("clang loop unroll(full)") for (int c = 0; c < 6; ++c) {
    const __m512i sum =
        _mm512_maddubs_epi16(ends, _mm512_set1_epi16((short)(weights[c] | 64 << 8)));
    const __m512i u = _mm512_min_epi16(_mm512_mulhrs_epi16(sum, _mm512_set1_epi16(0x2000)), cap);
    const __m512i piece = _mm512_srli_epi16(u, 9);
    const __m512i product = _mm512_mullo_epi16(_mm512_permutexvar_epi16(piece, slopes), u);
    const __m512i v = _mm512_srli_epi16(
        _mm512_add_epi16(product, _mm512_permutexvar_epi16(piece, starts)), 3);
    const __mmask32 next = _mm512_cmpgt_epi16_mask(u, _mm512_set1_epi16(2047));
    const __m512i more = _mm512_mask_mov_epi16(v, lowest, _mm512_set1_epi16(1024));
    value[c] = _mm512_mask_add_epi16(v, next, v, more);
  }
  __m512i first =
      _mm512_mask_sub_epi16(value[0], lowest, value[0], _mm512_set1_epi16(1024));
  first = _mm512_mask_mov_epi16(first, highest, _mm512_set1_epi16(2047));
  // What is above seven bits of the largest difference, below 32: 2^(15 − shift), which is 32767
  // without a shift since the rounding makes up for it, and 2^shift.
  const __m512i top = _mm512_srli_epi16(_mm512_sub_epi16(value[1], value[0]), 7);
  static const int16_t factors[32] = {
      32767, 16384, 8192, 8192, 4096, 4096, 4096, 4096, 2048, 2048, 2048, 2048, 2048, 2048, 2048,
      2048, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024,
      1024, 1024};
  static const int16_t powers[32] = {1,  2,  4,  4,  8,  8,  8,  8,  16, 16, 16,
                                     16, 16, 16, 16, 16, 32, 32, 32, 32, 32, 32,
                                     32, 32, 32, 32, 32, 32, 32, 32, 32, 32};
  const __m512i factor = _mm512_permutexvar_epi16(top, *(const ck_i512 *)factors);
  ck_i512 *out = (ck_i512 *)palettes;
  _Pragma("clang loop unroll(full)") for (int c = 1; c < 6; ++c) {
    const __m512i q = _mm512_mulhrs_epi16(_mm512_sub_epi16(value[c], value[0]), factor);
    out[c - 1] = _mm512_mask_mov_epi16(q, lines, _mm512_set1_epi16((short)weights[c]));
  }
  out[5] = _mm512_mask_sub_epi16(
      _mm512_permutexvar_epi16(top, *(const ck_i512 *)powers), lines, v1, v0);
  out[6] = _mm512_mask_slli_epi16(first, lines, v0, 6);
  const __m512i exponent =
      _mm512_max_epi16(_mm512_min_epi16(octave, _mm512_set1_epi16(30)), _mm512_set1_epi16(1));
  out[7] = _mm512_maskz_add_epi16(~lines, exponent, _mm512_set1_epi16(102));
}

/// The tables of two tiles, two vectors each, from those.
static inline CK_AVX512_VBMI void ck_avx512_astc_two_tables(CK_INOUT tables, CK_IN palettes) {
  const ck_i512 *q = (const ck_i512 *)palettes;
  // Two, four and eight entries of a row side by side, as in `ck_avx2_astc_palette`.
  const __m512i a = _mm512_slli_epi16(q[0], 8);
  const __m512i b = _mm512_or_si512(q[1], _mm512_slli_epi16(q[2], 8));
  const __m512i c = _mm512_or_si512(q[3], _mm512_slli_epi16(q[4], 8));
  const __m512i zero = _mm512_setzero_si512();
  const __m512i ab0 = _mm512_unpacklo_epi16(a, b), ab1 = _mm512_unpackhi_epi16(a, b);
  const __m512i c0 = _mm512_unpacklo_epi16(c, zero), c1 = _mm512_unpackhi_epi16(c, zero);
  const __m512i r01 = _mm512_unpacklo_epi32(ab0, c0), r23 = _mm512_unpackhi_epi32(ab0, c0);
  const __m512i r45 = _mm512_unpacklo_epi32(ab1, c1), r67 = _mm512_unpackhi_epi32(ab1, c1);
  const __m512i r02 = _mm512_unpacklo_epi64(r01, r23), r13 = _mm512_unpackhi_epi64(r01, r23);
  const __m512i r46 = _mm512_unpacklo_epi64(r45, r67), r57 = _mm512_unpackhi_epi64(r45, r67);
  const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  ck_i512 *t = (ck_i512 *)tables;
  t[0] = _mm512_permutex2var_epi64(r02, first, r46);
  t[1] = _mm512_permutex2var_epi64(r13, first, r57);
  t[2] = _mm512_permutex2var_epi64(r02, second, r46);
  t[3] = _mm512_permutex2var_epi64(r13, second, r57);
}

/// Slope, base and unit of the first or the second (i is 1) of two tiles.
static inline CK_AVX512_VBMI void ck_avx512_astc_two_factors(
    CK_INOUT slope, CK_INOUT base, CK_INOUT unit, CK_IN palettes, long i) {
  const ck_i256 *p = (const ck_i256 *)palettes + i;
  *(ck_f512 *)slope = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(p[10]));
  *(ck_f512 *)base = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(p[12]));
  const __m512i exponent = _mm512_cvtepi16_epi32(p[14]);
  *(ck_f512 *)unit = _mm512_mask_mov_ps(
      _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23)),
      _mm512_testn_epi32_mask(exponent, exponent), _mm512_set1_ps(CK_ASTC_FRACTION));
}

/// The places of codes, whose upper bits are others', in a table; the second row of a lane of 128
/// bits has its eight entries behind the first one's.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_places(__m512i codes) {
  const __m512i seven = _mm512_set1_epi8(7);
  const __m512i second = _mm512_set4_epi64(0x0808080808080808, 0, 0x0808080808080808, 0);
  // (codes & 7) | second.
  return _mm512_ternarylogic_epi64(codes, seven, second, 0xEA);
}

/// Looks up a step's codes, four of each row.
static inline CK_AVX512_VBMI __m512i ck_avx512_astc_look_up(
    __m512i even, __m512i odd, __m512i codes) {
  const __m512i eight = _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0);
  const __m512i places = _mm512_ternarylogic_epi64(codes, _mm512_set1_epi8(7), eight, 0xEA);
  return _mm512_mask_shuffle_epi8(
      _mm512_shuffle_epi8(even, places), 0xF0F0F0F0F0F0F0F0, odd, places);
}

/// Nine steps of what the codes of kind 1 stand for, 64 bytes each, `stride` bytes apart.
static inline CK_AVX512_VBMI void ck_avx512_astc_unpack(
    CK_INOUT panel, CK_IN codes, CK_IN side, CK_IN tables, long stride) {
  const __m512i even = ((const ck_i512 *)tables)[0], odd = ((const ck_i512 *)tables)[1];
  __m512i v[9];
  ck_avx512_astc_steps(v, codes, side);
  _Pragma("clang loop unroll(full)") for (int s = 0; s < 9; ++s) {
    *(ck_i512 *)((char *)panel + s * stride) = ck_avx512_astc_look_up(even, odd, v[s]);
  }
}

/// sums (16 × 32-bit) = Σ q·x over the 36 columns of a tile of kind 1.
static inline CK_AVX512_VBMI void ck_avx512_astc_palette_sums(
    CK_INOUT sums, CK_IN codes, CK_IN side, CK_IN x, CK_IN tables) {
  const char *c = (const char *)codes, *a = (const char *)x;
  const __m512i even = ((const ck_i512 *)tables)[0], odd = ((const ck_i512 *)tables)[1];
  const __m512i q0 = *(const ck_i512 *)c, q1 = *(const ck_i512 *)(c + 64);
  const __m512i q2 = *(const ck_i512 *)(c + 128);
  const __m512i t0 = _mm512_shrdi_epi64(q0, q1, 48), t1 = _mm512_shrdi_epi64(q1, q2, 32);
  __m512i e = _mm512_setzero_si512(), o = _mm512_setzero_si512();
  const __m512i words[4] = {q0, t0, t1, q2};
  // Two steps of one row in a lane of 64 bits.
  _Pragma("clang loop unroll(full)") for (int i = 0; i < 4; ++i) {
    const int b = i == 3 ? 16 : 0;
    const __m512i first = CK_BYTES512(b, b + 3, b + 6, b + 9, b + 24, b + 27, b + 30, b + 33);
    const __m512i other =
        CK_BYTES512(b + 12, b + 15, b + 18, b + 21, b + 36, b + 39, b + 42, b + 45);
    const __m512i y = _mm512_set1_epi64(*(const ck_i64 *)(a + 8 * i));
    const __m512i f = ck_avx512_astc_places(_mm512_multishift_epi64_epi8(first, words[i]));
    const __m512i g = ck_avx512_astc_places(_mm512_multishift_epi64_epi8(other, words[i]));
    e = _mm512_dpbusd_epi32(e, _mm512_shuffle_epi8(even, f), y);
    o = _mm512_dpbusd_epi32(o, _mm512_shuffle_epi8(odd, g), y);
  }
  // One sum a row: those of the even row in the lower 32 bits of a lane.
  const __m512i both = _mm512_mask_add_epi32(
      _mm512_add_epi32(e, _mm512_srli_epi64(e, 32)), 0xAAAA, o, _mm512_slli_epi64(o, 32));
  const __m512i q = ck_avx512_astc_look_up(even, odd, ck_avx512_astc_tail(side));
  *(ck_i512 *)sums = _mm512_dpbusd_epi32(both, q, ck_avx512_splat(a + 32));
}

#endif
