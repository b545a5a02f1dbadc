/// What Swift kernels need from C: CPU bits, vector primitives and target-attributed trampolines.
///
/// A kernel's body is written once in Swift, generic over an instruction set, and exported with
/// `@c`. For each vector level a trampoline here, `ck_run_*`, carries the `target` attribute and
/// inlines that body; the primitives are `static inline` functions with the same target string.
/// Vectors cross by pointer only, through unaligned typedefs: by value the two languages disagree
/// on the ABI of wide vectors, and Swift's stack slots are 16-byte aligned.
#pragma once

#include "ck_features.h"
#include "ck_targets.h"

#include "ck_primitives_avx2.h"
#include "ck_primitives_avx2vnni.h"
#include "ck_primitives_avx512.h"
#include "ck_primitives_astc_avx2.h"
#include "ck_primitives_astc_avx512.h"
#include "ck_primitives_astc_parts_avx2.h"
#include "ck_primitives_astc_values_avx2.h"
#include "ck_primitives_astc_parts_avx512.h"

#include "ck_product.h"
#include "ck_float.h"
#include "ck_attention.h"
#include "ck_texels.h"
#include "ck_layout.h"
#include "ck_roofs.h"
