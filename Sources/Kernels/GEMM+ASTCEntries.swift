import CKernels
import KernelContract

// Bodies and trampolines as in GEMV+Entries.swift.

#if arch(x86_64)
  @c(ck_body_gemm_astc_ldr_avx512vnni) @inline(__always)
  func gemmASTCLDRAVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmASTC(AVX512.self, isHDR: false, arguments)
  }

  @inline(never) func gemmASTCLDRAVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_astc_ldr_avx512vnni(arguments)
  }

  @c(ck_body_gemm_astc_ldr_avx2) @inline(__always)
  func gemmASTCLDRAVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmASTC(AVX2.self, isHDR: false, arguments)
  }

  @inline(never) func gemmASTCLDRAVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_astc_ldr_avx2(arguments)
  }

  @c(ck_body_gemm_astc_hdr_avx512vnni) @inline(__always)
  func gemmASTCHDRAVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmASTC(AVX512.self, isHDR: true, arguments)
  }

  @inline(never) func gemmASTCHDRAVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_astc_hdr_avx512vnni(arguments)
  }

  @c(ck_body_gemm_astc_hdr_avx2) @inline(__always)
  func gemmASTCHDRAVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmASTC(AVX2.self, isHDR: true, arguments)
  }

  @inline(never) func gemmASTCHDRAVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_astc_hdr_avx2(arguments)
  }
#endif

@inline(never) func gemmASTCLDRPortable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemmASTC(Portable.self, isHDR: false, arguments)
}

@inline(never) func gemmASTCHDRPortable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemmASTC(Portable.self, isHDR: true, arguments)
}
