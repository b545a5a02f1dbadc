/// Primitives of the `avx2` level that unpack ASTC tiles of kinds 2 and 3 to their values, 16 bits
/// each: 18 steps of 64 bytes, two columns of 16 rows.
///
/// A value is e0·(64 − w) + e1·w, one product of two pairs of bytes, with the ends e0 and e1 of the
/// column's partition. A row of logarithms has its palette for w, in which 64 stands for zero, 0 and
/// the palette's power of two for its ends, and the rest as an offset.
#pragma once

#include "ck_primitives_astc_avx2.h"
#include "ck_primitives_astc_parts_avx2.h"

#if defined(__x86_64__)

/// Working memory of each half of a tile, vectors of 32 bytes. Bytes of four columns stand by pairs:
/// the first two columns of each of four rows, then the other two.
enum {
  /// e0 of partition p and row r of a lane in byte 4p + r, and e1.
  CK_VALUES_ENDS = 0,
  CK_VALUES_PLANES = 64,
  /// Where the row's grid weights begin.
  CK_VALUES_PLACES = 160,
  /// The bits of a byte that are codes, their base, and 65536 over it and over its square.
  CK_VALUES_MASK = 192,
  CK_VALUES_RADIX = 224,
  CK_VALUES_QUOTIENTS = 256,
  /// What every value is more, 16 bits, two a row.
  CK_VALUES_OFFSET = 320,
  /// Which rows are logarithms, 32 bits a row.
  CK_VALUES_LOGS = 352,
  /// With such rows: every row's w, as ck_primitives_astc_avx2.h has tables.
  CK_VALUES_TABLES = 384,
  CK_VALUES_HALF_BYTES = 448,
};

#define CK_VALUES(PLACE) (*(ck_i256 *)((char *)parts + (PLACE)))

/// Bytes of four columns a row by pairs.
static inline CK_AVX2 __m256i ck_avx2_astc_by_pairs(__m256i v) {
  return _mm256_shuffle_epi8(
      v, _mm256_broadcastsi128_si256(
             _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)));
}

/// Bytes A, A + 4, A + 8 and A + 12 of every lane, from byte 4 · P on; zeros elsewhere.
#define CK_FOUR_BYTES(V, A, P) \
  _mm256_shuffle_epi8( \
      V, _mm256_broadcastsi128_si256(_mm_setr_epi32( \
             (P) == 0 ? CK_FOUR(A) : -1, (P) == 1 ? CK_FOUR(A) : -1, \
             (P) == 2 ? CK_FOUR(A) : -1, -1)))
#define CK_FOUR(A) ((A) | ((A) + 4) << 8 | ((A) + 8) << 16 | ((A) + 12) << 24)

/// The grid weights of six, five and four codes, from 0, 6 and 11 on.
static inline CK_AVX2 __m256i ck_avx2_astc_part_weights(void) {
  return _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 64, 12, 52, 25, 39, 0, 16, 32, 48, 64, 0, 21, 43, 64, 0));
}

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

/// All of a tile of kind 2 or 3 but the codes; values are taken `center` less.
static inline CK_AVX2 void ck_avx2_astc_parts(
    CK_INOUT tile, CK_IN codes, CK_IN side, CK_IN patterns, int center) {
  const char *s = (const char *)side;
  const __m256i rows = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13, 14, 14, 15));
  _Pragma("clang loop unroll(disable)") for (int h = 0; h < 2; ++h) {
    char *parts = (char *)tile + CK_VALUES_HALF_BYTES * h;
    // As in `ck_avx2_astc_pairs`.
    const __m256i bytes = _mm256_shuffle_epi8(
        _mm256_broadcastsi128_si256(*(const ck_i128 *)(s + 28 + 12 * h)), rows);
    const __m256i tags = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(
        _mm256_srli_epi16(_mm256_mullo_epi16(bytes, _mm256_set1_epi32(0x00010010)), 4)));
    const __m256i modes = _mm256_and_si256(tags, _mm256_set1_epi32(3));
    const __m256i ones = _mm256_cmpeq_epi32(modes, _mm256_setzero_si256());
    const __m256i threes = _mm256_cmpeq_epi32(modes, _mm256_set1_epi32(2));
    CK_VALUES(CK_VALUES_LOGS) = _mm256_cmpeq_epi32(tags, _mm256_set1_epi32(4));
    // Patterns of three partitions from 1024 on; with one, no columns: from 2050 on, whatever the
    // tag.
    const __m256i seeds = _mm256_add_epi32(
        _mm256_slli_epi32(_mm256_sub_epi32(tags, modes), 2),
        _mm256_and_si256(threes, _mm256_set1_epi32(1024 * 16)));
    CK_VALUES(0) = _mm256_blendv_epi8(seeds, _mm256_set1_epi32(2050 * 16), ones);
    // The offsets are read before what follows takes their place.
    const int32_t *offsets = (const int32_t *)parts;
