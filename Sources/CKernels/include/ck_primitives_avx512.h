/// Primitives of the `avx512vnni` level for packed products: tiles of 16 rows, one register each.
///
/// A vector of codes is laid out as in ck_primitives_avx2.h.
#pragma once

#include "ck_targets.h"

#if defined(__x86_64__)

/// Four activations in every row's lane.
static inline CK_AVX512 __m512i ck_avx512_splat(CK_IN x) {
  return _mm512_set1_epi32(*(const ck_i32 *)x);
}

/// Four accumulators (32-bit) += 2-bit codes of 16 columns, fields left in place: accumulator f
/// holds 4^f times its sum. 192·127·32,768 fits (131,072 columns, a quarter of them a field).
static inline CK_AVX512 void ck_avx512_dot_pairs(
    CK_INOUT acc0, CK_INOUT acc1, CK_INOUT acc2, CK_INOUT acc3, CK_IN codes, CK_IN x) {
  const __m512i v = *(const ck_i512 *)codes;
  const char *a = (const char *)x;
  ck_i512 *s0 = (ck_i512 *)acc0, *s1 = (ck_i512 *)acc1;
  ck_i512 *s2 = (ck_i512 *)acc2, *s3 = (ck_i512 *)acc3;
  const __m512i v0 = _mm512_and_si512(v, _mm512_set1_epi8(0x03));
  const __m512i v1 = _mm512_and_si512(v, _mm512_set1_epi8(0x0C));
  const __m512i v2 = _mm512_and_si512(v, _mm512_set1_epi8(0x30));
  const __m512i v3 = _mm512_and_si512(v, _mm512_set1_epi8((char)0xC0));
  *s0 = _mm512_dpbusd_epi32(*s0, v0, ck_avx512_splat(a));
  *s1 = _mm512_dpbusd_epi32(*s1, v1, ck_avx512_splat(a + 4));
  *s2 = _mm512_dpbusd_epi32(*s2, v2, ck_avx512_splat(a + 8));
  *s3 = _mm512_dpbusd_epi32(*s3, v3, ck_avx512_splat(a + 12));
}

/// sums = acc0 + acc1 / 4 + acc2 / 16 + acc3 / 64, which is exact.
static inline CK_AVX512 void ck_avx512_join_pairs(
    CK_INOUT sums, CK_IN acc0, CK_IN acc1, CK_IN acc2, CK_IN acc3) {
  const __m512i s1 = _mm512_srai_epi32(*(const ck_i512 *)acc1, 2);
  const __m512i s2 = _mm512_srai_epi32(*(const ck_i512 *)acc2, 4);
  const __m512i s3 = _mm512_srai_epi32(*(const ck_i512 *)acc3, 6);
  const __m512i a = _mm512_add_epi32(*(const ck_i512 *)acc0, s1);
  *(ck_i512 *)sums = _mm512_add_epi32(a, _mm512_add_epi32(s2, s3));
}

/// Two accumulators (32-bit) += 4-bit codes of 8 columns.
static inline CK_AVX512 void ck_avx512_dot_nibbles(
    CK_INOUT low, CK_INOUT high, CK_IN codes, CK_IN x) {
  const __m512i field = _mm512_set1_epi8(0x0F), v = *(const ck_i512 *)codes;
  const __m512i w = _mm512_srli_epi16(v, 4);
  ck_i512 *l = (ck_i512 *)low, *u = (ck_i512 *)high;
  *l = _mm512_dpbusd_epi32(*l, _mm512_and_si512(v, field), ck_avx512_splat(x));
  *u = _mm512_dpbusd_epi32(
      *u, _mm512_and_si512(w, field), ck_avx512_splat((const char *)x + 4));
}

/// acc (32-bit) += bytes of 4 columns.
static inline CK_AVX512 void ck_avx512_dot_bytes(CK_INOUT acc, CK_IN codes, CK_IN x) {
  ck_i512 *sum = (ck_i512 *)acc;
  *sum = _mm512_dpbusd_epi32(*sum, *(const ck_i512 *)codes, ck_avx512_splat(x));
}

