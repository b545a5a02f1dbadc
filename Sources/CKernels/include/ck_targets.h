/// The target strings of the vector levels, and the typedefs that primitives take by pointer.
#pragma once

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

/// The `avx2` level.
#define CK_AVX2 __attribute__((target("avx2,fma,f16c,bmi2")))

/// The `avx2vnni` level.
#define CK_AVX2VNNI __attribute__((target("avxvnni,avx2,fma,f16c,bmi2")))

/// The `avx512vnni` level. `prefer-256-bit` is not in it: the bodies mean 512-bit registers.
#define CK_AVX512 \
  __attribute__((target( \
      "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c,bmi2")))

/// The same for kernels that need VBMI and VBMI2 too; what is chosen by is in their registry entry.
#define CK_AVX512_VBMI \
  __attribute__((target( \
      "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi,avx512vbmi2,avx2,fma,f16c,bmi2")))

/// Vectors in memory of any alignment.
typedef __m512i ck_i512 __attribute__((aligned(1), may_alias));
typedef __m512 ck_f512 __attribute__((aligned(1), may_alias));
typedef __m256i ck_i256 __attribute__((aligned(1), may_alias));
typedef __m256 ck_f256 __attribute__((aligned(1), may_alias));
typedef __m128i ck_i128 __attribute__((aligned(1), may_alias));
typedef __m128 ck_f128 __attribute__((aligned(1), may_alias));
typedef int16_t ck_i16 __attribute__((aligned(1), may_alias));
typedef int32_t ck_i32 __attribute__((aligned(1), may_alias));
typedef long long ck_i64 __attribute__((aligned(1), may_alias));
typedef float ck_f32 __attribute__((aligned(1), may_alias));

/// Keeps the optimizer from reordering the sums that a vector is part of: regrouped, several steps
/// of a tile need temporaries that the registers do not hold. Costs no instruction.
#define CK_KEEP_ORDER(VECTOR) __asm__("" : "+x"(VECTOR))

/// Has the first vector computed before what is made of the two others: side by side they would need
/// more registers than there are. Costs no instruction.
#define CK_BEFORE(VECTOR, A, B) __asm__("" : "+x"(VECTOR), "+x"(A), "+x"(B))

/// Keeps the optimizer from moving loads and stores across, or from replacing a loop of stores by
/// a call. Vectors in registers are not touched. Costs no instruction.
static inline void ck_memory_order(void) { __asm__ volatile("" ::: "memory"); }

/// The same number, of which the optimizer knows nothing: what is computed from it is computed
/// again instead of being kept. Costs no instruction.
static inline long ck_unknown(long value) {
  __asm__("" : "+r"(value));
  return value;
}

/// Asks for the cache line at p. A hint only: any address is allowed.
static inline void ck_prefetch(const void *_Nonnull p) { __builtin_prefetch(p, 0, 3); }

/// Pointers of primitives: written (and perhaps read), and only read.
#define CK_INOUT void *_Nonnull
#define CK_IN const void *_Nonnull

/// Declares the Swift body `ck_body_NAME_LEVEL` and defines the trampoline `ck_run_NAME_LEVEL`
/// that inlines it; the kernel's arguments lie behind one pointer.
#define CK_TRAMPOLINE(ATTRIBUTE, LEVEL, NAME, ARGUMENTS) \
  void ck_body_##NAME##_##LEVEL(const ARGUMENTS *_Nonnull); \
  static inline ATTRIBUTE void ck_run_##NAME##_##LEVEL(const ARGUMENTS *_Nonnull arguments) { \
    [[clang::always_inline]] ck_body_##NAME##_##LEVEL(arguments); \
  }

/// Trampolines of one kernel for every vector level.
#define CK_TRAMPOLINES(NAME, ARGUMENTS) \
  CK_TRAMPOLINE(CK_AVX2, avx2, NAME, ARGUMENTS) \
  CK_TRAMPOLINE(CK_AVX512, avx512vnni, NAME, ARGUMENTS)

/// The same for kernels that sum products of bytes, which AVX-VNNI does in one instruction.
#define CK_VNNI_TRAMPOLINES(NAME, ARGUMENTS) \
  CK_TRAMPOLINES(NAME, ARGUMENTS) \
  CK_TRAMPOLINE(CK_AVX2VNNI, avx2vnni, NAME, ARGUMENTS)

/// The same for kernels whose AVX-512 level needs VBMI and VBMI2.
#define CK_VBMI_TRAMPOLINES(NAME, ARGUMENTS) \
  CK_TRAMPOLINE(CK_AVX2, avx2, NAME, ARGUMENTS) \
  CK_TRAMPOLINE(CK_AVX512_VBMI, avx512vnni, NAME, ARGUMENTS)
#else
#define CK_TRAMPOLINES(NAME, ARGUMENTS)
#define CK_VNNI_TRAMPOLINES(NAME, ARGUMENTS)
#define CK_VBMI_TRAMPOLINES(NAME, ARGUMENTS)
#endif