#define CK_ROW(R) ((const char *)patterns + offsets[R])
    ck_avx2_astc_planes(
        parts + CK_VALUES_PLANES, CK_TWO_PATTERNS(CK_ROW, 0), CK_TWO_PATTERNS(CK_ROW, 1),
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
#define CK_ENDS(E) \
  _mm256_or_si256( \
      _mm256_or_si256(CK_FOUR_BYTES(ends, E, 0), CK_FOUR_BYTES(ends, E + 2, 1)), \
      CK_FOUR_BYTES(others, E, 2))
    CK_VALUES(CK_VALUES_ENDS) = CK_ENDS(0);
    CK_VALUES(CK_VALUES_ENDS + 32) = CK_ENDS(1);
#undef CK_ENDS
    _Pragma("clang loop unroll(full)") for (int i = 0; i < 3; ++i) {
      CK_VALUES(CK_VALUES_PLANES + 32 * i) =
          ck_avx2_astc_by_pairs(CK_VALUES(CK_VALUES_PLANES + 32 * i));
    }
    const __m256i one = ck_avx2_astc_by_pairs(ones), three = ck_avx2_astc_by_pairs(threes);
    CK_VALUES(CK_VALUES_PLACES) = _mm256_add_epi8(
        _mm256_andnot_si256(one, _mm256_set1_epi8(6)),
        _mm256_and_si256(three, _mm256_set1_epi8(5)));
#define CK_EITHER(A, B) _mm256_blendv_epi8(_mm256_set1_epi16(A), _mm256_set1_epi16(B), three)
    CK_VALUES(CK_VALUES_MASK) = CK_EITHER(-1, 0x3F3F);
    CK_VALUES(CK_VALUES_RADIX) = CK_EITHER(6, 4);
    CK_VALUES(CK_VALUES_QUOTIENTS) = CK_EITHER(10923, 16384);
    CK_VALUES(CK_VALUES_QUOTIENTS + 32) = CK_EITHER(1821, 4096);
#undef CK_EITHER
    CK_VALUES(CK_VALUES_OFFSET) = _mm256_set1_epi16((short)-center);
  }
}

/// Whether a tile has rows of logarithms.
static inline CK_AVX2 int ck_avx2_astc_has_logs(CK_IN tile) {
  const char *parts = (const char *)tile;
  const __m256i logs =
      _mm256_or_si256(CK_VALUES(CK_VALUES_LOGS), CK_VALUES(CK_VALUES_LOGS + CK_VALUES_HALF_BYTES));
  return !_mm256_testz_si256(logs, logs);
}

