/// What the machine can do at most: loops of nothing but loads, of int8 products, of fused
/// multiply-adds. Every function writes one vector to `sink`, so that its work is used.
#pragma once

#include "ck_targets.h"

/// The sum of a block's 64-bit words, in lines of 64 bytes, on any CPU.
static inline uint64_t ck_read_portable(const void *_Nonnull start, long line_count) {
  const uint64_t *word = (const uint64_t *)start;
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (long line = 0; line < line_count; line += 1, word += 8) {
    ck_prefetch((const char *)word + 8192);
    a += word[0] + word[4];
    b += word[1] + word[5];
    c += word[2] + word[6];
    d += word[3] + word[7];
  }
  return a + b + c + d;
}

#if defined(__x86_64__)

/// The same with 256-bit loads.
static inline CK_AVX2 uint64_t ck_read_avx2(const void *_Nonnull start, long line_count) {
  const __m256i *vector = (const __m256i *)start;
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  long line = 0;
  for (; line + 2 <= line_count; line += 2, vector += 4) {
    ck_prefetch((const char *)vector + 8192);
    ck_prefetch((const char *)vector + 8256);
    a = _mm256_add_epi64(a, vector[0]);
    b = _mm256_add_epi64(b, vector[1]);
    c = _mm256_add_epi64(c, vector[2]);
    d = _mm256_add_epi64(d, vector[3]);
  }
  if (line < line_count) a = _mm256_add_epi64(a, _mm256_add_epi64(vector[0], vector[1]));
  a = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
  uint64_t words[4];
  _mm256_storeu_si256((__m256i_u *)words, a);
  return words[0] + words[1] + words[2] + words[3];
}

/// The same with 512-bit loads.
static inline CK_AVX512 uint64_t ck_read_avx512(const void *_Nonnull start, long line_count) {
  const __m512i *vector = (const __m512i *)start;
  __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
  long line = 0;
  for (; line + 4 <= line_count; line += 4, vector += 4) {
    ck_prefetch((const char *)vector + 8192);
    ck_prefetch((const char *)vector + 8256);
    ck_prefetch((const char *)vector + 8320);
    ck_prefetch((const char *)vector + 8384);
    a = _mm512_add_epi64(a, vector[0]);
    b = _mm512_add_epi64(b, vector[1]);
    c = _mm512_add_epi64(c, vector[2]);
    d = _mm512_add_epi64(d, vector[3]);
  }
  for (; line < line_count; line += 1, vector += 1) a = _mm512_add_epi64(a, vector[0]);
  a = _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(c, d));
  return (uint64_t)_mm512_reduce_add_epi64(a);
}

/// Steps of a peak's loop: independent chains, more of them than latency × throughput.
enum { CK_PEAK_CHAINS_AVX2 = 10, CK_PEAK_CHAINS_AVX512 = 16 };

// The statements are volatile: nothing of a loop whose operands never change is left out.
#define CK_MADD_AVX2(ACC) \
  __asm__ volatile("vpmaddubsw %1, %2, %%ymm15\n\tvpaddw %%ymm15, %0, %0" \
                   : "+x"(ACC) : "x"(x), "x"(y) : "xmm15")
#define CK_VNNI_AVX2(ACC) \
  __asm__ volatile("{vex} vpdpbusd %1, %2, %0" : "+x"(ACC) : "x"(x), "x"(y))
#define CK_FMA_AVX2(ACC) \
  __asm__ volatile("vfmadd231ps %1, %2, %0" : "+x"(ACC) : "x"(x), "x"(y))
#define CK_VNNI_AVX512(ACC) \
  __asm__ volatile("vpdpbusd %1, %2, %0" : "+v"(ACC) : "v"(x), "v"(y))
#define CK_FMA_AVX512(ACC) \
  __asm__ volatile("vfmadd231ps %1, %2, %0" : "+v"(ACC) : "v"(x), "v"(y))

#define CK_TEN(STEP) \
  STEP(a0); STEP(a1); STEP(a2); STEP(a3); STEP(a4); STEP(a5); STEP(a6); STEP(a7); STEP(a8); STEP(a9)
#define CK_SIXTEEN(STEP) \
  CK_TEN(STEP); STEP(b0); STEP(b1); STEP(b2); STEP(b3); STEP(b4); STEP(b5)

/// `step_count` times ten products of 32 unsigned and signed bytes, summed in 16 bits.
static inline CK_AVX2 void ck_peak_int8_avx2(long step_count, CK_INOUT sink) {
  __m256i a0 = _mm256_setzero_si256(), a1 = a0, a2 = a0, a3 = a0, a4 = a0;
  __m256i a5 = a0, a6 = a0, a7 = a0, a8 = a0, a9 = a0, x = a0, y = a0;
  for (long step = 0; step < step_count; step += 1) { CK_TEN(CK_MADD_AVX2); }
  a0 = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9;
  *(ck_i256 *)sink = a0;
}

/// `step_count` times ten products of 32 unsigned and signed bytes, summed in 32 bits.
static inline CK_AVX2VNNI void ck_peak_int8_avx2vnni(long step_count, CK_INOUT sink) {
  __m256i a0 = _mm256_setzero_si256(), a1 = a0, a2 = a0, a3 = a0, a4 = a0;
  __m256i a5 = a0, a6 = a0, a7 = a0, a8 = a0, a9 = a0;
  const __m256i x = a0, y = a0;
  for (long step = 0; step < step_count; step += 1) { CK_TEN(CK_VNNI_AVX2); }
  a0 = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9;
  *(ck_i256 *)sink = a0;
}

/// `step_count` times ten fused multiply-adds of 8 floats.
static inline CK_AVX2 void ck_peak_float_avx2(long step_count, CK_INOUT sink) {
  __m256 a0 = _mm256_setzero_ps(), a1 = a0, a2 = a0, a3 = a0, a4 = a0;
  __m256 a5 = a0, a6 = a0, a7 = a0, a8 = a0, a9 = a0, x = a0, y = a0;
  for (long step = 0; step < step_count; step += 1) { CK_TEN(CK_FMA_AVX2); }
  *(ck_f256 *)sink = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9;
}

/// `step_count` times sixteen products of 64 unsigned and signed bytes, summed in 32 bits.
static inline CK_AVX512 void ck_peak_int8_avx512(long step_count, CK_INOUT sink) {
  __m512i a0 = _mm512_setzero_si512(), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0;
  __m512i a7 = a0, a8 = a0, a9 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0, b4 = a0, b5 = a0;
  const __m512i x = a0, y = a0;
  for (long step = 0; step < step_count; step += 1) { CK_SIXTEEN(CK_VNNI_AVX512); }
  a0 = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + b0 + b1 + b2 + b3 + b4 + b5;
  *(ck_i512 *)sink = a0;
}

/// `step_count` times sixteen fused multiply-adds of 16 floats.
static inline CK_AVX512 void ck_peak_float_avx512(long step_count, CK_INOUT sink) {
  __m512 a0 = _mm512_setzero_ps(), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0;
  __m512 a7 = a0, a8 = a0, a9 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0, b4 = a0, b5 = a0;
  const __m512 x = a0, y = a0;
  for (long step = 0; step < step_count; step += 1) { CK_SIXTEEN(CK_FMA_AVX512); }
  *(ck_f512 *)sink = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + b0 + b1 + b2 + b3 + b4 + b5;
}

#undef CK_MADD_AVX2
#undef CK_FMA_AVX2
#undef CK_VNNI_AVX512
#undef CK_FMA_AVX512
#undef CK_TEN
#undef CK_SIXTEEN
#endif
