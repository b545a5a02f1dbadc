import CKernels

// Bodies and the calls of their trampolines stand in one file: LLVM inlines within a file only.
// The one pointer is that of the kernel's caller, under the contract.
#if arch(x86_64)
  @c(ck_body_rmsnorm_f32_avx2) @inline(__always)
  func rmsNormBodyAVX2(_ arguments: UnsafePointer<CKNorm>) {
    unsafe rmsNormBody(AVX2Floats.self, arguments)
  }
  @inline(never)
  func rmsNormAVX2(_ arguments: UnsafePointer<CKNorm>) { unsafe ck_run_rmsnorm_f32_avx2(arguments) }

  @c(ck_body_headnorm_f32_avx2) @inline(__always)
  func headNormBodyAVX2(_ arguments: UnsafePointer<CKHeadNorm>) {
    unsafe headNormBody(AVX2Floats.self, arguments)
  }
  @inline(never)
  func headNormAVX2(_ arguments: UnsafePointer<CKHeadNorm>) {
    unsafe ck_run_headnorm_f32_avx2(arguments)
  }

  @c(ck_body_topk_f32_avx2) @inline(__always)
  func topKBodyAVX2(_ arguments: UnsafePointer<CKTopK>) {
    unsafe topKBody(AVX2Floats.self, arguments)
  }
  @inline(never)
  func topKAVX2(_ arguments: UnsafePointer<CKTopK>) { unsafe ck_run_topk_f32_avx2(arguments) }

  @c(ck_body_swiglu_f32_avx2) @inline(__always)
  func swigluBodyAVX2(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe elementwiseBody(AVX2Floats.self, GatedProduct.self, arguments)
  }
  @inline(never)
  func swigluAVX2(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe ck_run_swiglu_f32_avx2(arguments)
  }

  @c(ck_body_add_f32_avx2) @inline(__always)
  func addBodyAVX2(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe elementwiseBody(AVX2Floats.self, Addition.self, arguments)
  }
  @inline(never)
  func addAVX2(_ arguments: UnsafePointer<CKElementwise>) { unsafe ck_run_add_f32_avx2(arguments) }

  @c(ck_body_multiply_f32_avx2) @inline(__always)
  func multiplyBodyAVX2(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe elementwiseBody(AVX2Floats.self, Multiplication.self, arguments)
  }
  @inline(never)
  func multiplyAVX2(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe ck_run_multiply_f32_avx2(arguments)
  }

  @c(ck_body_scale_f32_avx2) @inline(__always)
  func scaleBodyAVX2(_ arguments: UnsafePointer<CKScaling>) {
    unsafe scaleBody(AVX2Floats.self, arguments)
  }
  @inline(never)
  func scaleAVX2(_ arguments: UnsafePointer<CKScaling>) { unsafe ck_run_scale_f32_avx2(arguments) }

  @c(ck_body_softmax_f32_avx2) @inline(__always)
  func softmaxBodyAVX2(_ arguments: UnsafePointer<CKScaling>) {
    unsafe softmaxBody(AVX2Floats.self, arguments)
  }
  @inline(never)
  func softmaxAVX2(_ arguments: UnsafePointer<CKScaling>) {
    unsafe ck_run_softmax_f32_avx2(arguments)
  }

  @c(ck_body_convert_f16_f32_avx2) @inline(__always)
  func toF16BodyAVX2(_ arguments: UnsafePointer<CKConversion>) {
    unsafe toF16Body(AVX2Floats.self, arguments)
  }
  @inline(never)
  func toF16AVX2(_ arguments: UnsafePointer<CKConversion>) {
    unsafe ck_run_convert_f16_f32_avx2(arguments)
  }

  @c(ck_body_convert_f32_f16_avx2) @inline(__always)
  func fromF16BodyAVX2(_ arguments: UnsafePointer<CKConversion>) {
    unsafe fromF16Body(AVX2Floats.self, arguments)
  }
  @inline(never)
  func fromF16AVX2(_ arguments: UnsafePointer<CKConversion>) {
    unsafe ck_run_convert_f32_f16_avx2(arguments)
  }

  @c(ck_body_convert_s8_f32_avx2) @inline(__always)
  func toS8BodyAVX2(_ arguments: UnsafePointer<CKConversion>) {
    unsafe toCodesBody(AVX2Floats.self, S8Code.self, arguments)
  }
  @inline(never)
  func toS8AVX2(_ arguments: UnsafePointer<CKConversion>) {
    unsafe ck_run_convert_s8_f32_avx2(arguments)
  }

  @c(ck_body_convert_s16_f32_avx2) @inline(__always)
  func toS16BodyAVX2(_ arguments: UnsafePointer<CKConversion>) {
    unsafe toCodesBody(AVX2Floats.self, S16Code.self, arguments)
  }
  @inline(never)
  func toS16AVX2(_ arguments: UnsafePointer<CKConversion>) {
    unsafe ck_run_convert_s16_f32_avx2(arguments)
  }

  @c(ck_body_rope_halves_avx2) @inline(__always)
  func rotateHalvesBodyAVX2(_ arguments: UnsafePointer<CKRotation>) {
    unsafe rotateHalvesBody(AVX2Floats.self, arguments)
  }
  @inline(never)
  func rotateHalvesAVX2(_ arguments: UnsafePointer<CKRotation>) {
    unsafe ck_run_rope_halves_avx2(arguments)
  }

  @c(ck_body_rope_adjacent_avx2) @inline(__always)
  func rotateAdjacentBodyAVX2(_ arguments: UnsafePointer<CKRotation>) {
    unsafe rotateAdjacentBody(AVX2Floats.self, arguments)
  }
  @inline(never)
  func rotateAdjacentAVX2(_ arguments: UnsafePointer<CKRotation>) {
    unsafe ck_run_rope_adjacent_avx2(arguments)
  }

  @c(ck_body_argmax_f32_avx2) @inline(__always)
  func argMaxBodyAVX2(_ arguments: UnsafePointer<CKSearch>) {
    unsafe argMaxBody(AVX2Floats.self, arguments)
  }
  @inline(never)
  func argMaxAVX2(_ arguments: UnsafePointer<CKSearch>) { unsafe ck_run_argmax_f32_avx2(arguments) }
#endif
