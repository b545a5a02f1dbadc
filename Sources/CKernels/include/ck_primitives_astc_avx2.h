/// Primitives of the `avx2` level for products with ASTC tiles (layout 2): 16 rows × 36 columns.
///
/// A lane of 64 bits of the tile's three code vectors is 24 bytes of two rows: a step of 24 bits,
/// 12 of each row, after another. A half is 8 rows, one register of each vector.
#pragma once

#include "ck_targets.h"

#if defined(__x86_64__)

/// The same eight bytes in every 64-bit lane, lowest first.
#define CK_BYTES(A, B, C, D, E, F, G, H) \
  _mm256_set1_epi64x( \
      (long long)((uint64_t)(A) | (uint64_t)(B) << 8 | (uint64_t)(C) << 16 | \
                  (uint64_t)(D) << 24 | (uint64_t)(E) << 32 | (uint64_t)(F) << 40 | \
                  (uint64_t)(G) << 48 | (uint64_t)(H) << 56))

/// The grid weights of the six codes, twice.
static inline CK_AVX2 __m256i ck_avx2_astc_weights(void) {
  return CK_BYTES(0, 64, 12, 52, 25, 39, 0, 0);
}

// What the codes of a tile stand for: four vectors, two of each half. Of the lanes of 128 bits, j
// holds for rows 4j and 4j + 2 (the first), and for rows 4j + 1 and 4j + 3 (the second), eight bytes
// each.

/// Bytes 0, 1 and 2 of all steps of a half, byte p of a lane those of step 0, 3, 6, 1, 4, 7, 2, 5.
static inline CK_AVX2 void ck_avx2_astc_bytes(__m256i *_Nonnull b, CK_IN codes, int h) {
  const char *c = (const char *)codes + 32 * h;
  const __m256i q0 = *(const ck_i256 *)c, q1 = *(const ck_i256 *)(c + 64);
  const __m256i q2 = *(const ck_i256 *)(c + 128);
  const __m256i m036 = CK_BYTES(255, 0, 0, 255, 0, 0, 255, 0);
  const __m256i m147 = CK_BYTES(0, 255, 0, 0, 255, 0, 0, 255);
  const __m256i m25 = CK_BYTES(0, 0, 255, 0, 0, 255, 0, 0);
  b[0] = _mm256_blendv_epi8(_mm256_blendv_epi8(q0, q1, m147), q2, m25);
  // Those of bytes 1 and 2 stand one and two places on.
  const __m256i c1 = _mm256_blendv_epi8(_mm256_blendv_epi8(q0, q1, m25), q2, m036);
  const __m256i c2 = _mm256_blendv_epi8(_mm256_blendv_epi8(q0, q1, m036), q2, m147);
  const __m256i one = _mm256_setr_epi8(
      1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12,
      13, 14, 15, 8);
  const __m256i two = _mm256_setr_epi8(
      2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9, 2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13,
      14, 15, 8, 9);
  b[1] = _mm256_shuffle_epi8(c1, one);
  b[2] = _mm256_shuffle_epi8(c2, two);
}

/// Codes of three bits out of those bytes, eight of one row in a lane: of even rows columns 4s to
/// 4s + 3.
static inline CK_AVX2 void ck_avx2_astc_even(__m256i *_Nonnull f, __m256i b0, __m256i b1) {
  const __m256i seven = _mm256_set1_epi8(7);
  f[0] = _mm256_and_si256(b0, seven);
  f[1] = _mm256_and_si256(_mm256_srli_epi16(b0, 3), seven);
  f[2] = _mm256_or_si256(
      _mm256_and_si256(_mm256_srli_epi16(b0, 6), _mm256_set1_epi8(3)),
      _mm256_and_si256(_mm256_slli_epi16(b1, 2), _mm256_set1_epi8(4)));
  f[3] = _mm256_and_si256(_mm256_srli_epi16(b1, 1), seven);
}

