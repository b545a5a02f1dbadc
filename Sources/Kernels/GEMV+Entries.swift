import CKernels
import KernelContract

// Each `@c` body is inlined into its trampoline, and each caller of a trampoline stands in the file
// of its body and is never inlined: so the optimizer sees both in one module and inlines the body,
// and wide code stays in functions that nothing else shares.

#if arch(x86_64)
  @c(ck_body_gemv_u2c_avx512vnni) @inline(__always)
  func gemvU2CAVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerToken(PairCodes<AVX512>.self, arguments)
  }

  @inline(never) func gemvU2CAVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u2c_avx512vnni(arguments)
  }

  @c(ck_body_gemv_u2c_avx2) @inline(__always)
  func gemvU2CAVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerToken(PairCodes<AVX2>.self, arguments)
  }

  @inline(never) func gemvU2CAVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u2c_avx2(arguments)
  }

  @c(ck_body_gemv_u2g64_avx512vnni) @inline(__always)
  func gemvU2G64AVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(PairCodes<AVX512>.self, CenteredScales<AVX512>.self, arguments)
  }

  @inline(never) func gemvU2G64AVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u2g64_avx512vnni(arguments)
  }

  @c(ck_body_gemv_u2g64_avx2) @inline(__always)
  func gemvU2G64AVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(PairCodes<AVX2>.self, CenteredScales<AVX2>.self, arguments)
  }

  @inline(never) func gemvU2G64AVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u2g64_avx2(arguments)
  }

  @c(ck_body_gemv_u4g32_avx512vnni) @inline(__always)
  func gemvU4G32AVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(NibbleCodes<AVX512>.self, AffineScales<AVX512>.self, arguments)
  }

  @inline(never) func gemvU4G32AVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u4g32_avx512vnni(arguments)
  }

  @c(ck_body_gemv_u4g32_avx2) @inline(__always)
  func gemvU4G32AVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(NibbleCodes<AVX2>.self, AffineScales<AVX2>.self, arguments)
  }

  @inline(never) func gemvU4G32AVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u4g32_avx2(arguments)
  }

  @c(ck_body_gemv_s8c_avx512vnni) @inline(__always)
  func gemvS8CAVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(ByteCodes<AVX512>.self, ChannelScales<AVX512>.self, arguments)
  }

  @inline(never) func gemvS8CAVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_s8c_avx512vnni(arguments)
  }

  @c(ck_body_gemv_s8c_avx2) @inline(__always)
  func gemvS8CAVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(ByteCodes<AVX2>.self, ChannelScales<AVX2>.self, arguments)
  }

  @inline(never) func gemvS8CAVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_s8c_avx2(arguments)
  }

  @c(ck_body_gemv_u4c_avx512vnni) @inline(__always)
  func gemvU4CAVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(NibbleCodes<AVX512>.self, BalancedScales<AVX512>.self, arguments)
  }

  @inline(never) func gemvU4CAVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u4c_avx512vnni(arguments)
  }

  @c(ck_body_gemv_u4c_avx2) @inline(__always)
  func gemvU4CAVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(NibbleCodes<AVX2>.self, BalancedScales<AVX2>.self, arguments)
  }

  @inline(never) func gemvU4CAVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u4c_avx2(arguments)
  }

  @c(ck_body_gemv_s8g32_avx512vnni) @inline(__always)
  func gemvS8G32AVX512Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(GroupedByteCodes<AVX512>.self, GroupScales<AVX512>.self, arguments)
  }

  @inline(never) func gemvS8G32AVX512(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_s8g32_avx512vnni(arguments)
  }

  @c(ck_body_gemv_s8g32_avx2) @inline(__always)
  func gemvS8G32AVX2Body(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(GroupedByteCodes<AVX2>.self, GroupScales<AVX2>.self, arguments)
  }

  @inline(never) func gemvS8G32AVX2(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_s8g32_avx2(arguments)
  }
#endif

@inline(never) func gemvU2CPortable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemvPerToken(PairCodes<Portable>.self, arguments)
}

@inline(never) func gemvU2G64Portable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemvPerChunk(PairCodes<Portable>.self, CenteredScales<Portable>.self, arguments)
}

@inline(never) func gemvU4G32Portable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemvPerChunk(NibbleCodes<Portable>.self, AffineScales<Portable>.self, arguments)
}

@inline(never) func gemvS8CPortable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemvPerChunk(ByteCodes<Portable>.self, ChannelScales<Portable>.self, arguments)
}

@inline(never) func gemvU4CPortable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemvPerChunk(NibbleCodes<Portable>.self, BalancedScales<Portable>.self, arguments)
}

@inline(never) func gemvS8G32Portable(_ arguments: UnsafePointer<CKProduct>) {
  unsafe gemvPerChunk(GroupedByteCodes<Portable>.self, GroupScales<Portable>.self, arguments)
}