/// Has those rows be palettes, from what `ck_avx2_astc_palette` made of all rows; where others are,
/// unit becomes that of lines.
static inline CK_AVX2 void ck_avx2_astc_part_logs(
    CK_INOUT tile, CK_INOUT unit, CK_IN tables, CK_IN slope, CK_IN base) {
  _Pragma("clang loop unroll(disable)") for (int h = 0; h < 2; ++h) {
    char *parts = (char *)tile + CK_VALUES_HALF_BYTES * h;
    const __m256i rows = CK_VALUES(CK_VALUES_LOGS), logs = ck_avx2_astc_by_pairs(rows);
    ck_f256 *units = (ck_f256 *)unit + h;
    *units = _mm256_blendv_ps(
        _mm256_set1_ps(CK_ASTC_FRACTION), *units, _mm256_castsi256_ps(rows));
    const __m256i power = _mm256_cvttps_epi32(((const ck_f256 *)slope)[h]);
    const __m256i lowest = _mm256_add_epi32(
        _mm256_cvttps_epi32(((const ck_f256 *)base)[h]), _mm256_slli_epi32(power, 6));
    const __m256i first = CK_FOUR_BYTES(rows, 0, 0);
    CK_VALUES(CK_VALUES_ENDS) = _mm256_andnot_si256(first, CK_VALUES(CK_VALUES_ENDS));
    CK_VALUES(CK_VALUES_ENDS + 32) = _mm256_blendv_epi8(
        CK_VALUES(CK_VALUES_ENDS + 32), CK_FOUR_BYTES(power, 0, 0), first);
    CK_VALUES(CK_VALUES_OFFSET) = _mm256_blendv_epi8(
        CK_VALUES(CK_VALUES_OFFSET), _mm256_or_si256(lowest, _mm256_slli_epi32(lowest, 16)), rows);
    const __m256i places = CK_VALUES(CK_VALUES_PLACES);
    const __m256i count = _mm256_set1_epi64x(0x0706050403020100);
    // Eight bytes each of rows 0 and 2, and of rows 1 and 3.
#define CK_TABLE_ROWS(V, R) \
  _mm256_shuffle_epi8( \
      V, _mm256_broadcastsi128_si256(_mm_setr_epi8( \
             2 * R, 2 * R, 2 * R, 2 * R, 2 * R, 2 * R, 2 * R, 2 * R, 2 * R + 4, 2 * R + 4, \
             2 * R + 4, 2 * R + 4, 2 * R + 4, 2 * R + 4, 2 * R + 4, 2 * R + 4)))
#define CK_TABLE(R) \
  _mm256_blendv_epi8( \
      _mm256_shuffle_epi8( \
          ck_avx2_astc_part_weights(), _mm256_add_epi8(CK_TABLE_ROWS(places, R), count)), \
      _mm256_sub_epi8(((const ck_i256 *)tables)[2 * h + R], _mm256_set1_epi8(64)), \
      CK_TABLE_ROWS(logs, R))
    CK_VALUES(CK_VALUES_TABLES) = CK_TABLE(0);
    CK_VALUES(CK_VALUES_TABLES + 32) = CK_TABLE(1);
#undef CK_TABLE
#undef CK_TABLE_ROWS
  }
}

/// Two steps of a half: the values of four columns from their codes; of the columns of the other two
/// partitions the planes have the signs set.
static inline CK_AVX2 void ck_avx2_astc_store_values(
    CK_INOUT values, CK_IN parts, __m256i codes, __m256i plane, __m256i second, long stride,
    int hasLogs) {
  __m256i w;
  if (hasLogs) {
    const __m256i places =
        _mm256_or_si256(codes, _mm256_set1_epi64x(0x0808080800000000));
    w = _mm256_blend_epi16(
        _mm256_shuffle_epi8(CK_VALUES(CK_VALUES_TABLES), places),
        _mm256_shuffle_epi8(CK_VALUES(CK_VALUES_TABLES + 32), places), 0xAA);
  } else {
    w = _mm256_shuffle_epi8(
        ck_avx2_astc_part_weights(), _mm256_add_epi8(codes, CK_VALUES(CK_VALUES_PLACES)));
  }
  const __m256i rest = _mm256_sub_epi8(_mm256_set1_epi8(64), w);
  const __m256i row = _mm256_set1_epi64x(0x0303020201010000);
  const __m256i place = _mm256_blendv_epi8(
      _mm256_blendv_epi8(row, _mm256_set1_epi64x(0x0707060605050404), plane),
      _mm256_set1_epi64x(0x0B0B0A0A09090808), second);
  const __m256i e0 = _mm256_shuffle_epi8(CK_VALUES(CK_VALUES_ENDS), place);
  const __m256i e1 = _mm256_shuffle_epi8(CK_VALUES(CK_VALUES_ENDS + 32), place);
  const __m256i offset = CK_VALUES(CK_VALUES_OFFSET);
  *(ck_i256 *)values = _mm256_add_epi16(
      offset, _mm256_maddubs_epi16(_mm256_unpacklo_epi8(e0, e1), _mm256_unpacklo_epi8(rest, w)));
  *(ck_i256 *)((char *)values + stride) = _mm256_add_epi16(
      offset, _mm256_maddubs_epi16(_mm256_unpackhi_epi8(e0, e1), _mm256_unpackhi_epi8(rest, w)));
}