/// The same of odd rows.
static inline CK_AVX2 void ck_avx2_astc_odd(__m256i *_Nonnull f, __m256i b1, __m256i b2) {
  const __m256i seven = _mm256_set1_epi8(7);
  f[0] = _mm256_and_si256(_mm256_srli_epi16(b1, 4), seven);
  f[1] = _mm256_or_si256(
      _mm256_and_si256(_mm256_srli_epi16(b1, 7), _mm256_set1_epi8(1)),
      _mm256_and_si256(_mm256_slli_epi16(b2, 1), _mm256_set1_epi8(6)));
  f[2] = _mm256_and_si256(_mm256_srli_epi16(b2, 2), seven);
  f[3] = _mm256_and_si256(_mm256_srli_epi16(b2, 5), seven);
}

/// Activations of columns 0 to 31 in the order of the planes: lane i holds columns 4s + i.
static inline CK_AVX2 __m256i ck_avx2_astc_activations(CK_IN x) {
  const __m256i columns = _mm256_setr_epi8(
      0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14,
      3, 7, 11, 15);
  const __m256i a = _mm256_shuffle_epi8(*(const ck_i256 *)x, columns);
  const __m256i b = _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  const __m256i steps = _mm256_setr_epi8(
      0, 3, 6, 1, 4, 7, 2, 5, 8, 11, 14, 9, 12, 15, 10, 13, 0, 3, 6, 1, 4, 7, 2, 5, 8, 11, 14, 9,
      12, 15, 10, 13);
  return _mm256_shuffle_epi8(b, steps);
}

/// The low 12 bits in every 32 to four codes of three bits.
static inline CK_AVX2 __m256i ck_avx2_astc_spread(__m256i bits) {
  const __m256i t = _mm256_and_si256(
      _mm256_blend_epi16(bits, _mm256_slli_epi32(bits, 10), 0xAA), _mm256_set1_epi16(0x3F));
  return _mm256_and_si256(
      _mm256_or_si256(t, _mm256_slli_epi16(t, 5)), _mm256_set1_epi8(7));
}

/// The tail of a half, columns 32 to 35: four codes of each row, row after row.
static inline CK_AVX2 __m256i ck_avx2_astc_tail(CK_IN side, int h) {
  // 12 bytes from 32 and from 44 on, as the last 12 of 16: later ones would not be the side's.
  const __m128i bytes = *(const ck_i128 *)((const char *)side + 28 + 12 * h);
  const __m256i places = _mm256_setr_epi8(
      4, 5, -1, -1, 5, 6, -1, -1, 7, 8, -1, -1, 8, 9, -1, -1, 10, 11, -1, -1, 11, 12, -1, -1, 13,
      14, -1, -1, 14, 15, -1, -1);
  const __m256i rows = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), places);
  return ck_avx2_astc_spread(
      _mm256_srlv_epi32(rows, _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4)));
}

/// Looks up codes that lie row after row, four of each.
static inline CK_AVX2 __m256i ck_avx2_astc_look_up(
    CK_IN tables, int h, __m256i codes) {
  const ck_i256 *table = (const ck_i256 *)tables + 2 * h;
  const __m256i places = _mm256_or_si256(
      codes, _mm256_setr_epi32(0, 0, 0x08080808, 0x08080808, 0, 0, 0x08080808, 0x08080808));
  return _mm256_blend_epi32(
      _mm256_shuffle_epi8(table[0], places), _mm256_shuffle_epi8(table[1], places), 0xAA);
}

/// Two sums of 32 bits a row in every lane, of even and of odd rows, to one a row.
static inline CK_AVX2 __m256i ck_avx2_astc_join(__m256i even, __m256i odd) {
  return _mm256_shuffle_epi32(_mm256_hadd_epi32(even, odd), 0xD8);
}