/// Two tiles of one panel: both accumulators (32-bit) += bytes of 4 columns.
static inline CK_AVX512 void ck_avx512_panel(CK_INOUT acc0, CK_INOUT acc1, CK_IN codes, CK_IN x) {
  ck_i512 *s0 = (ck_i512 *)acc0, *s1 = (ck_i512 *)acc1;
  const __m512i x0 = ck_avx512_splat(x);
  __m512i sum0 = _mm512_dpbusd_epi32(*s0, ((const ck_i512 *)codes)[0], x0);
  __m512i sum1 = _mm512_dpbusd_epi32(*s1, ((const ck_i512 *)codes)[1], x0);
  // Both products are done before the next step: put off, they would keep its loads in registers.
  __asm__ volatile("" : "+v"(sum0));
  __asm__ volatile("" : "+v"(sum1));
  *s0 = sum0;
  *s1 = sum1;
}

/// 2-bit codes of 4 columns to bytes: the field that begins at bit `shift`.
static inline CK_AVX512 void ck_avx512_pairs(CK_INOUT bytes, CK_IN codes, unsigned shift) {
  const __m512i v = _mm512_srli_epi16(*(const ck_i512 *)codes, shift);
  *(ck_i512 *)bytes = _mm512_and_si512(v, _mm512_set1_epi8(0x03));
}

/// 4-bit codes of 4 columns to bytes: the field that begins at bit `shift`.
static inline CK_AVX512 void ck_avx512_nibbles(CK_INOUT bytes, CK_IN codes, unsigned shift) {
  const __m512i v = _mm512_srli_epi16(*(const ck_i512 *)codes, shift);
  *(ck_i512 *)bytes = _mm512_and_si512(v, _mm512_set1_epi8(0x0F));
}

/// 16 rows of binary16 to binary32.
static inline CK_AVX512 void ck_avx512_halves(CK_INOUT reals, CK_IN halves) {
  *(ck_f512 *)reals = _mm512_cvtph_ps(*(const ck_i256 *)halves);
}

/// 16 rows of int32 to binary32, to nearest even.
static inline CK_AVX512 void ck_avx512_reals(CK_INOUT reals, CK_IN sums) {
  *(ck_f512 *)reals = _mm512_cvtepi32_ps(*(const ck_i512 *)sums);
}

/// sums = sums * multiplier - offset in every row.
static inline CK_AVX512 void ck_avx512_affine(CK_INOUT sums, int32_t multiplier, int32_t offset) {
  ck_i512 *s = (ck_i512 *)sums;
  const __m512i product = _mm512_mullo_epi32(*s, _mm512_set1_epi32(multiplier));
  *s = _mm512_sub_epi32(product, _mm512_set1_epi32(offset));
}

/// maximum (16 × 32-bit) = the larger of itself and the bits of 32 magnitudes.
static inline CK_AVX512 void ck_avx512_magnitudes(CK_INOUT maximum, CK_IN values) {
  const __m512i mask = _mm512_set1_epi32(0x7FFFFFFF);
  const ck_i512 *v = (const ck_i512 *)values;
  ck_i512 *m = (ck_i512 *)maximum;
  const __m512i a = _mm512_and_si512(v[0], mask), b = _mm512_and_si512(v[1], mask);
  *m = _mm512_max_epi32(*m, _mm512_max_epi32(a, b));
}

/// The largest of 16 lanes.
static inline CK_AVX512 int32_t ck_avx512_largest(CK_IN maximum) {
  return _mm512_reduce_max_epi32(*(const ck_i512 *)maximum);
}

/// 32 values times factor, rounded to nearest even, to int8; returns their sum.
static inline CK_AVX512 int32_t ck_avx512_quantize(CK_INOUT codes, CK_IN values, float factor) {
  const ck_f512 *v = (const ck_f512 *)values;
  const __m512 f = _mm512_set1_ps(factor);
  const __m512i a = _mm512_cvtps_epi32(_mm512_mul_ps(v[0], f));
  const __m512i b = _mm512_cvtps_epi32(_mm512_mul_ps(v[1], f));
  ((ck_i128 *)codes)[0] = _mm512_cvtepi32_epi8(a);
  ((ck_i128 *)codes)[1] = _mm512_cvtepi32_epi8(b);
  return _mm512_reduce_add_epi32(_mm512_add_epi32(a, b));
}

#endif
