import CKernels

// Bodies and the calls of their trampolines stand in one file: LLVM inlines within a file only.
// The one pointer is that of the kernel's caller, under the contract.

#if arch(x86_64)
  @c(ck_body_panel_codes_avx512vnni) @inline(__always)
  func codePanelAVX512Body(_ arguments: UnsafePointer<CKCodePanel>) {
    unsafe codePanelInEights(AVX512.self, arguments)
  }

  @inline(never) func codePanelAVX512(_ arguments: UnsafePointer<CKCodePanel>) {
    unsafe ck_run_panel_codes_avx512vnni(arguments)
  }

  @c(ck_body_panel_codes_avx2) @inline(__always)
  func codePanelAVX2Body(_ arguments: UnsafePointer<CKCodePanel>) {
    unsafe codePanelInFours(AVX2.self, arguments)
  }

  @inline(never) func codePanelAVX2(_ arguments: UnsafePointer<CKCodePanel>) {
    unsafe ck_run_panel_codes_avx2(arguments)
  }
#endif

@inline(never) func codePanelPortable(_ arguments: UnsafePointer<CKCodePanel>) {
  unsafe codePanelInFours(Portable.self, arguments)
}