/// sums (16 × 32-bit) = Σ w·x over the 36 columns of a tile of kind 0, w the grid weights.
static inline CK_AVX2 void ck_avx2_astc_line_sums(
    CK_INOUT sums, CK_IN codes, CK_IN side, CK_IN x) {
  const __m256i y = ck_avx2_astc_activations(x), ones = _mm256_set1_epi16(1);
  const __m256i y0 = _mm256_permute4x64_epi64(y, 0x00), y1 = _mm256_permute4x64_epi64(y, 0x55);
  const __m256i y2 = _mm256_permute4x64_epi64(y, 0xAA), y3 = _mm256_permute4x64_epi64(y, 0xFF);
  const __m256i last = _mm256_set1_epi32(*(const ck_i32 *)((const char *)x + 32));
  const __m256i w = ck_avx2_astc_weights();
  // Not unrolled: both halves side by side would need more registers than there are.
  _Pragma("clang loop unroll(disable)") for (int h = 0; h < 2; ++h) {
    __m256i b[3], f[4];
    ck_avx2_astc_bytes(b, codes, h);
    // Four products of at most 64·127 fit 16 bits.
#define CK_TWO(A, B, YA, YB) \
  _mm256_madd_epi16( \
      _mm256_add_epi16( \
          _mm256_maddubs_epi16(_mm256_shuffle_epi8(w, f[A]), YA), \
          _mm256_maddubs_epi16(_mm256_shuffle_epi8(w, f[B]), YB)), \
      ones)
    ck_avx2_astc_even(f, b[0], b[1]);
    __m256i even = _mm256_add_epi32(CK_TWO(0, 1, y0, y1), CK_TWO(2, 3, y2, y3));
    CK_BEFORE(even, b[1], b[2]);
    ck_avx2_astc_odd(f, b[1], b[2]);
    const __m256i odd = _mm256_add_epi32(CK_TWO(0, 1, y0, y1), CK_TWO(2, 3, y2, y3));
#undef CK_TWO
    const __m256i sum = ck_avx2_astc_join(even, odd);
    const __m256i tail = _mm256_shuffle_epi8(w, ck_avx2_astc_tail(side, h));
    const __m256i rest = _mm256_madd_epi16(_mm256_maddubs_epi16(tail, last), ones);
    ((ck_i256 *)sums)[h] = _mm256_add_epi32(sum, rest);
  }
}

/// Kind 0: slope = e1 − e0 and base = 64·e0 − center of 16 rows, in binary32.
static inline CK_AVX2 void ck_avx2_astc_line(
    CK_INOUT slope, CK_INOUT base, CK_IN side, float center) {
  CK_BOTH_HALVES {
    const __m128i a = _mm_loadl_epi64((const __m128i *)((const char *)side + 8 * h));
    const __m128i b = _mm_loadl_epi64((const __m128i *)((const char *)side + 16 + 8 * h));
    const __m256i e0 = _mm256_cvtepu8_epi32(a), e1 = _mm256_cvtepu8_epi32(b);
    ((ck_f256 *)slope)[h] = _mm256_cvtepi32_ps(_mm256_sub_epi32(e1, e0));
    ((ck_f256 *)base)[h] = _mm256_fmsub_ps(
        _mm256_cvtepi32_ps(e0), _mm256_set1_ps(64), _mm256_set1_ps(center));
  }
}

/// total = slope·sums + base·x, rounded once: base·x is exact.
static inline CK_AVX2 void ck_avx2_astc_total(
    CK_INOUT total, CK_IN sums, CK_IN slope, CK_IN base, float x) {
  CK_BOTH_HALVES {
    const __m256 s = _mm256_cvtepi32_ps(((const ck_i256 *)sums)[h]);
    const __m256 offset = _mm256_mul_ps(((const ck_f256 *)base)[h], _mm256_set1_ps(x));
    ((ck_f256 *)total)[h] = _mm256_fmadd_ps(((const ck_f256 *)slope)[h], s, offset);
  }
}

/// Codes of three bits of step s, row after row, four of each; s below 8.
static inline CK_AVX2 __m256i ck_avx2_astc_step(CK_IN codes, int h, int s) {
  const ck_i256 *q = (const ck_i256 *)((const char *)codes + 32 * h);
  const int word = 24 * s / 64, bit = 24 * s % 64;
  __m256i bits = _mm256_srli_epi64(q[2 * word], bit);
  if (bit > 40) bits = _mm256_or_si256(bits, _mm256_slli_epi64(q[2 * word + 2], 64 - bit));
  // `ck_avx2_astc_spread` uses 12 bits of every 32 alone.
  return ck_avx2_astc_spread(_mm256_blend_epi32(bits, _mm256_slli_epi64(bits, 20), 0xAA));
}

