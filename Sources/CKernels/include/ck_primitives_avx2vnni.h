/// Primitives of the `avx2vnni` level for packed products: those of ck_primitives_avx2.h with sums of
/// four products in 32 bits by one VEX-coded `vpdpbusd`.
#pragma once

#include "ck_primitives_avx2.h"

#if defined(__x86_64__)

/// Four activations in every row's lane.
static inline CK_AVX2VNNI __m256i ck_avx2vnni_splat(CK_IN x) {
  return _mm256_set1_epi32(*(const ck_i32 *)x);
}

/// sum += unsigned codes × signed activations, four a lane, in this order.
static inline CK_AVX2VNNI __m256i ck_avx2vnni_sum(__m256i sum, __m256i codes, __m256i x) {
  __m256i total = _mm256_dpbusd_avx_epi32(sum, codes, x);
  CK_KEEP_ORDER(total);
  return total;
}

/// Four accumulators (32-bit) += 2-bit codes of 16 columns, fields left in place: accumulator f
/// holds 4^f times its sum. 192·127·32,768 fits (131,072 columns, a quarter of them a field).
static inline CK_AVX2VNNI void ck_avx2vnni_dot_pairs(
    CK_INOUT acc0, CK_INOUT acc1, CK_INOUT acc2, CK_INOUT acc3, CK_IN codes, CK_IN x) {
  const char *a = (const char *)x;
  ck_i256 *s0 = (ck_i256 *)acc0, *s1 = (ck_i256 *)acc1;
  ck_i256 *s2 = (ck_i256 *)acc2, *s3 = (ck_i256 *)acc3;
  CK_BOTH_HALVES {
    const __m256i v = ((const ck_i256 *)codes)[h];
    const __m256i v0 = _mm256_and_si256(v, _mm256_set1_epi8(0x03));
    const __m256i v1 = _mm256_and_si256(v, _mm256_set1_epi8(0x0C));
    const __m256i v2 = _mm256_and_si256(v, _mm256_set1_epi8(0x30));
    const __m256i v3 = _mm256_and_si256(v, _mm256_set1_epi8((char)0xC0));
    s0[h] = ck_avx2vnni_sum(s0[h], v0, ck_avx2vnni_splat(a));
    s1[h] = ck_avx2vnni_sum(s1[h], v1, ck_avx2vnni_splat(a + 4));
    s2[h] = ck_avx2vnni_sum(s2[h], v2, ck_avx2vnni_splat(a + 8));
    s3[h] = ck_avx2vnni_sum(s3[h], v3, ck_avx2vnni_splat(a + 12));
  }
}

/// sums = acc0 + acc1 / 4 + acc2 / 16 + acc3 / 64, which is exact.
static inline CK_AVX2VNNI void ck_avx2vnni_join_pairs(
    CK_INOUT sums, CK_IN acc0, CK_IN acc1, CK_IN acc2, CK_IN acc3) {
  CK_BOTH_HALVES {
    const __m256i s1 = _mm256_srai_epi32(((const ck_i256 *)acc1)[h], 2);
    const __m256i s2 = _mm256_srai_epi32(((const ck_i256 *)acc2)[h], 4);
    const __m256i s3 = _mm256_srai_epi32(((const ck_i256 *)acc3)[h], 6);
    const __m256i a = _mm256_add_epi32(((const ck_i256 *)acc0)[h], s1);
    ((ck_i256 *)sums)[h] = _mm256_add_epi32(a, _mm256_add_epi32(s2, s3));
  }
}

/// Two accumulators (32-bit) += 4-bit codes of 8 columns.
static inline CK_AVX2VNNI void ck_avx2vnni_dot_nibbles(
    CK_INOUT low, CK_INOUT high, CK_IN codes, CK_IN x) {
  const __m256i field = _mm256_set1_epi8(0x0F);
  const __m256i x0 = ck_avx2vnni_splat(x), x1 = ck_avx2vnni_splat((const char *)x + 4);
  ck_i256 *l = (ck_i256 *)low, *u = (ck_i256 *)high;
  CK_BOTH_HALVES {
    const __m256i v = ((const ck_i256 *)codes)[h], w = _mm256_srli_epi16(v, 4);
    l[h] = ck_avx2vnni_sum(l[h], _mm256_and_si256(v, field), x0);
    u[h] = ck_avx2vnni_sum(u[h], _mm256_and_si256(w, field), x1);
  }
}

/// acc (32-bit) += bytes of 4 columns, of a vector in memory or of a panel.
static inline CK_AVX2VNNI void ck_avx2vnni_dot_bytes(CK_INOUT acc, CK_IN codes, CK_IN x) {
  ck_i256 *sum = (ck_i256 *)acc;
  const __m256i x0 = ck_avx2vnni_splat(x);
  CK_BOTH_HALVES { sum[h] = ck_avx2vnni_sum(sum[h], ((const ck_i256 *)codes)[h], x0); }
}

#endif
