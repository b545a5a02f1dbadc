/// The arguments of the loops over a packed ASTC block's texels, and their trampolines.
#pragma once

#include "ck_targets.h"

/// Everything known of a block but its texels.
typedef struct {
  /// The interpolation of each partition: ASTCLine of PackedFormats.
  const void *_Nonnull lines;
  /// 36 grid weights of texels, 0 to 64; with two planes those of the second behind them.
  const float *_Nonnull weights;
  /// The partition of each of 36 texels.
  const uint8_t *_Nonnull partitions;
  /// Room for 36 texels of four components.
  void *_Nonnull texels;
  long partitionCount;
  /// The component of the second plane, −1 where there is one plane.
  long secondPlaneComponent;
  /// ASTCTexelKind of PackedFormats.
  long kind;
} CKTexels;

#if defined(__x86_64__)
CK_TRAMPOLINE(CK_AVX2, avx2, astc_floats, CKTexels)
CK_TRAMPOLINE(CK_AVX2, avx2, astc_bytes, CKTexels)
#endif