/// Nine steps of what the codes of kind 0 and 1 stand for, 64 bytes each, `stride` bytes apart.
static inline CK_AVX2 void ck_avx2_astc_unpack(
    CK_INOUT panel, CK_IN codes, CK_IN side, CK_IN tables, long stride) {
  char *p = (char *)panel;
  // A loop in the code too: it has to stay small enough to be inlined.
  _Pragma("clang loop unroll(disable)") for (int h = 0; h < 2; ++h) {
    _Pragma("clang loop unroll(full)") for (int s = 0; s < 8; ++s) {
      *(ck_i256 *)(p + s * stride + 32 * h) =
          ck_avx2_astc_look_up(tables, h, ck_avx2_astc_step(codes, h, s));
    }
    *(ck_i256 *)(p + 8 * stride + 32 * h) =
        ck_avx2_astc_look_up(tables, h, ck_avx2_astc_tail(side, h));
  }
}

/// The same of kind 0.
static inline CK_AVX2 void ck_avx2_astc_unpack_line(
    CK_INOUT panel, CK_IN codes, CK_IN side, long stride) {
  const __m256i w = ck_avx2_astc_weights();
  const __m256i tables[4] = {w, w, w, w};
  ck_avx2_astc_unpack(panel, codes, side, tables, stride);
}

