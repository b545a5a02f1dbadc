/// Arguments, primitives and trampolines of the kernels over caches of 8-bit codes. What they compute
/// stands in KernelContract, `AttentionKernels.swift`.
#pragma once

#include "ck_targets.h"

typedef struct CKCodePanel {
  const int16_t *_Nonnull a;
  const int8_t *_Nonnull b;
  float *_Nonnull c;
  /// [rowCount], and [columnCount] or null.
  const float *_Nonnull rowScales;
  const float *_Nullable columnScales;
  /// Row strides in elements.
  long aStride, bStride, cStride;
  long rowCount, columnCount, depth;
  /// 0: C = A·B; otherwise C += A·B.
  long accumulates;
} CKCodePanel;

CK_TRAMPOLINES(panel_codes, CKCodePanel)

#if defined(__x86_64__)

// A bundle is 16 columns; its codes are pairs of 16 bits, one of each of two rows of B.

/// 16 bytes of two rows as pairs: two registers of 8 columns.
static inline CK_AVX2 void ck_avx2_code_pairs(CK_INOUT pairs, CK_IN even, CK_IN odd) {
  const __m128i a = *(const ck_i128 *)even, b = *(const ck_i128 *)odd;
  ((ck_i256 *)pairs)[0] = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(a, b));
  ((ck_i256 *)pairs)[1] = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(a, b));
}

/// The same of one row, and zeros.
static inline CK_AVX2 void ck_avx2_last_codes(CK_INOUT pairs, CK_IN even) {
  const __m128i a = *(const ck_i128 *)even;
  ((ck_i256 *)pairs)[0] = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(a, _mm_setzero_si128()));
  ((ck_i256 *)pairs)[1] = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(a, _mm_setzero_si128()));
}

/// sums (16 × 32-bit) += pairs times the two numbers of 16 bits at x.
static inline CK_AVX2 void ck_avx2_add_pairs(CK_INOUT sums, CK_IN pairs, CK_IN x) {
  const __m256i both = _mm256_set1_epi32(*(const ck_i32 *)x);
  ck_i256 *s = (ck_i256 *)sums;
  const ck_i256 *p = (const ck_i256 *)pairs;
  s[0] = _mm256_add_epi32(s[0], _mm256_madd_epi16(p[0], both));
  s[1] = _mm256_add_epi32(s[1], _mm256_madd_epi16(p[1], both));
}

static inline CK_AVX512 void ck_avx512_code_pairs(CK_INOUT pairs, CK_IN even, CK_IN odd) {
  const __m128i a = *(const ck_i128 *)even, b = *(const ck_i128 *)odd;
  *(ck_i512 *)pairs = _mm512_cvtepi8_epi16(
      _mm256_set_m128i(_mm_unpackhi_epi8(a, b), _mm_unpacklo_epi8(a, b)));
}

static inline CK_AVX512 void ck_avx512_last_codes(CK_INOUT pairs, CK_IN even) {
  const __m128i a = *(const ck_i128 *)even, zero = _mm_setzero_si128();
  *(ck_i512 *)pairs = _mm512_cvtepi8_epi16(
      _mm256_set_m128i(_mm_unpackhi_epi8(a, zero), _mm_unpacklo_epi8(a, zero)));
}

static inline CK_AVX512 void ck_avx512_add_pairs(CK_INOUT sums, CK_IN pairs, CK_IN x) {
  *(ck_i512 *)sums = _mm512_dpwssd_epi32(
      *(ck_i512 *)sums, *(const ck_i512 *)pairs, _mm512_set1_epi32(*(const ck_i32 *)x));
}

#endif
