import KernelContract

// The kernels of attention over caches, and of what is stored in them. A call passes on the one pointer of its caller, under the
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

  package static let blockSoftmaxes: [KernelEntry<BlockSoftmaxFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<BlockSoftmaxFunction>] = unsafe [
        KernelEntry("softmax_block_f32_avx512vnni", .softmaxBlock, nil, .avx512vnni) {
          unsafe blockSoftmaxAVX512($0)
        },
        KernelEntry("softmax_block_f32_avx2", .softmaxBlock, nil, .avx2) {
          unsafe blockSoftmaxAVX2($0)
        },
      ]
    #else
      let vectors: [KernelEntry<BlockSoftmaxFunction>] = []
    #endif
    let portable: [KernelEntry<BlockSoftmaxFunction>] = unsafe [
      KernelEntry("softmax_block_f32_portable", .softmaxBlock, nil, .portable) {
        unsafe blockSoftmaxPortable($0)
      }
    ]
    return unsafe vectors + portable
  }()

  package static let rowCodes: [KernelEntry<RowCodesFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<RowCodesFunction>] = unsafe [
        KernelEntry("rowcodes_s16_f32_avx512vnni", .rowCodes, nil, .avx512vnni) {
          unsafe rowCodesAVX512($0)
        },
        KernelEntry("rowcodes_s16_f32_avx2", .rowCodes, nil, .avx2) {
          unsafe rowCodesAVX2($0)
        },
      ]
    #else
      let vectors: [KernelEntry<RowCodesFunction>] = []
    #endif
    let portable: [KernelEntry<RowCodesFunction>] = unsafe [
      KernelEntry("rowcodes_s16_f32_portable", .rowCodes, nil, .portable) {
        unsafe rowCodesPortable($0)
      }
    ]
    return unsafe vectors + portable
  }()

  package static let nibbles: [KernelEntry<NibbleFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<NibbleFunction>] = unsafe [
        KernelEntry("nibble_rows_avx512vnni", .nibbleRows, nil, .avx512vnni) {
          unsafe nibbleRowsAVX512($0)
        },
        KernelEntry("nibble_pairs_avx512vnni", .nibblePairs, nil, .avx512vnni) {
          unsafe nibblePairsAVX512($0)
        },
        KernelEntry("nibble_rows_avx2", .nibbleRows, nil, .avx2) {
          unsafe nibbleRowsAVX2($0)
        },
        KernelEntry("nibble_pairs_avx2", .nibblePairs, nil, .avx2) {
          unsafe nibblePairsAVX2($0)
        },
      ]
    #else
      let vectors: [KernelEntry<NibbleFunction>] = []
    #endif
    let portable: [KernelEntry<NibbleFunction>] = unsafe [
      KernelEntry("nibble_rows_portable", .nibbleRows, nil, .portable) {
        unsafe nibbleRowsPortable($0)
      },
      KernelEntry("nibble_pairs_portable", .nibblePairs, nil, .portable) {
        unsafe nibblePairsPortable($0)
      },
    ]
    return unsafe vectors + portable
  }()

  package static let cacheVectors: [KernelEntry<CacheVectorFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<CacheVectorFunction>] = unsafe [
        KernelEntry("cache_s8_f32_avx512vnni", .cacheS8, nil, .avx512vnni) {
          unsafe cacheS8AVX512($0)
        },
        KernelEntry("cache_u4g32_f32_avx512vnni", .cacheU4, nil, .avx512vnni) {
          unsafe cacheU4AVX512($0)
        },
        KernelEntry("cache_s8_f32_avx2", .cacheS8, nil, .avx2) {
          unsafe cacheS8AVX2($0)
        },
        KernelEntry("cache_u4g32_f32_avx2", .cacheU4, nil, .avx2) {
          unsafe cacheU4AVX2($0)
        },
      ]
    #else
      let vectors: [KernelEntry<CacheVectorFunction>] = []
    #endif
    let portable: [KernelEntry<CacheVectorFunction>] = unsafe [
      KernelEntry("cache_s8_f32_portable", .cacheS8, nil, .portable) {
        unsafe cacheS8Portable($0)
      },
      KernelEntry("cache_u4g32_f32_portable", .cacheU4, nil, .portable) {
        unsafe cacheU4Portable($0)
      },
    ]
    return unsafe vectors + portable
  }()
}
