import CKernels
import KernelContract

// As in GEMV+Entries.swift, at the `avx2vnni` level.

#if arch(x86_64)
  @c(ck_body_gemv_u2c_avx2vnni) @inline(__always)
  func gemvU2CAVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerToken(PairCodes<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemvU2CAVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u2c_avx2vnni(arguments)
  }

  @c(ck_body_gemv_u2g64_avx2vnni) @inline(__always)
  func gemvU2G64AVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(PairCodes<AVX2VNNI>.self, CenteredScales<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemvU2G64AVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u2g64_avx2vnni(arguments)
  }

  @c(ck_body_gemv_u4g32_avx2vnni) @inline(__always)
  func gemvU4G32AVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(NibbleCodes<AVX2VNNI>.self, AffineScales<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemvU4G32AVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u4g32_avx2vnni(arguments)
  }

  @c(ck_body_gemv_s8c_avx2vnni) @inline(__always)
  func gemvS8CAVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(ByteCodes<AVX2VNNI>.self, ChannelScales<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemvS8CAVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_s8c_avx2vnni(arguments)
  }

  @c(ck_body_gemv_u4c_avx2vnni) @inline(__always)
  func gemvU4CAVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(NibbleCodes<AVX2VNNI>.self, BalancedScales<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemvU4CAVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_u4c_avx2vnni(arguments)
  }

  @c(ck_body_gemv_s8g32_avx2vnni) @inline(__always)
  func gemvS8G32AVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemvPerChunk(GroupedByteCodes<AVX2VNNI>.self, GroupScales<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemvS8G32AVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemv_s8g32_avx2vnni(arguments)
  }
#endif
