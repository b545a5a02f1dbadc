import KernelContract

// The kernels over caches of 8-bit codes. A call passes on the one pointer of its caller, under the
// contract.
extension KernelRegistry {
  package static let codePanels: [KernelEntry<CodePanelFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<CodePanelFunction>] = unsafe [
        KernelEntry("panel_f32_s16_s8_m8n32_avx512vnni", .panelCodes, nil, .avx512vnni) {
          unsafe codePanelAVX512($0)
        },
        KernelEntry("panel_f32_s16_s8_m4n16_avx2", .panelCodes, nil, .avx2) {
          unsafe codePanelAVX2($0)
        },
      ]
    #else
      let vectors: [KernelEntry<CodePanelFunction>] = []
    #endif
    let portable: [KernelEntry<CodePanelFunction>] = unsafe [
      KernelEntry("panel_f32_s16_s8_m4n16_portable", .panelCodes, nil, .portable) {
        unsafe codePanelPortable($0)
      }
    ]
    return unsafe vectors + portable
  }()
}
