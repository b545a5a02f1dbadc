/// Arguments and trampolines of the packed products (GEMV and GEMM) and of the quantization of
/// their activations. What they compute stands in KernelContract.
#pragma once

#include "ck_targets.h"

enum {
  /// Rows of the largest panel of any level.
  CK_PANEL_ROWS = 32,
  /// Bytes before the panel in a thread's scratch: 12 tokens × 32 rows × 4.
  CK_ACCUMULATOR_BYTES = 12 * 32 * 4,
};

/// One call of a packed product: row tiles `tileBegin ..< tileEnd` times all tokens.
typedef struct CKProduct {
  /// Codes of row tile 0; tile i begins at i * codeTileBytes.
  const void *_Nonnull codes;
  /// Scales (and minimums) of row tile 0; tile i begins at i * scaleTileBytes.
  const void *_Nonnull scales;
  /// int8 activations, token after token, activationStride bytes apart.
  const int8_t *_Nonnull activations;
  /// s8t: one scale a token. s8g64: one a token and chunk, activationScaleStride floats from token
  /// to token.
  const float *_Nonnull activationScales;
  /// The sum of each token's activations; s8t only.
  const int32_t *_Nonnull tokenSums;
  /// Per token the sums of 32 columns each, groupSumStride floats apart.
  const float *_Nonnull groupSums;
  /// Row-major [tokens][rows], outputStride floats apart.
  float *_Nonnull output;
  /// Working memory of this thread; GEMM only.
  void *_Nullable scratch;
  long codeTileBytes, scaleTileBytes;
  long activationStride, activationScaleStride, groupSumStride, outputStride;
  /// Rows of the whole matrix, so that the last tile can be cut.
  long rowCount;
  /// Columns in units of 64, rounded up.
  long chunkCount;
  long tokenCount;
  long tileBegin, tileEnd;
} CKProduct;

/// One call of the activation quantization: tokens `tokenBegin ..< tokenEnd`.
typedef struct CKQuantization {
  /// f32 activations, token after token, inputStride floats apart.
  const float *_Nonnull input;
  int8_t *_Nonnull activations;
  /// Places as in CKProduct.
  float *_Nonnull activationScales;
  /// Written by s8t only.
  int32_t *_Nonnull tokenSums;
  float *_Nonnull groupSums;
  long inputStride, activationStride, activationScaleStride, groupSumStride;
  long columnCount, chunkCount;
  long tokenBegin, tokenEnd;
} CKQuantization;

CK_TRAMPOLINES(quantize_s8t, CKQuantization)
CK_TRAMPOLINES(quantize_s8g64, CKQuantization)

CK_TRAMPOLINES(gemv_s8c, CKProduct)
CK_TRAMPOLINES(gemv_s8g32, CKProduct)
CK_TRAMPOLINES(gemv_u4g32, CKProduct)
CK_TRAMPOLINES(gemv_u4c, CKProduct)
CK_TRAMPOLINES(gemv_u2c, CKProduct)
CK_TRAMPOLINES(gemv_u2g64, CKProduct)

CK_TRAMPOLINES(gemm_s8c, CKProduct)
CK_TRAMPOLINES(gemm_s8g32, CKProduct)
CK_TRAMPOLINES(gemm_u4g32, CKProduct)
CK_TRAMPOLINES(gemm_u4c, CKProduct)
CK_TRAMPOLINES(gemm_u2c, CKProduct)
CK_TRAMPOLINES(gemm_u2g64, CKProduct)
