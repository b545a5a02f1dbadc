/// Primitives of the `avx2` level for packed products: tiles of 16 rows, two registers each.
///
/// A vector of codes is 64 bytes: 16 rows × 4 columns of bytes, each of which may hold one 8-bit,
/// two 4-bit or four 2-bit codes of columns 4 apart. Accumulators are two vectors of 8 rows.
#pragma once

#include "ck_targets.h"

#if defined(__x86_64__)

#define CK_BOTH_HALVES _Pragma("clang loop unroll(full)") for (int h = 0; h < 2; ++h)

/// a + b in 16 bits, in this order.
static inline CK_AVX2 __m256i ck_avx2_add16(__m256i a, __m256i b) {
  __m256i sum = _mm256_add_epi16(a, b);
  CK_KEEP_ORDER(sum);
  return sum;
}

/// Four activations in every row's lane.
static inline CK_AVX2 __m256i ck_avx2_splat(CK_IN x) {
  return _mm256_set1_epi32(*(const ck_i32 *)x);
}

/// acc (16-bit, two a row) += 2-bit codes of 16 columns. `high` takes the columns whose fields are
/// left in place, four times too large. 8 additions of 2·3·127·4 = 3,048 fit `high`.
static inline CK_AVX2 void ck_avx2_dot_pairs(CK_INOUT low, CK_INOUT high, CK_IN codes, CK_IN x) {
  ck_i256 *l = (ck_i256 *)low, *u = (ck_i256 *)high;
  const __m256i field0 = _mm256_set1_epi8(0x03), field1 = _mm256_set1_epi8(0x0C);
  const char *a = (const char *)x;
  const __m256i x0 = ck_avx2_splat(a), x1 = ck_avx2_splat(a + 4);
  const __m256i x2 = ck_avx2_splat(a + 8), x3 = ck_avx2_splat(a + 12);
  CK_BOTH_HALVES {
    const __m256i v = ((const ck_i256 *)codes)[h], w = _mm256_srli_epi16(v, 4);
    l[h] = ck_avx2_add16(l[h], _mm256_maddubs_epi16(_mm256_and_si256(v, field0), x0));
    u[h] = ck_avx2_add16(u[h], _mm256_maddubs_epi16(_mm256_and_si256(v, field1), x1));
    l[h] = ck_avx2_add16(l[h], _mm256_maddubs_epi16(_mm256_and_si256(w, field0), x2));
    u[h] = ck_avx2_add16(u[h], _mm256_maddubs_epi16(_mm256_and_si256(w, field1), x3));
  }
}

/// acc (16-bit, two a row) += 4-bit codes of 8 columns. 8 additions of 2·15·127 = 3,810 fit.
static inline CK_AVX2 void ck_avx2_dot_nibbles(CK_INOUT acc, CK_IN codes, CK_IN x) {
  ck_i256 *sum = (ck_i256 *)acc;
  const __m256i field = _mm256_set1_epi8(0x0F);
  const __m256i x0 = ck_avx2_splat(x), x1 = ck_avx2_splat((const char *)x + 4);
  CK_BOTH_HALVES {
    const __m256i v = ((const ck_i256 *)codes)[h], w = _mm256_srli_epi16(v, 4);
    sum[h] = ck_avx2_add16(sum[h], _mm256_maddubs_epi16(_mm256_and_si256(v, field), x0));
    sum[h] = ck_avx2_add16(sum[h], _mm256_maddubs_epi16(_mm256_and_si256(w, field), x1));
  }
}

/// acc (32-bit) += signed codes of 4 columns. The unsigned operand is the code's magnitude and the
/// signed one takes its sign: 2·128·127 fits 16 bits, where an unsigned code of 255 would not.
static inline CK_AVX2 void ck_avx2_panel_signed(CK_INOUT acc, CK_IN codes, CK_IN x) {
  ck_i256 *sum = (ck_i256 *)acc;
  const __m256i ones = _mm256_set1_epi16(1), x0 = ck_avx2_splat(x);
  CK_BOTH_HALVES {
    const __m256i v = ((const ck_i256 *)codes)[h];
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(v), _mm256_sign_epi8(x0, v));
    __m256i total = _mm256_add_epi32(sum[h], _mm256_madd_epi16(pairs, ones));
    CK_KEEP_ORDER(total);
    sum[h] = total;
  }
}

/// The same with codes that carry 128 too much, as they lie in memory.
static inline CK_AVX2 void ck_avx2_dot_bytes(CK_INOUT acc, CK_IN codes, CK_IN x) {
  ck_i256 v[2];
  CK_BOTH_HALVES {
    v[h] = _mm256_xor_si256(((const ck_i256 *)codes)[h], _mm256_set1_epi8((char)0x80));
  }
  ck_avx2_panel_signed(acc, v, x);
}

/// acc (16-bit, two a row) += codes of 4 columns, each at most 15 (8 additions) or 3 (42).
///
/// Written as instructions: of its own accord the compiler gives every sum a new register, and six
/// tokens' sums, codes, activations and a product are 16 registers.
static inline CK_AVX2 void ck_avx2_panel_small(CK_INOUT acc, CK_IN codes, CK_IN x) {
  ck_i256 *sum = (ck_i256 *)acc;
  const __m256i x0 = ck_avx2_splat(x);
  CK_BOTH_HALVES {
    __m256i total = sum[h], product;
    __asm__("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0"
            : "+x"(total), "=&x"(product)
            : "x"(((const ck_i256 *)codes)[h]), "x"(x0));
    sum[h] = total;
  }
}

