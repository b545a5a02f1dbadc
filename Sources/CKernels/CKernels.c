#include "CKernels.h"

#if defined(__x86_64__)
#include <cpuid.h>

/// The low half of extended control register 0: which register files the system saves.
static uint32_t extended_control_register(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

uint32_t ck_cpu_features(void) {
  enum { OSXSAVE = 1u << 27, FMA = 1u << 12, F16C = 1u << 29 };
  enum { YMM_STATE = 0x06, ZMM_STATE = 0xE6 };
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE)) return 0;
  const unsigned leaf1 = c;
  const uint32_t saved = extended_control_register();
  if ((saved & YMM_STATE) != YMM_STATE || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;

  const unsigned subleaf_count = a;
  uint32_t features = 0;
  if (leaf1 & FMA) features |= CK_FEATURE_FMA;
  if (leaf1 & F16C) features |= CK_FEATURE_F16C;
  if (b & (1u << 5)) features |= CK_FEATURE_AVX2;
  if (b & (1u << 8)) features |= CK_FEATURE_BMI2;
  if ((saved & ZMM_STATE) == ZMM_STATE) {
    if (b & (1u << 16)) features |= CK_FEATURE_AVX512F;
    if (b & (1u << 17)) features |= CK_FEATURE_AVX512DQ;
    if (b & (1u << 30)) features |= CK_FEATURE_AVX512BW;
    if (b & (1u << 31)) features |= CK_FEATURE_AVX512VL;
    if (c & (1u << 11)) features |= CK_FEATURE_AVX512VNNI;
    if (c & (1u << 1)) features |= CK_FEATURE_AVX512VBMI;
    if (c & (1u << 6)) features |= CK_FEATURE_AVX512VBMI2;
  }
  if (subleaf_count >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 4))) {
    features |= CK_FEATURE_AVXVNNI;
  }
  return features;
}
#else
uint32_t ck_cpu_features(void) { return 0; }
#endif