/// What the codes of a tile of kind 1 stand for, as `ASTCPalette` says for one row: q, and slope,
/// base and unit of 16 rows in binary32.
static inline CK_AVX2 void ck_avx2_astc_palette(
    CK_INOUT tables, CK_INOUT slope, CK_INOUT base, CK_INOUT unit, CK_IN side) {
  // All 16 rows in one register, 16 bits each.
  const __m256i v0 = _mm256_cvtepu8_epi16(*(const ck_i128 *)side);
  const __m256i v1 = _mm256_cvtepu8_epi16(*(const ck_i128 *)((const char *)side + 16));
  const __m256i coarse = _mm256_cmpgt_epi16(v0, _mm256_set1_epi16(127));
  __m256i low = _mm256_slli_epi16(_mm256_and_si256(v0, _mm256_set1_epi16(0x7F)), 1);
  low = _mm256_add_epi16(low, _mm256_and_si256(low, coarse));
  const __m256i high = _mm256_and_si256(
      v1, _mm256_sub_epi16(
              _mm256_set1_epi16(0xF0), _mm256_and_si256(coarse, _mm256_set1_epi16(0x10))));
  const __m256i start = _mm256_or_si256(low, _mm256_slli_epi16(high, 4));
  __m256i width = _mm256_slli_epi16(_mm256_sub_epi16(v1, high), 1);
  width = _mm256_add_epi16(width, _mm256_and_si256(width, coarse));
  width = _mm256_min_epi16(width, _mm256_sub_epi16(_mm256_set1_epi16(0xFFF), start));
  const __m256i octave = _mm256_srli_epi16(start, 7);
  const __m256i lowest = _mm256_cmpeq_epi16(octave, _mm256_setzero_si256());
  const __m256i above = _mm256_cmpgt_epi16(octave, _mm256_set1_epi16(29));
  const __m256i highest = _mm256_cmpgt_epi16(octave, _mm256_set1_epi16(30));
  // In the octave before the last values stop at the last one's beginning; in the last they are
  // all the largest.
  const __m256i cap = _mm256_or_si256(
      _mm256_andnot_si256(above, _mm256_set1_epi16(0x7FFF)), _mm256_set1_epi16(2047));
  width = _mm256_andnot_si256(highest, width);
  const __m256i ends = _mm256_or_si256(
      width, _mm256_slli_epi16(_mm256_and_si256(start, _mm256_set1_epi16(127)), 8));
  // Eight pieces of 512: slope and intercept of 8 times the mantissa, its leading bit included.
  const __m256i slopes = _mm256_setr_epi16(3, 4, 4, 5, 3, 4, 4, 5, 3, 4, 4, 5, 3, 4, 4, 5);
  const __m256i starts = _mm256_setr_epi16(
      8192, 7680, 7680, 6144, 2048, -512, -512, -4096, 8192, 7680, 7680, 6144, 2048, -512, -512,
      -4096);
  const int weights[6] = {0, 64, 12, 52, 25, 39};
  __m256i value[6];
  _Pragma("clang loop unroll(full)") for (int c = 0; c < 6; ++c) {
    // width · w + 64 · (start mod 128), and with 2 added a quarter of it.
    const __m256i sum = _mm256_maddubs_epi16(ends, _mm256_set1_epi16((short)(weights[c] | 64 << 8)));
    const __m256i u = _mm256_min_epi16(_mm256_mulhrs_epi16(sum, _mm256_set1_epi16(0x2000)), cap);
    const __m256i piece = _mm256_add_epi16(
        _mm256_mullo_epi16(_mm256_srli_epi16(u, 9), _mm256_set1_epi16(0x0202)),
        _mm256_set1_epi16(0x0100));
    const __m256i product = _mm256_mullo_epi16(_mm256_shuffle_epi8(slopes, piece), u);
    const __m256i v = _mm256_srli_epi16(
        _mm256_add_epi16(product, _mm256_shuffle_epi8(starts, piece)), 3);
    // The next octave counts double; above the subnormal numbers 1024 are there already.
    const __m256i next = _mm256_cmpgt_epi16(u, _mm256_set1_epi16(2047));
    const __m256i more = _mm256_blendv_epi8(v, _mm256_set1_epi16(1024), lowest);
    value[c] = _mm256_add_epi16(v, _mm256_and_si256(more, next));
  }
  __m256i first = _mm256_sub_epi16(
      value[0], _mm256_and_si256(lowest, _mm256_set1_epi16(1024)));
  first = _mm256_blendv_epi8(first, _mm256_set1_epi16(2047), highest);
  const __m256i top = _mm256_sub_epi16(value[1], value[0]);
  const __m256i exponent =
      _mm256_max_epi16(_mm256_min_epi16(octave, _mm256_set1_epi16(30)), _mm256_set1_epi16(1));
  __m256i factors[2];
  CK_BOTH_HALVES {
#define CK_HALF(V) (h == 0 ? _mm256_castsi256_si128(V) : _mm256_extracti128_si256(V, 1))
    // The bits above seven of the largest difference.
    const __m256 largest = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(CK_HALF(top)));
    const __m256i shift = _mm256_max_epi32(
        _mm256_sub_epi32(
            _mm256_srli_epi32(_mm256_castps_si256(largest), 23), _mm256_set1_epi32(133)),
        _mm256_setzero_si256());
    factors[h] = _mm256_srlv_epi32(_mm256_set1_epi32(32768), shift);
    ((ck_i256 *)slope)[h] =
        _mm256_slli_epi32(_mm256_add_epi32(shift, _mm256_set1_epi32(127)), 23);
    ((ck_f256 *)base)[h] = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(CK_HALF(first)));
    ((ck_i256 *)unit)[h] = _mm256_slli_epi32(
        _mm256_add_epi32(_mm256_cvtepu16_epi32(CK_HALF(exponent)), _mm256_set1_epi32(102)), 23);
