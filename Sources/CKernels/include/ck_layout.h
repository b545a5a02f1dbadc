/// Canonical codes into tiles of 16 rows, as PackedFormats specifies them (RowTileLayout).
#pragma once

#include "ck_targets.h"

/// Some tiles, and the whole rows that go there.
typedef struct CKInterleaving {
  /// The first row; the others follow, rowStride bytes apart.
  const void *_Nonnull source;
  /// The first tile, at an address that 32 divides; the others follow, tileStride bytes apart.
  void *_Nonnull target;
  long rowStride, tileStride, tileCount;
  /// Steps of 16 bytes of every row.
  long stepCount;
} CKInterleaving;

#if defined(__x86_64__)
CK_TRAMPOLINE(CK_AVX2, avx2, interleave_pairs, CKInterleaving)
CK_TRAMPOLINE(CK_AVX2, avx2, interleave_nibbles, CKInterleaving)
CK_TRAMPOLINE(CK_AVX2, avx2, interleave_bytes, CKInterleaving)

/// Exchanges the bits under `mask` with those `distance` above them, in every word.
static inline CK_AVX2 __m256i ck_avx2_exchange(__m256i words, int distance, int mask) {
  const __m256i above = _mm256_srli_epi32(words, distance);
  const __m256i changed =
      _mm256_and_si256(_mm256_xor_si256(words, above), _mm256_set1_epi32(mask));
  return _mm256_xor_si256(
      _mm256_xor_si256(words, changed), _mm256_slli_epi32(changed, distance));
}

/// The order of codes within eight words, from canonical to tile, for each code width.
static inline CK_AVX2 __m256i ck_avx2_order_pairs(__m256i words) {
  return ck_avx2_exchange(ck_avx2_exchange(words, 6, 0x00CC00CC), 12, 0x0000F0F0);
}

static inline CK_AVX2 __m256i ck_avx2_order_nibbles(__m256i words) {
  return ck_avx2_exchange(ck_avx2_exchange(words, 8, 0x0000FF00), 4, 0x00F000F0);
}

static inline CK_AVX2 __m256i ck_avx2_order_bytes(__m256i words) {
  return _mm256_xor_si256(words, _mm256_set1_epi8((char)0x80));
}

/// 16 bytes of a row and of the row four below it.
static inline CK_AVX2 __m256i ck_avx2_two_rows(CK_IN row, long rowStride) {
  const char *at = (const char *)row;
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(*(const ck_i128 *)at), *(const ck_i128 *)(at + 4 * rowStride), 1);
}

/// One step of 16 rows: 16 bytes of each, which become 4 × 64 bytes of the tile.
///
/// Written past the caches: a tile is read long after, and a line that is written whole need not be
/// brought first. ck_avx2_interleaved comes after the last step.
#define CK_INTERLEAVE_STEP(NAME) \
  static inline CK_AVX2 void ck_avx2_interleave_##NAME( \
      CK_INOUT target, CK_IN source, long rowStride) { \
    __m256i half[2][4]; \
    CK_LAYOUT_HALVES { \
      const char *at = (const char *)source + 8 * h * rowStride; \
      const __m256i a = ck_avx2_order_##NAME(ck_avx2_two_rows(at, rowStride)); \
      const __m256i b = ck_avx2_order_##NAME(ck_avx2_two_rows(at + rowStride, rowStride)); \
      const __m256i c = ck_avx2_order_##NAME(ck_avx2_two_rows(at + 2 * rowStride, rowStride)); \
      const __m256i d = ck_avx2_order_##NAME(ck_avx2_two_rows(at + 3 * rowStride, rowStride)); \
      const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d); \
      const __m256i ab2 = _mm256_unpackhi_epi32(a, b), cd2 = _mm256_unpackhi_epi32(c, d); \
      half[h][0] = _mm256_unpacklo_epi64(ab, cd); \
      half[h][1] = _mm256_unpackhi_epi64(ab, cd); \
      half[h][2] = _mm256_unpacklo_epi64(ab2, cd2); \
      half[h][3] = _mm256_unpackhi_epi64(ab2, cd2); \
    } \
    __m256i *to = (__m256i *)target; \
    _Pragma("clang loop unroll(full)") for (int word = 0; word < 4; ++word) { \
      _mm256_stream_si256(to + 2 * word, half[0][word]); \
      _mm256_stream_si256(to + 2 * word + 1, half[1][word]); \
    } \
  }
#define CK_LAYOUT_HALVES _Pragma("clang loop unroll(full)") for (int h = 0; h < 2; ++h)

CK_INTERLEAVE_STEP(pairs)
CK_INTERLEAVE_STEP(nibbles)
CK_INTERLEAVE_STEP(bytes)

/// What was written past the caches is there for every thread that is told so afterwards.
static inline CK_AVX2 void ck_avx2_interleaved(void) { _mm_sfence(); }
#endif
