import CKernels
import KernelContract

// Bodies and trampolines as in GEMV+Entries.swift.

#if arch(x86_64)
  @c(ck_body_gemv_astc_ldr_avx512vnni) @inline(__always)
  func gemvASTCLDRAVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvASTC(AVX512.self, isHDR: false, arguments)
  }

  @inline(never) func gemvASTCLDRAVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_astc_ldr_avx512vnni(arguments)
  }

  @c(ck_body_gemv_astc_ldr_avx2) @inline(__always)
  func gemvASTCLDRAVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvASTC(AVX2.self, isHDR: false, arguments)
  }

  @inline(never) func gemvASTCLDRAVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_astc_ldr_avx2(arguments)
  }

  @c(ck_body_gemv_astc_hdr_avx512vnni) @inline(__always)
  func gemvASTCHDRAVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvASTC(AVX512.self, isHDR: true, arguments)
  }

  @inline(never) func gemvASTCHDRAVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_astc_hdr_avx512vnni(arguments)
  }

  @c(ck_body_gemv_astc_hdr_avx2) @inline(__always)
  func gemvASTCHDRAVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvASTC(AVX2.self, isHDR: true, arguments)
  }

  @inline(never) func gemvASTCHDRAVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_astc_hdr_avx2(arguments)
  }
#endif

@inline(never) func gemvASTCLDRPortable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemvASTC(Portable.self, isHDR: false, arguments)
}

@inline(never) func gemvASTCHDRPortable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemvASTC(Portable.self, isHDR: true, arguments)
}
