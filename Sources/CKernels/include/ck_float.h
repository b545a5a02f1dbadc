/// Arguments, primitives and trampolines of the float kernels: norms, activation functions,
/// softmax, attention panels, conversions, rotations, float products. What they compute stands in
/// KernelContract. Every primitive works on 16 float lanes, whatever the register width, so that
/// the order of sums does not depend on the level.
#pragma once

#include "ck_targets.h"

typedef struct CKNorm {
  const float *_Nonnull input;
  const float *_Nonnull weight;
  float *_Nonnull output;
  long count;
  float epsilon;
} CKNorm;

typedef struct CKHeadNorm {
  float *_Nonnull values;
  const float *_Nonnull weight;
  /// Heads, floats from one head to the next, and floats of a head.
  long headCount, headStride, dimension;
  float epsilon;
} CKHeadNorm;

typedef struct CKElementwise {
  const float *_Nonnull a;
  const float *_Nonnull b;
  float *_Nonnull output;
  long count;
} CKElementwise;

typedef struct CKScaling {
  float *_Nonnull values;
  long count;
  float factor;
} CKScaling;

typedef struct CKConversion {
  const void *_Nonnull input;
  void *_Nonnull output;
  /// Written by conversions that choose a scale; unused by the others.
  float *_Nonnull scale;
  long count;
} CKConversion;

typedef struct CKPanel {
  const float *_Nonnull a;
  const void *_Nonnull b;
  float *_Nonnull c;
  /// Row strides in elements.
  long aStride, bStride, cStride;
  long rowCount, columnCount, depth;
  /// [rowCount] what a row of C is multiplied by before the product is added to it; null where C is
  /// overwritten.
  const float *_Nullable rowFactors;
} CKPanel;

typedef struct CKRotation {
  float *_Nonnull values;
  const float *_Nonnull cosines;
  const float *_Nonnull sines;
  /// Heads, floats from one head to the next, and rotated pairs of a head.
  long headCount, headStride, pairCount;
} CKRotation;

typedef struct CKSearch {
  const float *_Nonnull values;
  long count;
  /// Written: the place of the largest value, or -1.
  long *_Nonnull index;
} CKSearch;

typedef struct CKTopK {
  const float *_Nonnull values;
  /// Working memory of k numbers.
  uint64_t *_Nonnull keys;
  /// Written: the places of the k largest values, the largest first.
  int32_t *_Nonnull indices;
  long count, k;
  /// Written: k, or -1.
  long *_Nonnull found;
} CKTopK;

typedef struct CKFloatProduct {
  /// Row-major [rows][columns], weightStride elements apart.
  const void *_Nonnull weights;
  /// Row-major [tokens][columns], activationStride floats apart.
  const float *_Nonnull activations;
  /// Row-major [tokens][rows], outputStride floats apart.
  float *_Nonnull output;
  long weightStride, activationStride, outputStride;
  long columnCount, tokenCount;
  long rowBegin, rowEnd;
} CKFloatProduct;

CK_TRAMPOLINES(rmsnorm_f32, CKNorm)
CK_TRAMPOLINES(headnorm_f32, CKHeadNorm)
CK_TRAMPOLINES(swiglu_f32, CKElementwise)
CK_TRAMPOLINES(add_f32, CKElementwise)
CK_TRAMPOLINES(multiply_f32, CKElementwise)
CK_TRAMPOLINES(scale_f32, CKScaling)
CK_TRAMPOLINES(softmax_f32, CKScaling)
CK_TRAMPOLINES(convert_f16_f32, CKConversion)
CK_TRAMPOLINES(convert_f32_f16, CKConversion)
CK_TRAMPOLINES(convert_s8_f32, CKConversion)
CK_TRAMPOLINES(convert_s16_f32, CKConversion)
CK_TRAMPOLINES(rope_halves, CKRotation)
CK_TRAMPOLINES(rope_adjacent, CKRotation)
CK_TRAMPOLINES(argmax_f32, CKSearch)
CK_TRAMPOLINES(topk_f32, CKTopK)
CK_TRAMPOLINES(panel_f32, CKPanel)
CK_TRAMPOLINES(panel_f16, CKPanel)
CK_TRAMPOLINES(gemv_f32, CKFloatProduct)
CK_TRAMPOLINES(gemv_f16, CKFloatProduct)
CK_TRAMPOLINES(gemm_f32, CKFloatProduct)
CK_TRAMPOLINES(gemm_f16, CKFloatProduct)

#if defined(__x86_64__)
/// Loads and stores of memory that has no alignment.
typedef uint64_t ckf_u64 __attribute__((aligned(1), may_alias));
typedef uint32_t ckf_u32 __attribute__((aligned(1), may_alias));
typedef uint16_t ckf_u16 __attribute__((aligned(1), may_alias));

