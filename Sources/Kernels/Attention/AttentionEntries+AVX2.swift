import CKernels

// Bodies and the calls of their trampolines stand in one file: LLVM inlines within a file only.
// The one pointer is that of the kernel's caller, under the contract.
#if arch(x86_64)
  @c(ck_body_softmax_block_avx2) @inline(__always)
  func blockSoftmaxBodyAVX2(_ arguments: UnsafePointer<CKBlockSoftmax>) {
    unsafe blockSoftmaxBody(AVX2Floats.self, arguments)
  }
  @inline(never)
  func blockSoftmaxAVX2(_ arguments: UnsafePointer<CKBlockSoftmax>) {
    unsafe ck_run_softmax_block_avx2(arguments)
  }

  @c(ck_body_row_codes_avx2) @inline(__always)
  func rowCodesBodyAVX2(_ arguments: UnsafePointer<CKRowCodes>) {
    unsafe rowCodesBody(AVX2Floats.self, arguments)
  }
  @inline(never)
  func rowCodesAVX2(_ arguments: UnsafePointer<CKRowCodes>) {
    unsafe ck_run_row_codes_avx2(arguments)
  }

  @c(ck_body_nibble_rows_avx2) @inline(__always)
  func nibbleRowsBodyAVX2(_ arguments: UnsafePointer<CKNibbles>) {
    unsafe nibbleRowsBody(AVX2.self, arguments)
  }
  @inline(never)
  func nibbleRowsAVX2(_ arguments: UnsafePointer<CKNibbles>) {
    unsafe ck_run_nibble_rows_avx2(arguments)
  }

  @c(ck_body_nibble_pairs_avx2) @inline(__always)
  func nibblePairsBodyAVX2(_ arguments: UnsafePointer<CKNibbles>) {
    unsafe nibblePairsBody(AVX2.self, arguments)
  }
  @inline(never)
  func nibblePairsAVX2(_ arguments: UnsafePointer<CKNibbles>) {
    unsafe ck_run_nibble_pairs_avx2(arguments)
  }

  @c(ck_body_cache_s8_avx2) @inline(__always)
  func cacheS8BodyAVX2(_ arguments: UnsafePointer<CKCacheVector>) {
    unsafe cacheS8Body(AVX2Floats.self, arguments)
  }
  @inline(never)
  func cacheS8AVX2(_ arguments: UnsafePointer<CKCacheVector>) {
    unsafe ck_run_cache_s8_avx2(arguments)
  }

  @c(ck_body_cache_u4g32_avx2) @inline(__always)
  func cacheU4BodyAVX2(_ arguments: UnsafePointer<CKCacheVector>) {
    unsafe cacheU4Body(AVX2Floats.self, arguments)
  }
  @inline(never)
  func cacheU4AVX2(_ arguments: UnsafePointer<CKCacheVector>) {
    unsafe ck_run_cache_u4g32_avx2(arguments)
  }
#endif
