import CKernels

// Bodies and the calls of their trampolines stand in one file: LLVM inlines within a file only.
// The one pointer is that of the kernel's caller, under the contract.
#if arch(x86_64)
  @c(ck_body_softmax_block_avx512vnni) @inline(__always)
  func blockSoftmaxBodyAVX512(_ arguments: UnsafePointer<CKBlockSoftmax>) {
    unsafe blockSoftmaxBody(AVX512Floats.self, arguments)
  }
  @inline(never)
  func blockSoftmaxAVX512(_ arguments: UnsafePointer<CKBlockSoftmax>) {
    unsafe ck_run_softmax_block_avx512vnni(arguments)
  }

  @c(ck_body_row_codes_avx512vnni) @inline(__always)
  func rowCodesBodyAVX512(_ arguments: UnsafePointer<CKRowCodes>) {
    unsafe rowCodesBody(AVX512Floats.self, arguments)
  }
  @inline(never)
  func rowCodesAVX512(_ arguments: UnsafePointer<CKRowCodes>) {
    unsafe ck_run_row_codes_avx512vnni(arguments)
  }

  @c(ck_body_nibble_rows_avx512vnni) @inline(__always)
  func nibbleRowsBodyAVX512(_ arguments: UnsafePointer<CKNibbles>) {
    unsafe nibbleRowsBody(AVX512.self, arguments)
  }
  @inline(never)
  func nibbleRowsAVX512(_ arguments: UnsafePointer<CKNibbles>) {
    unsafe ck_run_nibble_rows_avx512vnni(arguments)
  }

  @c(ck_body_nibble_pairs_avx512vnni) @inline(__always)
  func nibblePairsBodyAVX512(_ arguments: UnsafePointer<CKNibbles>) {
    unsafe nibblePairsBody(AVX512.self, arguments)
  }
  @inline(never)
  func nibblePairsAVX512(_ arguments: UnsafePointer<CKNibbles>) {
    unsafe ck_run_nibble_pairs_avx512vnni(arguments)
  }

  @c(ck_body_cache_s8_avx512vnni) @inline(__always)
  func cacheS8BodyAVX512(_ arguments: UnsafePointer<CKCacheVector>) {
    unsafe cacheS8Body(AVX512Floats.self, arguments)
  }
  @inline(never)
  func cacheS8AVX512(_ arguments: UnsafePointer<CKCacheVector>) {
    unsafe ck_run_cache_s8_avx512vnni(arguments)
  }

  @c(ck_body_cache_u4g32_avx512vnni) @inline(__always)
  func cacheU4BodyAVX512(_ arguments: UnsafePointer<CKCacheVector>) {
    unsafe cacheU4Body(AVX512Floats.self, arguments)
  }
  @inline(never)
  func cacheU4AVX512(_ arguments: UnsafePointer<CKCacheVector>) {
    unsafe ck_run_cache_u4g32_avx512vnni(arguments)
  }
#endif