/// Up to 7 bytes in the low end of a word, zero above; no byte after them is read.
static inline uint64_t ckf_load_bytes(CK_IN source, long count) {
  const char *at = (const char *)source;
  uint64_t word = 0;
  int shift = 0;
  if (count & 4) word = *(const ckf_u32 *)at, at += 4, shift = 32;
  if (count & 2) word |= (uint64_t) * (const ckf_u16 *)at << shift, at += 2, shift += 16;
  if (count & 1) word |= (uint64_t) * (const uint8_t *)at << shift;
  return word;
}

/// Writes the low `count` bytes of a word, at most 7.
static inline void ckf_store_bytes(CK_INOUT target, uint64_t word, long count) {
  char *at = (char *)target;
  if (count & 4) *(ckf_u32 *)at = (uint32_t)word, at += 4, word >>= 32;
  if (count & 2) *(ckf_u16 *)at = (uint16_t)word, at += 2, word >>= 16;
  if (count & 1) *(uint8_t *)at = (uint8_t)word;
}

/// The first `count` bytes of 16, zero after them; no byte after them is read.
static inline CK_AVX2 __m128i ckf_load_part128(CK_IN source, long count) {
  if (count >= 16) return *(const ck_i128 *)source;
  if (count >= 8)
    return _mm_set_epi64x(
        (long long)ckf_load_bytes((const char *)source + 8, count - 8),
        (long long)*(const ckf_u64 *)source);
  return _mm_set_epi64x(0, (long long)ckf_load_bytes(source, count));
}

static inline CK_AVX2 void ckf_store_part128(CK_INOUT target, __m128i value, long count) {
  if (count >= 16) {
    *(ck_i128 *)target = value;
  } else if (count >= 8) {
    *(ckf_u64 *)target = (uint64_t)_mm_cvtsi128_si64(value);
    ckf_store_bytes((char *)target + 8, (uint64_t)_mm_extract_epi64(value, 1), count - 8);
  } else {
    ckf_store_bytes(target, (uint64_t)_mm_cvtsi128_si64(value), count);
  }
}

// AVX2: 16 lanes are two registers.

/// sum += a·b, one rounding.
static inline CK_AVX2 void ckf_fma_avx2(CK_INOUT sum, CK_IN a, CK_IN b) {
  ck_f256 *s = (ck_f256 *)sum;
  const ck_f256 *x = (const ck_f256 *)a, *y = (const ck_f256 *)b;
  s[0] = _mm256_fmadd_ps(x[0], y[0], s[0]);
  s[1] = _mm256_fmadd_ps(x[1], y[1], s[1]);
}

/// v = max(a, v), v where either is NaN.
static inline CK_AVX2 void ckf_max_avx2(CK_INOUT v, CK_IN a) {
  ck_f256 *x = (ck_f256 *)v;
  const ck_f256 *y = (const ck_f256 *)a;
  x[0] = _mm256_max_ps(y[0], x[0]);
  x[1] = _mm256_max_ps(y[1], x[1]);
}

/// v = min(a, v), v where either is NaN.
static inline CK_AVX2 void ckf_min_avx2(CK_INOUT v, CK_IN a) {
  ck_f256 *x = (ck_f256 *)v;
  const ck_f256 *y = (const ck_f256 *)a;
  x[0] = _mm256_min_ps(y[0], x[0]);
  x[1] = _mm256_min_ps(y[1], x[1]);
}

/// v = 0 where x < threshold.
static inline CK_AVX2 void ckf_zero_below_avx2(CK_INOUT v, CK_IN x, float threshold) {
  ck_f256 *r = (ck_f256 *)v;
  const ck_f256 *c = (const ck_f256 *)x;
  const __m256 t = _mm256_set1_ps(threshold);
  r[0] = _mm256_andnot_ps(_mm256_cmp_ps(c[0], t, _CMP_LT_OQ), r[0]);
  r[1] = _mm256_andnot_ps(_mm256_cmp_ps(c[1], t, _CMP_LT_OQ), r[1]);
}

/// A bit for each lane that equals the value.
static inline CK_AVX2 uint32_t ckf_equal_avx2(CK_IN v, float value) {
  const ck_f256 *x = (const ck_f256 *)v;
  const __m256 t = _mm256_set1_ps(value);
  return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(x[0], t, _CMP_EQ_OQ)) |
         (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(x[1], t, _CMP_EQ_OQ)) << 8;
}

