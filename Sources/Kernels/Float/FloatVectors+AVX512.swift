import CKernels

// Bodies and the calls of their trampolines stand in one file: LLVM inlines within a file only.
// The one pointer is that of the kernel's caller, under the contract.
#if arch(x86_64)
  @c(ck_body_rmsnorm_f32_avx512vnni) @inline(__always)
  func rmsNormBodyAVX512(_ arguments: UnsafePointer<CKNorm>) {
    unsafe rmsNormBody(AVX512Floats.self, arguments)
  }
  @inline(never)
  func rmsNormAVX512(_ arguments: UnsafePointer<CKNorm>) {
    unsafe ck_run_rmsnorm_f32_avx512vnni(arguments)
  }

  @c(ck_body_headnorm_f32_avx512vnni) @inline(__always)
  func headNormBodyAVX512(_ arguments: UnsafePointer<CKHeadNorm>) {
    unsafe headNormBody(AVX512Floats.self, arguments)
  }
  @inline(never)
  func headNormAVX512(_ arguments: UnsafePointer<CKHeadNorm>) {
    unsafe ck_run_headnorm_f32_avx512vnni(arguments)
  }

  @c(ck_body_topk_f32_avx512vnni) @inline(__always)
  func topKBodyAVX512(_ arguments: UnsafePointer<CKTopK>) {
    unsafe topKBody(AVX512Floats.self, arguments)
  }
  @inline(never)
  func topKAVX512(_ arguments: UnsafePointer<CKTopK>) {
    unsafe ck_run_topk_f32_avx512vnni(arguments)
  }

  @c(ck_body_swiglu_f32_avx512vnni) @inline(__always)
  func swigluBodyAVX512(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe elementwiseBody(AVX512Floats.self, GatedProduct.self, arguments)
  }
  @inline(never)
  func swigluAVX512(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe ck_run_swiglu_f32_avx512vnni(arguments)
  }

  @c(ck_body_add_f32_avx512vnni) @inline(__always)
  func addBodyAVX512(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe elementwiseBody(AVX512Floats.self, Addition.self, arguments)
  }
  @inline(never)
  func addAVX512(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe ck_run_add_f32_avx512vnni(arguments)
  }

  @c(ck_body_multiply_f32_avx512vnni) @inline(__always)
  func multiplyBodyAVX512(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe elementwiseBody(AVX512Floats.self, Multiplication.self, arguments)
  }
  @inline(never)
  func multiplyAVX512(_ arguments: UnsafePointer<CKElementwise>) {
    unsafe ck_run_multiply_f32_avx512vnni(arguments)
  }

  @c(ck_body_scale_f32_avx512vnni) @inline(__always)
  func scaleBodyAVX512(_ arguments: UnsafePointer<CKScaling>) {
    unsafe scaleBody(AVX512Floats.self, arguments)
  }
  @inline(never)
  func scaleAVX512(_ arguments: UnsafePointer<CKScaling>) {
    unsafe ck_run_scale_f32_avx512vnni(arguments)
  }

  @c(ck_body_softmax_f32_avx512vnni) @inline(__always)
  func softmaxBodyAVX512(_ arguments: UnsafePointer<CKScaling>) {
    unsafe softmaxBody(AVX512Floats.self, arguments)
  }
  @inline(never)
  func softmaxAVX512(_ arguments: UnsafePointer<CKScaling>) {
    unsafe ck_run_softmax_f32_avx512vnni(arguments)
  }

  @c(ck_body_convert_f16_f32_avx512vnni) @inline(__always)
  func toF16BodyAVX512(_ arguments: UnsafePointer<CKConversion>) {
    unsafe toF16Body(AVX512Floats.self, arguments)
  }
  @inline(never)
  func toF16AVX512(_ arguments: UnsafePointer<CKConversion>) {
    unsafe ck_run_convert_f16_f32_avx512vnni(arguments)
  }

  @c(ck_body_convert_f32_f16_avx512vnni) @inline(__always)
  func fromF16BodyAVX512(_ arguments: UnsafePointer<CKConversion>) {
    unsafe fromF16Body(AVX512Floats.self, arguments)
  }
  @inline(never)
  func fromF16AVX512(_ arguments: UnsafePointer<CKConversion>) {
    unsafe ck_run_convert_f32_f16_avx512vnni(arguments)
  }

  @c(ck_body_convert_s8_f32_avx512vnni) @inline(__always)
  func toS8BodyAVX512(_ arguments: UnsafePointer<CKConversion>) {
    unsafe toCodesBody(AVX512Floats.self, S8Code.self, arguments)
  }
  @inline(never)
  func toS8AVX512(_ arguments: UnsafePointer<CKConversion>) {
    unsafe ck_run_convert_s8_f32_avx512vnni(arguments)
  }

  @c(ck_body_convert_s16_f32_avx512vnni) @inline(__always)
  func toS16BodyAVX512(_ arguments: UnsafePointer<CKConversion>) {
    unsafe toCodesBody(AVX512Floats.self, S16Code.self, arguments)
  }
  @inline(never)
  func toS16AVX512(_ arguments: UnsafePointer<CKConversion>) {
    unsafe ck_run_convert_s16_f32_avx512vnni(arguments)
  }

  @c(ck_body_rope_halves_avx512vnni) @inline(__always)
  func rotateHalvesBodyAVX512(_ arguments: UnsafePointer<CKRotation>) {
    unsafe rotateHalvesBody(AVX512Floats.self, arguments)
  }
  @inline(never)
  func rotateHalvesAVX512(_ arguments: UnsafePointer<CKRotation>) {
    unsafe ck_run_rope_halves_avx512vnni(arguments)
  }

  @c(ck_body_rope_adjacent_avx512vnni) @inline(__always)
  func rotateAdjacentBodyAVX512(_ arguments: UnsafePointer<CKRotation>) {
    unsafe rotateAdjacentBody(AVX512Floats.self, arguments)
  }
  @inline(never)
  func rotateAdjacentAVX512(_ arguments: UnsafePointer<CKRotation>) {
    unsafe ck_run_rope_adjacent_avx512vnni(arguments)
  }

  @c(ck_body_argmax_f32_avx512vnni) @inline(__always)
  func argMaxBodyAVX512(_ arguments: UnsafePointer<CKSearch>) {
    unsafe argMaxBody(AVX512Floats.self, arguments)
  }
  @inline(never)
  func argMaxAVX512(_ arguments: UnsafePointer<CKSearch>) {
    unsafe ck_run_argmax_f32_avx512vnni(arguments)
  }
#endif