/// 18 steps of values, `stride` bytes apart.
static inline CK_AVX2 void ck_avx2_astc_values(
    CK_INOUT values, CK_IN tile, CK_IN codes, long stride, int hasLogs) {
  _Pragma("clang loop unroll(disable)") for (int h = 0; h < 2; ++h) {
    const char *c = (const char *)codes + 32 * h;
    const char *parts = (const char *)tile + CK_VALUES_HALF_BYTES * h;
    char *v = (char *)values + 32 * h;
    __m256i plane = CK_VALUES(CK_VALUES_PLANES), second = CK_VALUES(CK_VALUES_PLANES + 64);
    __m256i last = CK_VALUES(CK_VALUES_PLANES + 32);
    _Pragma("clang loop unroll(disable)") for (int z = 0; z < 3; ++z) {
      const __m256i t = _mm256_and_si256(
          ck_avx2_astc_by_pairs(*(const ck_i256 *)(c + 64 * z)), CK_VALUES(CK_VALUES_MASK));
      const __m256i quotient = ck_avx2_astc_quotients(t, CK_VALUES(CK_VALUES_QUOTIENTS));
      const __m256i square = ck_avx2_astc_quotients(t, CK_VALUES(CK_VALUES_QUOTIENTS + 32));
      // As in `ck_avx2_astc_pair_sums`.
      const __m256i radix = CK_VALUES(CK_VALUES_RADIX);
      ck_avx2_astc_store_values(
          v, parts, _mm256_sub_epi8(t, _mm256_mullo_epi16(quotient, radix)), plane, second, stride,
          hasLogs);
      plane = _mm256_add_epi8(plane, plane);
      second = _mm256_add_epi8(second, second);
      ck_avx2_astc_store_values(
          v + 2 * stride, parts,
          _mm256_sub_epi8(quotient, _mm256_mullo_epi16(square, radix)), plane, second, stride,
          hasLogs);
      plane = _mm256_add_epi8(plane, plane);
      second = _mm256_add_epi8(second, second);
      ck_avx2_astc_store_values(
          v + 4 * stride, parts, square, last, _mm256_slli_epi16(last, 4), stride, hasLogs);
      last = _mm256_add_epi8(last, last);
      v += 6 * stride;
    }
  }
}

#undef CK_VALUES
#undef CK_FOUR_BYTES
#undef CK_FOUR

/// 36 activations of 16 bits.
static inline CK_AVX2 void ck_avx2_astc_widen(CK_INOUT wide, CK_IN x) {
  const char *a = (const char *)x;
  ck_i256 *w = (ck_i256 *)wide;
  w[0] = _mm256_cvtepi8_epi16(*(const ck_i128 *)a);
  w[1] = _mm256_cvtepi8_epi16(*(const ck_i128 *)(a + 16));
  *(ck_i64 *)(w + 2) =
      _mm_cvtsi128_si64(_mm_cvtepi8_epi16(_mm_cvtsi32_si128(*(const ck_i32 *)(a + 32))));
}

/// sums (16 × 32-bit) = Σ v·x over the 36 columns of a tile's values.
static inline CK_AVX2 void ck_avx2_astc_value_sums(CK_INOUT sums, CK_IN values, CK_IN wide) {
  const char *v = (const char *)values, *a = (const char *)wide;
  __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  _Pragma("clang loop unroll(full)") for (int step = 0; step < 18; ++step) {
    const __m256i x = ck_avx2_splat(a + 4 * step);
    CK_BOTH_HALVES {
      const __m256i products = _mm256_madd_epi16(*(const ck_i256 *)(v + 64 * step + 32 * h), x);
      sum[h] = _mm256_add_epi32(sum[h], products);
    }
  }
  CK_BOTH_HALVES { ((ck_i256 *)sums)[h] = sum[h]; }
}

/// One step: sums (32-bit) += values of 2 columns times their activations of 16 bits.
static inline CK_AVX2 void ck_avx2_astc_panel_values(CK_INOUT acc, CK_IN values, CK_IN wide) {
  ck_i256 *sum = (ck_i256 *)acc;
  const __m256i x0 = ck_avx2_splat(wide);
  CK_BOTH_HALVES {
    __m256i total =
        _mm256_add_epi32(sum[h], _mm256_madd_epi16(((const ck_i256 *)values)[h], x0));
    CK_KEEP_ORDER(total);
    sum[h] = total;
  }
}

#endif