#undef CK_HALF
  }
  // 2^(15 − shift), which is 32767 without a shift: the rounding makes up for it.
  const __m256i factor = _mm256_min_epu16(
      _mm256_permute4x64_epi64(_mm256_packus_epi32(factors[0], factors[1]), 0xD8),
      _mm256_set1_epi16(32767));
  __m256i q[6];
  _Pragma("clang loop unroll(full)") for (int c = 1; c < 6; ++c) {
    q[c] = _mm256_mulhrs_epi16(_mm256_sub_epi16(value[c], value[0]), factor);
  }
  // Two, four and eight entries of a row side by side.
  const __m256i a = _mm256_slli_epi16(q[1], 8);
  const __m256i b = _mm256_or_si256(q[2], _mm256_slli_epi16(q[3], 8));
  const __m256i c = _mm256_or_si256(q[4], _mm256_slli_epi16(q[5], 8));
  const __m256i zero = _mm256_setzero_si256();
  const __m256i ab0 = _mm256_unpacklo_epi16(a, b), ab1 = _mm256_unpackhi_epi16(a, b);
  const __m256i c0 = _mm256_unpacklo_epi16(c, zero), c1 = _mm256_unpackhi_epi16(c, zero);
  // Rows 0 and 1, 2 and 3, …; 8 more in the upper lane.
  const __m256i r01 = _mm256_unpacklo_epi32(ab0, c0), r23 = _mm256_unpackhi_epi32(ab0, c0);
  const __m256i r45 = _mm256_unpacklo_epi32(ab1, c1), r67 = _mm256_unpackhi_epi32(ab1, c1);
  const __m256i r02 = _mm256_unpacklo_epi64(r01, r23), r13 = _mm256_unpackhi_epi64(r01, r23);
  const __m256i r46 = _mm256_unpacklo_epi64(r45, r67), r57 = _mm256_unpackhi_epi64(r45, r67);
  ck_i256 *table = (ck_i256 *)tables;
  table[0] = _mm256_permute2x128_si256(r02, r46, 0x20);
  table[1] = _mm256_permute2x128_si256(r13, r57, 0x20);
  table[2] = _mm256_permute2x128_si256(r02, r46, 0x31);
  table[3] = _mm256_permute2x128_si256(r13, r57, 0x31);
}

/// The unit of lines in HDR: 257/65536 of a 64th.
#define CK_ASTC_FRACTION (257.0f / (1 << 22))

/// Replaces all of that in rows that are lines: the grid weights, the line, and its unit.
static inline CK_AVX2 void ck_avx2_astc_palette_lines(
    CK_INOUT tables, CK_INOUT slope, CK_INOUT base, CK_INOUT unit, CK_IN side) {
  const char *s = (const char *)side;
  // A bit for each row that is none.
  const int16_t rows = *(const ck_i16 *)(s + 88);
  const __m256i bits = _mm256_set1_epi64x(rows), zero = _mm256_setzero_si256();
  const __m256i weights = ck_avx2_astc_weights();
  // Of rows 0, 2, 4 and 6; those of the other tables stand 1, 8 and 9 bits on.
  const __m256i even = _mm256_setr_epi64x(1, 4, 16, 64);
  CK_BOTH_HALVES {
    ck_i256 *table = (ck_i256 *)tables + 2 * h;
    const __m256i first = _mm256_and_si256(_mm256_srli_epi64(bits, 8 * h), even);
    const __m256i second = _mm256_and_si256(_mm256_srli_epi64(bits, 8 * h + 1), even);
    table[0] = _mm256_blendv_epi8(table[0], weights, _mm256_cmpeq_epi64(first, zero));
    table[1] = _mm256_blendv_epi8(table[1], weights, _mm256_cmpeq_epi64(second, zero));
    const __m256i row = _mm256_slli_epi32(_mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128), 8 * h);
    const __m256 isLine = _mm256_castsi256_ps(
        _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(rows), row), zero));
    const __m256i e0 = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(s + 8 * h)));
    const __m256i e1 = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(s + 16 + 8 * h)));
    ck_f256 *places[3] = {(ck_f256 *)slope + h, (ck_f256 *)base + h, (ck_f256 *)unit + h};
    *places[0] = _mm256_blendv_ps(
        *places[0], _mm256_cvtepi32_ps(_mm256_sub_epi32(e1, e0)), isLine);
    *places[1] = _mm256_blendv_ps(
        *places[1], _mm256_cvtepi32_ps(_mm256_slli_epi32(e0, 6)), isLine);
    *places[2] = _mm256_blendv_ps(*places[2], _mm256_set1_ps(CK_ASTC_FRACTION), isLine);
  }
}

