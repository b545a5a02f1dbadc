/// Arguments, primitives and trampolines of the kernels of attention and of the cache's elements. What
/// they compute stands in KernelContract, `AttentionKernels.swift`.
#pragma once

#include "ck_targets.h"

typedef struct CKCodePanel {
  const int16_t *_Nonnull a;
  /// [(depth + 1) / 2][columnCount][2]: two rows side by side, as they are multiplied.
  const int8_t *_Nonnull b;
  float *_Nonnull c;
  /// [rowCount], and [columnCount] or null.
  const float *_Nonnull rowScales;
  const float *_Nullable columnScales;
  /// Row strides in elements; of B from two rows to the next two.
  long aStride, bStride, cStride;
  long rowCount, columnCount, depth;
  /// [rowCount] what a row of C is multiplied by before the product is added to it; null where C is
  /// overwritten.
  const float *_Nullable rowFactors;
  /// What the caller reads next: asked for while this panel is multiplied. A hint, any address.
  const void *_Nullable next;
  long nextByteCount;
} CKCodePanel;

typedef struct CKBlockSoftmax {
  /// [rowCount][columnCount], scoreStride floats apart: scores, replaced by weights.
  float *_Nonnull scores;
  /// [rowCount] the columns that a row sees.
  const int32_t *_Nonnull begins;
  const int32_t *_Nonnull ends;
  /// [rowCount] of the blocks so far, and then with this one.
  float *_Nonnull maxima;
  float *_Nonnull sums;
  /// [rowCount] written: what all that was summed before this block is to be multiplied by.
  float *_Nonnull decays;
  long scoreStride, rowCount, columnCount;
} CKBlockSoftmax;

typedef struct CKRowCodes {
  /// [rowCount][columnCount], inputStride floats apart.
  const float *_Nonnull input;
  /// [columnCount] or null.
  const float *_Nullable columnScales;
  /// [rowCount][columnCount], codeStride apart.
  int16_t *_Nonnull codes;
  /// [rowCount] written.
  float *_Nonnull rowScales;
  long inputStride, codeStride, rowCount, columnCount;
  float factor;
} CKRowCodes;

typedef struct CKNibbles {
  const uint8_t *_Nonnull packed;
  uint8_t *_Nonnull codes;
  /// Rows of packed bytes, and bytes of one.
  long rowCount, byteCount;
} CKNibbles;

typedef struct CKCacheVector {
  const float *_Nonnull values;
  /// s8: [count]; u4g32: [count / 2], with room for 16 bytes more.
  void *_Nonnull codes;
  /// u4g32, written: [groups] binary16.
  uint16_t *_Nullable scales;
  uint16_t *_Nullable minimums;
  long count;
  /// s8: what codes stand for multiples of.
  float scale;
} CKCacheVector;

CK_TRAMPOLINES(panel_codes, CKCodePanel)
CK_TRAMPOLINES(softmax_block, CKBlockSoftmax)
CK_TRAMPOLINES(row_codes, CKRowCodes)
CK_TRAMPOLINES(nibble_rows, CKNibbles)
CK_TRAMPOLINES(nibble_pairs, CKNibbles)
CK_TRAMPOLINES(cache_s8, CKCacheVector)
CK_TRAMPOLINES(cache_u4g32, CKCacheVector)

#if defined(__x86_64__)

// A bundle is 16 columns; its codes are pairs of 16 bits, one of each of two rows of B.

/// 16 columns of two rows, side by side, as pairs: two registers of 8 columns.
static inline CK_AVX2 void ck_avx2_code_pairs(CK_INOUT pairs, CK_IN codes) {
  const ck_i128 *p = (const ck_i128 *)codes;
  ((ck_i256 *)pairs)[0] = _mm256_cvtepi8_epi16(p[0]);
  ((ck_i256 *)pairs)[1] = _mm256_cvtepi8_epi16(p[1]);
}

/// The first row of the two, and zeros.
static inline CK_AVX2 void ck_avx2_last_codes(CK_INOUT pairs, CK_IN codes) {
  const ck_i128 *p = (const ck_i128 *)codes;
  const __m128i first = _mm_set1_epi16(0xFF);
  ((ck_i256 *)pairs)[0] = _mm256_cvtepi8_epi16(_mm_and_si128(p[0], first));
  ((ck_i256 *)pairs)[1] = _mm256_cvtepi8_epi16(_mm_and_si128(p[1], first));
}

