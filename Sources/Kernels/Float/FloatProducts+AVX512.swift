import CKernels

// Bodies and the calls of their trampolines stand in one file: LLVM inlines within a file only.
// The one pointer is that of the kernel's caller, under the contract.
#if arch(x86_64)
  @c(ck_body_panel_f32_avx512vnni) @inline(__always)
  func panelF32BodyAVX512(_ arguments: UnsafePointer<CKPanel>) {
    unsafe panelBody(AVX512Floats.self, F32Element.self, arguments)
  }
  @inline(never)
  func panelF32AVX512(_ arguments: UnsafePointer<CKPanel>) {
    unsafe ck_run_panel_f32_avx512vnni(arguments)
  }

  @c(ck_body_panel_f16_avx512vnni) @inline(__always)
  func panelF16BodyAVX512(_ arguments: UnsafePointer<CKPanel>) {
    unsafe panelBody(AVX512Floats.self, F16Element.self, arguments)
  }
  @inline(never)
  func panelF16AVX512(_ arguments: UnsafePointer<CKPanel>) {
    unsafe ck_run_panel_f16_avx512vnni(arguments)
  }

  @c(ck_body_gemv_f32_avx512vnni) @inline(__always)
  func gemvF32BodyAVX512(_ arguments: UnsafePointer<CKFloatProduct>) {
    unsafe floatProductBody(AVX512Floats.self, F32Element.self, arguments, rows: 4, tokens: 1)
  }
  @inline(never)
  func gemvF32AVX512(_ arguments: UnsafePointer<CKFloatProduct>) {
    unsafe ck_run_gemv_f32_avx512vnni(arguments)
  }

  @c(ck_body_gemv_f16_avx512vnni) @inline(__always)
  func gemvF16BodyAVX512(_ arguments: UnsafePointer<CKFloatProduct>) {
    unsafe floatProductBody(AVX512Floats.self, F16Element.self, arguments, rows: 4, tokens: 1)
  }
  @inline(never)
  func gemvF16AVX512(_ arguments: UnsafePointer<CKFloatProduct>) {
    unsafe ck_run_gemv_f16_avx512vnni(arguments)
  }

  @c(ck_body_gemm_f32_avx512vnni) @inline(__always)
  func gemmF32BodyAVX512(_ arguments: UnsafePointer<CKFloatProduct>) {
    unsafe floatProductBody(AVX512Floats.self, F32Element.self, arguments, rows: 4, tokens: 2)
  }
  @inline(never)
  func gemmF32AVX512(_ arguments: UnsafePointer<CKFloatProduct>) {
    unsafe ck_run_gemm_f32_avx512vnni(arguments)
  }

  @c(ck_body_gemm_f16_avx512vnni) @inline(__always)
  func gemmF16BodyAVX512(_ arguments: UnsafePointer<CKFloatProduct>) {
    unsafe floatProductBody(AVX512Floats.self, F16Element.self, arguments, rows: 4, tokens: 2)
  }
  @inline(never)
  func gemmF16AVX512(_ arguments: UnsafePointer<CKFloatProduct>) {
    unsafe ck_run_gemm_f16_avx512vnni(arguments)
  }
#endif