/// A bit for each lane that is larger than the value.
static inline CK_AVX2 uint32_t ckf_above_avx2(CK_IN v, float value) {
  const ck_f256 *x = (const ck_f256 *)v;
  const __m256 t = _mm256_set1_ps(value);
  return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(x[0], t, _CMP_GT_OQ)) |
         (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(x[1], t, _CMP_GT_OQ)) << 8;
}

/// A bit for each lane that is NaN.
static inline CK_AVX2 uint32_t ckf_unordered_avx2(CK_IN v) {
  const ck_f256 *x = (const ck_f256 *)v;
  return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(x[0], x[0], _CMP_UNORD_Q)) |
         (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(x[1], x[1], _CMP_UNORD_Q)) << 8;
}

/// Lanes before `count`, of 8, all ones.
static inline CK_AVX2 __m256i ckf_lanes_avx2(long count) {
  return _mm256_cmpgt_epi32(
      _mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/// The first `count` lanes from memory, zero after them; nothing after them is read.
static inline CK_AVX2 void ckf_load_part_avx2(CK_INOUT v, CK_IN source, long count) {
  const float *at = (const float *)source;
  ((ck_f256 *)v)[0] = _mm256_maskload_ps(at, ckf_lanes_avx2(count));
  ((ck_f256 *)v)[1] = _mm256_maskload_ps(at + 8, ckf_lanes_avx2(count - 8));
}

static inline CK_AVX2 void ckf_store_part_avx2(CK_INOUT target, CK_IN v, long count) {
  float *at = (float *)target;
  _mm256_maskstore_ps(at, ckf_lanes_avx2(count), ((const ck_f256 *)v)[0]);
  _mm256_maskstore_ps(at + 8, ckf_lanes_avx2(count - 8), ((const ck_f256 *)v)[1]);
}

static inline CK_AVX2 void ckf_load_f16_avx2(CK_INOUT v, CK_IN source) {
  ((ck_f256 *)v)[0] = _mm256_cvtph_ps(((const ck_i128 *)source)[0]);
  ((ck_f256 *)v)[1] = _mm256_cvtph_ps(((const ck_i128 *)source)[1]);
}

static inline CK_AVX2 void ckf_load_part_f16_avx2(CK_INOUT v, CK_IN source, long count) {
  const char *at = (const char *)source;
  const long upper = count > 8 ? count - 8 : 0;
  ((ck_f256 *)v)[0] = _mm256_cvtph_ps(ckf_load_part128(at, 2 * count));
  ((ck_f256 *)v)[1] = _mm256_cvtph_ps(ckf_load_part128(at + 16, 2 * upper));
}

static inline CK_AVX2 void ckf_store_f16_avx2(CK_INOUT target, CK_IN v) {
  ((ck_i128 *)target)[0] = _mm256_cvtps_ph(((const ck_f256 *)v)[0], _MM_FROUND_TO_NEAREST_INT);
  ((ck_i128 *)target)[1] = _mm256_cvtps_ph(((const ck_f256 *)v)[1], _MM_FROUND_TO_NEAREST_INT);
}

static inline CK_AVX2 void ckf_store_part_f16_avx2(CK_INOUT target, CK_IN v, long count) {
  const ck_f256 *x = (const ck_f256 *)v;
  const long upper = count > 8 ? count - 8 : 0;
  ckf_store_part128(target, _mm256_cvtps_ph(x[0], _MM_FROUND_TO_NEAREST_INT), 2 * count);
  ckf_store_part128(
      (char *)target + 16, _mm256_cvtps_ph(x[1], _MM_FROUND_TO_NEAREST_INT), 2 * upper);
}

/// 16 floats as bytes, rounded to nearest even, saturated.
static inline CK_AVX2 __m128i ckf_narrow_avx2(CK_IN v) {
  const __m256i low = _mm256_cvtps_epi32(((const ck_f256 *)v)[0]);
  const __m256i high = _mm256_cvtps_epi32(((const ck_f256 *)v)[1]);
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
  return _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

static inline CK_AVX2 void ckf_store_part_s8_avx2(CK_INOUT target, CK_IN v, long count) {
  ckf_store_part128(target, ckf_narrow_avx2(v), count);
}

/// 16 floats as 16-bit numbers, rounded to nearest even, saturated.
static inline CK_AVX2 void ckf_store_part_s16_avx2(CK_INOUT target, CK_IN v, long count) {
  const __m256i low = _mm256_cvtps_epi32(((const ck_f256 *)v)[0]);
  const __m256i high = _mm256_cvtps_epi32(((const ck_f256 *)v)[1]);
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
  const long upper = count > 8 ? count - 8 : 0;
  ckf_store_part128(target, _mm256_castsi256_si128(words), 2 * count);
  ckf_store_part128((char *)target + 16, _mm256_extracti128_si256(words, 1), 2 * upper);
}

/// √value.
static inline CK_AVX2 float ckf_sqrt_avx2(float value) {
  return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(value)));
}

// AVX-512: 16 lanes are one register.

static inline CK_AVX512 float ckf_sqrt_avx512vnni(float value) {
  return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(value)));
}

