import CKernels
import KernelContract

// As in GEMM+Entries.swift, at the `avx2vnni` level.

#if arch(x86_64)
  @c(ck_body_gemm_u2c_avx2vnni) @inline(__always)
  func gemmU2CAVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerToken(PairCodes<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemmU2CAVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u2c_avx2vnni(arguments)
  }

  @c(ck_body_gemm_u2g64_avx2vnni) @inline(__always)
  func gemmU2G64AVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(PairCodes<AVX2VNNI>.self, CenteredScales<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemmU2G64AVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u2g64_avx2vnni(arguments)
  }

  @c(ck_body_gemm_u4g32_avx2vnni) @inline(__always)
  func gemmU4G32AVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(NibbleCodes<AVX2VNNI>.self, AffineScales<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemmU4G32AVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u4g32_avx2vnni(arguments)
  }

  @c(ck_body_gemm_s8c_avx2vnni) @inline(__always)
  func gemmS8CAVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(ByteCodes<AVX2VNNI>.self, ChannelScales<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemmS8CAVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_s8c_avx2vnni(arguments)
  }

  @c(ck_body_gemm_u4c_avx2vnni) @inline(__always)
  func gemmU4CAVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(NibbleCodes<AVX2VNNI>.self, BalancedScales<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemmU4CAVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_u4c_avx2vnni(arguments)
  }

  @c(ck_body_gemm_s8g32_avx2vnni) @inline(__always)
  func gemmS8G32AVX2VNNIBody(_ arguments: UnsafePointer<CKProduct>) {
    unsafe gemmPerChunk(GroupedByteCodes<AVX2VNNI>.self, GroupScales<AVX2VNNI>.self, arguments)
  }

  @inline(never) func gemmS8G32AVX2VNNI(_ arguments: UnsafePointer<CKProduct>) {
    unsafe ck_run_gemm_s8g32_avx2vnni(arguments)
  }
#endif