/// sums (16 × 32-bit) = Σ q·x over the 36 columns of a tile of kind 1.
static inline CK_AVX2 void ck_avx2_astc_palette_sums(
    CK_INOUT sums, CK_IN codes, CK_IN side, CK_IN x, CK_IN tables) {
  const __m256i y = ck_avx2_astc_activations(x), ones = _mm256_set1_epi16(1);
  const __m256i y0 = _mm256_permute4x64_epi64(y, 0x00), y1 = _mm256_permute4x64_epi64(y, 0x55);
  const __m256i y2 = _mm256_permute4x64_epi64(y, 0xAA), y3 = _mm256_permute4x64_epi64(y, 0xFF);
  const __m256i last = _mm256_set1_epi32(*(const ck_i32 *)((const char *)x + 32));
  // The second row of a lane of 128 bits has its eight entries behind the first one's.
  const __m256i second = _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808);
  // Not unrolled: both halves side by side would need more registers than there are.
  _Pragma("clang loop unroll(disable)") for (int h = 0; h < 2; ++h) {
    __m256i b[3], f[4];
    ck_avx2_astc_bytes(b, codes, h);
    const ck_i256 *table = (const ck_i256 *)tables + 2 * h;
    // Two products of at most 128·127 fit 16 bits.
#define CK_ONE(TABLE, A, Y) \
  _mm256_madd_epi16( \
      _mm256_maddubs_epi16( \
          _mm256_shuffle_epi8(table[TABLE], _mm256_or_si256(f[A], second)), Y), \
      ones)
    ck_avx2_astc_even(f, b[0], b[1]);
    __m256i even = _mm256_add_epi32(
        _mm256_add_epi32(CK_ONE(0, 0, y0), CK_ONE(0, 1, y1)),
        _mm256_add_epi32(CK_ONE(0, 2, y2), CK_ONE(0, 3, y3)));
    CK_BEFORE(even, b[1], b[2]);
    ck_avx2_astc_odd(f, b[1], b[2]);
    const __m256i odd = _mm256_add_epi32(
        _mm256_add_epi32(CK_ONE(1, 0, y0), CK_ONE(1, 1, y1)),
        _mm256_add_epi32(CK_ONE(1, 2, y2), CK_ONE(1, 3, y3)));
#undef CK_ONE
    const __m256i sum = ck_avx2_astc_join(even, odd);
    const __m256i tail = ck_avx2_astc_look_up(tables, h, ck_avx2_astc_tail(side, h));
    const __m256i rest = _mm256_madd_epi16(_mm256_maddubs_epi16(tail, last), ones);
    ((ck_i256 *)sums)[h] = _mm256_add_epi32(sum, rest);
  }
}

/// Two steps of a panel: sums (32-bit) += codes of at most 64 times activations of 8 columns.
static inline CK_AVX2 void ck_avx2_astc_panel_pair(CK_INOUT acc, CK_IN codes, CK_IN x) {
  ck_i256 *sum = (ck_i256 *)acc;
  const __m256i x0 = ck_avx2_splat(x), x1 = ck_avx2_splat((const char *)x + 4);
  const __m256i ones = _mm256_set1_epi16(1);
  CK_BOTH_HALVES {
    const __m256i a = _mm256_maddubs_epi16(((const ck_i256 *)codes)[h], x0);
    const __m256i b = _mm256_maddubs_epi16(((const ck_i256 *)codes)[2 + h], x1);
    const __m256i pairs = _mm256_madd_epi16(_mm256_add_epi16(a, b), ones);
    __m256i total = _mm256_add_epi32(sum[h], pairs);
    CK_KEEP_ORDER(total);
    sum[h] = total;
  }
}

/// One step: sums (32-bit) += codes of at most 128 times activations of 4 columns.
static inline CK_AVX2 void ck_avx2_astc_panel_step(CK_INOUT acc, CK_IN codes, CK_IN x) {
  ck_i256 *sum = (ck_i256 *)acc;
  const __m256i x0 = ck_avx2_splat(x), ones = _mm256_set1_epi16(1);
  CK_BOTH_HALVES {
    const __m256i a = _mm256_maddubs_epi16(((const ck_i256 *)codes)[h], x0);
    __m256i total = _mm256_add_epi32(sum[h], _mm256_madd_epi16(a, ones));
    CK_KEEP_ORDER(total);
    sum[h] = total;
  }
}

#endif
