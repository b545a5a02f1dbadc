/// Arguments and trampolines of the packed products (GEMV and GEMM) and of the quantization of
/// their activations. What they compute stands in KernelContract.
#pragma once

#include "ck_targets.h"

enum {
  /// Rows of the largest panel of any level.
  CK_PANEL_ROWS = 32,
  /// Tokens whose sums over a panel stay in the scratch while its strips pass by. Those of 48 made
  /// 128 tokens of u2c 2 % slower on Zen 3, where codes were unpacked three times for them.
  CK_BLOCK_TOKENS = 128,
  /// Bytes before the strip in a thread's scratch.
  CK_BLOCK_BYTES = CK_BLOCK_TOKENS * CK_PANEL_ROWS * 4,
  /// Columns of a strip, a multiple of every group and run: 8 KiB of bytes of 16 rows. On Zen 3, in C,
  /// strips of 128 columns cost 128 tokens of u2c 4 to 10 %, and whole rows of 2,048 eight tokens 2 to 6.
  CK_STRIP_COLUMNS = 512,
  /// ASTC: bytes before the panel in a thread's scratch: 12 tokens × 32 rows × 4.
  CK_ACCUMULATOR_BYTES = 12 * 32 * 4,
  /// ASTC: bytes of one tile while it is at work: 18 steps of values; what they are made from, and then
  /// activations of 16 bits of 12 tokens.
  CK_ASTC_TILE_BYTES = 18 * 64 + 12 * 80,
  /// ASTC: bytes of a block of the largest panel: 18 steps of values, two numbers a row.
  CK_ASTC_PANEL_BLOCK_BYTES = 32 * (18 * 4 + 2 * 4),
  /// ASTC: where the tables begin of two ends each for 2 × 256 pairs of numbers of 12 levels, plain
  /// and with an offset; for 2 × 1024 pairs of 20 levels; and of 2 × 1024 patterns as planes of bits,
  /// 16 bytes each (ck_primitives_astc_parts_avx2.h); behind them two of ones and two of zeros.
  CK_ASTC_PAIRS12 = 0,
  CK_ASTC_PAIRS20 = 2 * 256 * 2,
  CK_ASTC_PLANES = CK_ASTC_PAIRS20 + 2 * 1024 * 2,
  CK_ASTC_PLANE_BYTES = 16,
  CK_ASTC_PLANE_COUNT = 2 * 1024 + 4,
  CK_ASTC_TABLE_BYTES = CK_ASTC_PLANES + CK_ASTC_PLANE_COUNT * CK_ASTC_PLANE_BYTES,
};

/// One call of a packed product: row tiles `tileBegin ..< tileEnd` times all tokens.
typedef struct CKProduct {
  /// Codes of row tile 0; tile i begins at i * codeTileBytes.
  const void *_Nonnull codes;
  /// Scales (and minimums) of row tile 0; tile i begins at i * scaleTileBytes.
  const void *_Nonnull scales;
  /// int8 activations, token after token, activationStride bytes apart.
  const int8_t *_Nonnull activations;
  /// s8t: one scale a token. s8g64 and s8g36: one a token and chunk, activationScaleStride floats
  /// from token to token.
  const float *_Nonnull activationScales;
  /// The sum of each token's activations; s8t only.
  const int32_t *_Nonnull tokenSums;
  /// Per token the sums of 32 columns each (s8g36: of each chunk), groupSumStride floats apart.
  const float *_Nonnull groupSums;
  /// ASTC: what endpoints and seeds stand for; else null.
  const void *_Nullable tables;
  /// Row-major [tokens][rows], outputStride floats apart.
  float *_Nonnull output;
  /// Working memory of this thread; GEMM and ASTC only.
  void *_Nullable scratch;
  long codeTileBytes, scaleTileBytes;
  long activationStride, activationScaleStride, groupSumStride, outputStride;
  /// Rows of the whole matrix, so that the last tile can be cut.
  long rowCount;
  /// Columns in units of 64 (s8g36: of 36), rounded up.
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
CK_TRAMPOLINES(quantize_s8g36, CKQuantization)

CK_VNNI_TRAMPOLINES(gemv_s8c, CKProduct)
CK_VNNI_TRAMPOLINES(gemv_s8g32, CKProduct)
CK_VNNI_TRAMPOLINES(gemv_u4g32, CKProduct)
CK_VNNI_TRAMPOLINES(gemv_u4c, CKProduct)
CK_VNNI_TRAMPOLINES(gemv_u2c, CKProduct)
CK_VNNI_TRAMPOLINES(gemv_u2g64, CKProduct)

CK_VNNI_TRAMPOLINES(gemm_s8c, CKProduct)
CK_VNNI_TRAMPOLINES(gemm_s8g32, CKProduct)
CK_VNNI_TRAMPOLINES(gemm_u4g32, CKProduct)
CK_VNNI_TRAMPOLINES(gemm_u4c, CKProduct)
CK_VNNI_TRAMPOLINES(gemm_u2c, CKProduct)
CK_VNNI_TRAMPOLINES(gemm_u2g64, CKProduct)

CK_VBMI_TRAMPOLINES(gemv_astc_ldr, CKProduct)
CK_VBMI_TRAMPOLINES(gemv_astc_hdr, CKProduct)
CK_VBMI_TRAMPOLINES(gemm_astc_ldr, CKProduct)
CK_VBMI_TRAMPOLINES(gemm_astc_hdr, CKProduct)
