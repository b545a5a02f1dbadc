/// CPU features that the instruction sets are chosen by.
#pragma once

#include <stdint.h>

enum {
  CK_FEATURE_AVX2 = 1u << 0,
  CK_FEATURE_FMA = 1u << 1,
  CK_FEATURE_F16C = 1u << 2,
  CK_FEATURE_BMI2 = 1u << 3,
  CK_FEATURE_AVX512F = 1u << 4,
  CK_FEATURE_AVX512BW = 1u << 5,
  CK_FEATURE_AVX512VL = 1u << 6,
  CK_FEATURE_AVX512DQ = 1u << 7,
  CK_FEATURE_AVX512VNNI = 1u << 8,
  CK_FEATURE_AVX512VBMI = 1u << 9,
  CK_FEATURE_AVXVNNI = 1u << 10,
  CK_FEATURE_AVX512VBMI2 = 1u << 11,
};

/// The features that this CPU has and whose registers the operating system saves (CPUID and
/// XGETBV). 0 on other architectures than x86-64.
uint32_t ck_cpu_features(void);