/// sums (16 × 32-bit) += pairs times the two numbers of 16 bits at x.
static inline CK_AVX2 void ck_avx2_add_pairs(CK_INOUT sums, CK_IN pairs, CK_IN x) {
  const __m256i both = _mm256_set1_epi32(*(const ck_i32 *)x);
  ck_i256 *s = (ck_i256 *)sums;
  const ck_i256 *p = (const ck_i256 *)pairs;
  s[0] = _mm256_add_epi32(s[0], _mm256_madd_epi16(p[0], both));
  s[1] = _mm256_add_epi32(s[1], _mm256_madd_epi16(p[1], both));
}

/// 16 bytes of each of two rows of two 4-bit numbers: each number beside its partner of the other row,
/// 64 bytes.
static inline CK_AVX2 void ck_avx2_nibble_rows(CK_INOUT codes, CK_IN first, CK_IN second) {
  const __m256i mask = _mm256_set1_epi8(15);
  for (int half = 0; half < 2; half++) {
    const __m256i low = _mm256_cvtepu8_epi32(_mm_loadu_si64((const char *)first + 8 * half));
    const __m256i high = _mm256_cvtepu8_epi32(_mm_loadu_si64((const char *)second + 8 * half));
    const __m256i both = _mm256_or_si256(low, _mm256_slli_epi32(high, 8));
    ((ck_i256 *)codes)[half] =
        _mm256_and_si256(_mm256_or_si256(both, _mm256_slli_epi32(both, 12)), mask);
  }
}

/// 32 bytes of two 4-bit numbers: all of them side by side, 64 bytes.
static inline CK_AVX2 void ck_avx2_nibble_pairs(CK_INOUT codes, CK_IN packed) {
  const __m256i mask = _mm256_set1_epi8(15);
  for (int half = 0; half < 2; half++) {
    const __m256i words = _mm256_cvtepu8_epi16(((const ck_i128 *)packed)[half]);
    ((ck_i256 *)codes)[half] =
        _mm256_and_si256(_mm256_or_si256(words, _mm256_slli_epi16(words, 4)), mask);
  }
}

static inline CK_AVX512 void ck_avx512_nibble_rows(CK_INOUT codes, CK_IN first, CK_IN second) {
  const __m512i low = _mm512_cvtepu8_epi32(*(const ck_i128 *)first);
  const __m512i high = _mm512_cvtepu8_epi32(*(const ck_i128 *)second);
  const __m512i both = _mm512_or_si512(low, _mm512_slli_epi32(high, 8));
  *(ck_i512 *)codes = _mm512_and_si512(
      _mm512_or_si512(both, _mm512_slli_epi32(both, 12)), _mm512_set1_epi8(15));
}

static inline CK_AVX512 void ck_avx512_nibble_pairs(CK_INOUT codes, CK_IN packed) {
  const __m512i mask = _mm512_set1_epi8(15);
  for (int half = 0; half < 2; half++) {
    const __m512i words = _mm512_cvtepu8_epi16(((const ck_i256 *)packed)[half]);
    ((ck_i512 *)codes)[half] =
        _mm512_and_si512(_mm512_or_si512(words, _mm512_slli_epi16(words, 4)), mask);
  }
}

static inline CK_AVX512 void ck_avx512_code_pairs(CK_INOUT pairs, CK_IN codes) {
  *(ck_i512 *)pairs = _mm512_cvtepi8_epi16(*(const ck_i256 *)codes);
}

static inline CK_AVX512 void ck_avx512_last_codes(CK_INOUT pairs, CK_IN codes) {
  const __m256i both = *(const ck_i256 *)codes;
  *(ck_i512 *)pairs = _mm512_cvtepi8_epi16(_mm256_and_si256(both, _mm256_set1_epi16(0xFF)));
}

static inline CK_AVX512 void ck_avx512_add_pairs(CK_INOUT sums, CK_IN pairs, CK_IN x) {
  // By name: LLVM makes two instructions of the intrinsic, for a chain that is shorter and, beside
  // sixteen others, no faster.
  __asm__("vpdpwssd %2, %1, %0"
          : "+v"(*(ck_i512 *)sums)
          : "v"(*(const ck_i512 *)pairs), "v"(_mm512_set1_epi32(*(const ck_i32 *)x)));
}

#endif
