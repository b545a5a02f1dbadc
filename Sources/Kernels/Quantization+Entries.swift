import CKernels
import KernelContract

// Each `@c` body is inlined into its trampoline, and each caller of a trampoline stands in the file
// of its body and is never inlined: so the optimizer sees both in one module and inlines the body,
// and wide code stays in functions that nothing else shares.

#if arch(x86_64)
  @c(ck_body_quantize_s8t_avx512vnni) @inline(__always)
  func quantizeS8TAVX512Body(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe quantize(AVX512.self, .perToken, arguments)
  }

  @inline(never) func quantizeS8TAVX512(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe ck_run_quantize_s8t_avx512vnni(arguments)
  }

  @c(ck_body_quantize_s8t_avx2) @inline(__always)
  func quantizeS8TAVX2Body(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe quantize(AVX2.self, .perToken, arguments)
  }

  @inline(never) func quantizeS8TAVX2(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe ck_run_quantize_s8t_avx2(arguments)
  }

  @c(ck_body_quantize_s8g64_avx512vnni) @inline(__always)
  func quantizeS8G64AVX512Body(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe quantize(AVX512.self, .perChunk, arguments)
  }

  @inline(never) func quantizeS8G64AVX512(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe ck_run_quantize_s8g64_avx512vnni(arguments)
  }

  @c(ck_body_quantize_s8g64_avx2) @inline(__always)
  func quantizeS8G64AVX2Body(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe quantize(AVX2.self, .perChunk, arguments)
  }

  @inline(never) func quantizeS8G64AVX2(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe ck_run_quantize_s8g64_avx2(arguments)
  }

  @c(ck_body_quantize_s8g36_avx512vnni) @inline(__always)
  func quantizeS8G36AVX512Body(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe quantizeBlocks(AVX512.self, arguments)
  }

  @inline(never) func quantizeS8G36AVX512(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe ck_run_quantize_s8g36_avx512vnni(arguments)
  }

  @c(ck_body_quantize_s8g36_avx2) @inline(__always)
  func quantizeS8G36AVX2Body(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe quantizeBlocks(AVX2.self, arguments)
  }

  @inline(never) func quantizeS8G36AVX2(_ arguments: UnsafePointer<CKQuantization>) {
    unsafe ck_run_quantize_s8g36_avx2(arguments)
  }
#endif

@inline(never) func quantizeS8TPortable(_ arguments: UnsafePointer<CKQuantization>) {
  unsafe quantize(Portable.self, .perToken, arguments)
}

@inline(never) func quantizeS8G64Portable(_ arguments: UnsafePointer<CKQuantization>) {
  unsafe quantize(Portable.self, .perChunk, arguments)
}

@inline(never) func quantizeS8G36Portable(_ arguments: UnsafePointer<CKQuantization>) {
  unsafe quantizeBlocks(Portable.self, arguments)
}