static inline CK_AVX512 void ckf_fma_avx512vnni(CK_INOUT sum, CK_IN a, CK_IN b) {
  *(ck_f512 *)sum = _mm512_fmadd_ps(*(const ck_f512 *)a, *(const ck_f512 *)b, *(ck_f512 *)sum);
}

static inline CK_AVX512 void ckf_max_avx512vnni(CK_INOUT v, CK_IN a) {
  *(ck_f512 *)v = _mm512_max_ps(*(const ck_f512 *)a, *(ck_f512 *)v);
}

static inline CK_AVX512 void ckf_min_avx512vnni(CK_INOUT v, CK_IN a) {
  *(ck_f512 *)v = _mm512_min_ps(*(const ck_f512 *)a, *(ck_f512 *)v);
}

static inline CK_AVX512 void ckf_zero_below_avx512vnni(CK_INOUT v, CK_IN x, float threshold) {
  const __mmask16 keep =
      _mm512_cmp_ps_mask(*(const ck_f512 *)x, _mm512_set1_ps(threshold), _CMP_NLT_UQ);
  *(ck_f512 *)v = _mm512_maskz_mov_ps(keep, *(ck_f512 *)v);
}

static inline CK_AVX512 uint32_t ckf_equal_avx512vnni(CK_IN v, float value) {
  return _mm512_cmp_ps_mask(*(const ck_f512 *)v, _mm512_set1_ps(value), _CMP_EQ_OQ);
}

static inline CK_AVX512 uint32_t ckf_above_avx512vnni(CK_IN v, float value) {
  return _mm512_cmp_ps_mask(*(const ck_f512 *)v, _mm512_set1_ps(value), _CMP_GT_OQ);
}

static inline CK_AVX512 uint32_t ckf_unordered_avx512vnni(CK_IN v) {
  return _mm512_cmp_ps_mask(*(const ck_f512 *)v, *(const ck_f512 *)v, _CMP_UNORD_Q);
}

/// Lanes before `count`, of 16.
static inline CK_AVX512 __mmask16 ckf_lanes_avx512vnni(long count) {
  return (__mmask16)_bzhi_u32(0xFFFF, (unsigned)count);
}

static inline CK_AVX512 void ckf_load_part_avx512vnni(CK_INOUT v, CK_IN source, long count) {
  *(ck_f512 *)v = _mm512_maskz_loadu_ps(ckf_lanes_avx512vnni(count), source);
}

static inline CK_AVX512 void ckf_store_part_avx512vnni(CK_INOUT target, CK_IN v, long count) {
  _mm512_mask_storeu_ps(target, ckf_lanes_avx512vnni(count), *(const ck_f512 *)v);
}

static inline CK_AVX512 void ckf_load_f16_avx512vnni(CK_INOUT v, CK_IN source) {
  *(ck_f512 *)v = _mm512_cvtph_ps(*(const ck_i256 *)source);
}

static inline CK_AVX512 void ckf_load_part_f16_avx512vnni(CK_INOUT v, CK_IN source, long count) {
  *(ck_f512 *)v =
      _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(ckf_lanes_avx512vnni(count), source));
}

static inline CK_AVX512 void ckf_store_f16_avx512vnni(CK_INOUT target, CK_IN v) {
  *(ck_i256 *)target = _mm512_cvtps_ph(*(const ck_f512 *)v, _MM_FROUND_TO_NEAREST_INT);
}

static inline CK_AVX512 void ckf_store_part_f16_avx512vnni(CK_INOUT target, CK_IN v, long count) {
  _mm256_mask_storeu_epi16(
      target, ckf_lanes_avx512vnni(count),
      _mm512_cvtps_ph(*(const ck_f512 *)v, _MM_FROUND_TO_NEAREST_INT));
}

static inline CK_AVX512 void ckf_store_part_s8_avx512vnni(CK_INOUT target, CK_IN v, long count) {
  _mm_mask_storeu_epi8(
      target, ckf_lanes_avx512vnni(count),
      _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(*(const ck_f512 *)v)));
}

static inline CK_AVX512 void ckf_store_part_s16_avx512vnni(CK_INOUT target, CK_IN v, long count) {
  _mm256_mask_storeu_epi16(
      target, ckf_lanes_avx512vnni(count),
      _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(*(const ck_f512 *)v)));
}
#endif
