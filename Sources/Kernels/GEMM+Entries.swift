import CKernels
import KernelContract

// Each `@c` body is inlined into its trampoline, and each caller of a trampoline stands in the file
// of its body and is never inlined: so the optimizer sees both in one module and inlines the body,
// and wide code stays in functions that nothing else shares.

#if arch(x86_64)
  @c(ck_body_gemm_u2c_avx512vnni) @inline(__always)
  func gemmU2CAVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerToken(PairCodes<AVX512>.self, arguments)
  }

  @inline(never) func gemmU2CAVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u2c_avx512vnni(arguments)
  }

  @c(ck_body_gemm_u2c_avx2) @inline(__always)
  func gemmU2CAVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerToken(PairCodes<AVX2>.self, arguments)
  }

  @inline(never) func gemmU2CAVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u2c_avx2(arguments)
  }

  @c(ck_body_gemm_u2g64_avx512vnni) @inline(__always)
  func gemmU2G64AVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(PairCodes<AVX512>.self, CenteredScales<AVX512>.self, arguments)
  }

  @inline(never) func gemmU2G64AVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u2g64_avx512vnni(arguments)
  }

  @c(ck_body_gemm_u2g64_avx2) @inline(__always)
  func gemmU2G64AVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(PairCodes<AVX2>.self, CenteredScales<AVX2>.self, arguments)
  }

  @inline(never) func gemmU2G64AVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u2g64_avx2(arguments)
  }

  @c(ck_body_gemm_u4g32_avx512vnni) @inline(__always)
  func gemmU4G32AVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(NibbleCodes<AVX512>.self, AffineScales<AVX512>.self, arguments)
  }

  @inline(never) func gemmU4G32AVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u4g32_avx512vnni(arguments)
  }

  @c(ck_body_gemm_u4g32_avx2) @inline(__always)
  func gemmU4G32AVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(NibbleCodes<AVX2>.self, AffineScales<AVX2>.self, arguments)
  }

  @inline(never) func gemmU4G32AVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u4g32_avx2(arguments)
  }

  @c(ck_body_gemm_s8c_avx512vnni) @inline(__always)
  func gemmS8CAVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(ByteCodes<AVX512>.self, ChannelScales<AVX512>.self, arguments)
  }

  @inline(never) func gemmS8CAVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_s8c_avx512vnni(arguments)
  }

  @c(ck_body_gemm_s8c_avx2) @inline(__always)
  func gemmS8CAVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(ByteCodes<AVX2>.self, ChannelScales<AVX2>.self, arguments)
  }

  @inline(never) func gemmS8CAVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_s8c_avx2(arguments)
  }

  @c(ck_body_gemm_u4c_avx512vnni) @inline(__always)
  func gemmU4CAVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(NibbleCodes<AVX512>.self, BalancedScales<AVX512>.self, arguments)
  }

  @inline(never) func gemmU4CAVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u4c_avx512vnni(arguments)
  }

  @c(ck_body_gemm_u4c_avx2) @inline(__always)
  func gemmU4CAVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(NibbleCodes<AVX2>.self, BalancedScales<AVX2>.self, arguments)
  }

  @inline(never) func gemmU4CAVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u4c_avx2(arguments)
  }

  @c(ck_body_gemm_s8g32_avx512vnni) @inline(__always)
  func gemmS8G32AVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(GroupedByteCodes<AVX512>.self, GroupScales<AVX512>.self, arguments)
  }

  @inline(never) func gemmS8G32AVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_s8g32_avx512vnni(arguments)
  }

  @c(ck_body_gemm_s8g32_avx2) @inline(__always)
  func gemmS8G32AVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(GroupedByteCodes<AVX2>.self, GroupScales<AVX2>.self, arguments)
  }

  @inline(never) func gemmS8G32AVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_s8g32_avx2(arguments)
  }
#endif

@inline(never) func gemmU2CPortable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemmPerToken(PairCodes<Portable>.self, arguments)
}

@inline(never) func gemmU2G64Portable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemmPerChunk(PairCodes<Portable>.self, CenteredScales<Portable>.self, arguments)
}

@inline(never) func gemmU4G32Portable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemmPerChunk(NibbleCodes<Portable>.self, AffineScales<Portable>.self, arguments)
}

@inline(never) func gemmS8CPortable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemmPerChunk(ByteCodes<Portable>.self, ChannelScales<Portable>.self, arguments)
}

@inline(never) func gemmU4CPortable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemmPerChunk(NibbleCodes<Portable>.self, BalancedScales<Portable>.self, arguments)
}

@inline(never) func gemmS8G32Portable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemmPerChunk(GroupedByteCodes<Portable>.self, GroupScales<Portable>.self, arguments)
}