/// sums (32-bit) += acc (16-bit, two a row).
static inline CK_AVX2 void ck_avx2_widen(CK_INOUT sums, CK_IN acc) {
  ck_i256 *s = (ck_i256 *)sums;
  CK_BOTH_HALVES {
    const __m256i wide = _mm256_madd_epi16(((const ck_i256 *)acc)[h], _mm256_set1_epi16(1));
    s[h] = _mm256_add_epi32(s[h], wide);
  }
}

/// sums (32-bit) += low + high / 4, which is exact.
static inline CK_AVX2 void ck_avx2_widen_pairs(CK_INOUT sums, CK_IN low, CK_IN high) {
  ck_i256 both[2];
  CK_BOTH_HALVES {
    const __m256i u = _mm256_srai_epi16(((const ck_i256 *)high)[h], 2);
    both[h] = _mm256_add_epi16(((const ck_i256 *)low)[h], u);
  }
  ck_avx2_widen(sums, both);
}

/// 2-bit codes of 4 columns to bytes: the field that begins at bit `shift`.
static inline CK_AVX2 void ck_avx2_pairs(CK_INOUT bytes, CK_IN codes, int shift) {
  CK_BOTH_HALVES {
    const __m256i v = _mm256_srli_epi16(((const ck_i256 *)codes)[h], shift);
    ((ck_i256 *)bytes)[h] = _mm256_and_si256(v, _mm256_set1_epi8(0x03));
  }
}

/// 4-bit codes of 4 columns to bytes: the field that begins at bit `shift`.
static inline CK_AVX2 void ck_avx2_nibbles(CK_INOUT bytes, CK_IN codes, int shift) {
  CK_BOTH_HALVES {
    const __m256i v = _mm256_srli_epi16(((const ck_i256 *)codes)[h], shift);
    ((ck_i256 *)bytes)[h] = _mm256_and_si256(v, _mm256_set1_epi8(0x0F));
  }
}

/// Codes of 4 columns to signed bytes.
static inline CK_AVX2 void ck_avx2_bytes(CK_INOUT bytes, CK_IN codes) {
  CK_BOTH_HALVES {
    const __m256i v = ((const ck_i256 *)codes)[h];
    ((ck_i256 *)bytes)[h] = _mm256_xor_si256(v, _mm256_set1_epi8((char)0x80));
  }
}

/// 16 rows of binary16 to binary32.
static inline CK_AVX2 void ck_avx2_halves(CK_INOUT reals, CK_IN halves) {
  CK_BOTH_HALVES { ((ck_f256 *)reals)[h] = _mm256_cvtph_ps(((const ck_i128 *)halves)[h]); }
}

/// 16 rows of int32 to binary32, to nearest even.
static inline CK_AVX2 void ck_avx2_reals(CK_INOUT reals, CK_IN sums) {
  CK_BOTH_HALVES { ((ck_f256 *)reals)[h] = _mm256_cvtepi32_ps(((const ck_i256 *)sums)[h]); }
}

/// sums = sums * multiplier - offset in every row.
static inline CK_AVX2 void ck_avx2_affine(CK_INOUT sums, int32_t multiplier, int32_t offset) {
  ck_i256 *s = (ck_i256 *)sums;
  CK_BOTH_HALVES {
    const __m256i product = _mm256_mullo_epi32(s[h], _mm256_set1_epi32(multiplier));
    s[h] = _mm256_sub_epi32(product, _mm256_set1_epi32(offset));
  }
}

/// maximum (8 × 32-bit) = the larger of itself and the bits of 32 magnitudes.
static inline CK_AVX2 void ck_avx2_magnitudes(CK_INOUT maximum, CK_IN values) {
  const __m256i mask = _mm256_set1_epi32(0x7FFFFFFF);
  const ck_i256 *v = (const ck_i256 *)values;
  const __m256i a = _mm256_max_epi32(_mm256_and_si256(v[0], mask), _mm256_and_si256(v[1], mask));
  const __m256i b = _mm256_max_epi32(_mm256_and_si256(v[2], mask), _mm256_and_si256(v[3], mask));
  ck_i256 *m = (ck_i256 *)maximum;
  *m = _mm256_max_epi32(*m, _mm256_max_epi32(a, b));
}

/// The largest of 8 non-negative lanes.
static inline CK_AVX2 int32_t ck_avx2_largest(CK_IN maximum) {
  const __m256i m = *(const ck_i256 *)maximum;
  __m128i x = _mm_max_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
  x = _mm_max_epi32(x, _mm_shuffle_epi32(x, 0x4E));
  x = _mm_max_epi32(x, _mm_shuffle_epi32(x, 0xB1));
  return _mm_cvtsi128_si32(x);
}

/// 32 values times factor, rounded to nearest even, to int8; returns their sum.
static inline CK_AVX2 int32_t ck_avx2_quantize(CK_INOUT codes, CK_IN values, float factor) {
  const ck_f256 *v = (const ck_f256 *)values;
  const __m256 f = _mm256_set1_ps(factor);
  const __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(v[0], f));
  const __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(v[1], f));
  const __m256i c = _mm256_cvtps_epi32(_mm256_mul_ps(v[2], f));
  const __m256i d = _mm256_cvtps_epi32(_mm256_mul_ps(v[3], f));
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  *(ck_i256 *)codes = _mm256_permutevar8x32_epi32(bytes, order);
  const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(a, b), _mm256_add_epi32(c, d));
  __m128i x = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4E));
  x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0xB1));
  return _mm_cvtsi128_si32(x);
}

#endif
