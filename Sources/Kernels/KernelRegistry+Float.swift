import KernelContract

// The float kernels. A call passes on the one pointer of its caller, under the contract.
extension KernelRegistry {
  package static let norms: [KernelEntry<NormFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<NormFunction>] = unsafe [
        KernelEntry("rmsnorm_f32_avx512vnni", .rmsNorm, nil, .avx512vnni) {
          unsafe rmsNormAVX512($0)
        },
        KernelEntry("rmsnorm_f32_avx2", .rmsNorm, nil, .avx2) { unsafe rmsNormAVX2($0) },
      ]
    #else
      let vectors: [KernelEntry<NormFunction>] = []
    #endif
    let portable: [KernelEntry<NormFunction>] = unsafe [
      KernelEntry("rmsnorm_f32_portable", .rmsNorm, nil, .portable) { unsafe rmsNormPortable($0) }
    ]
    return unsafe vectors + portable
  }()

  package static let headNorms: [KernelEntry<HeadNormFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<HeadNormFunction>] = unsafe [
        KernelEntry("headnorm_f32_avx512vnni", .headNorm, nil, .avx512vnni) {
          unsafe headNormAVX512($0)
        },
        KernelEntry("headnorm_f32_avx2", .headNorm, nil, .avx2) { unsafe headNormAVX2($0) },
      ]
    #else
      let vectors: [KernelEntry<HeadNormFunction>] = []
    #endif
    let portable: [KernelEntry<HeadNormFunction>] = unsafe [
      KernelEntry("headnorm_f32_portable", .headNorm, nil, .portable) {
        unsafe headNormPortable($0)
      }
    ]
    return unsafe vectors + portable
  }()

  package static let elementwise: [KernelEntry<ElementwiseFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<ElementwiseFunction>] = unsafe [
        KernelEntry("swiglu_f32_avx512vnni", .swiglu, nil, .avx512vnni) { unsafe swigluAVX512($0) },
        KernelEntry("add_f32_avx512vnni", .add, nil, .avx512vnni) { unsafe addAVX512($0) },
        KernelEntry("multiply_f32_avx512vnni", .multiply, nil, .avx512vnni) {
          unsafe multiplyAVX512($0)
        },
        KernelEntry("swiglu_f32_avx2", .swiglu, nil, .avx2) { unsafe swigluAVX2($0) },
        KernelEntry("add_f32_avx2", .add, nil, .avx2) { unsafe addAVX2($0) },
        KernelEntry("multiply_f32_avx2", .multiply, nil, .avx2) { unsafe multiplyAVX2($0) },
      ]
    #else
      let vectors: [KernelEntry<ElementwiseFunction>] = []
    #endif
    let portable: [KernelEntry<ElementwiseFunction>] = unsafe [
      KernelEntry("swiglu_f32_portable", .swiglu, nil, .portable) { unsafe swigluPortable($0) },
      KernelEntry("add_f32_portable", .add, nil, .portable) { unsafe addPortable($0) },
      KernelEntry("multiply_f32_portable", .multiply, nil, .portable) {
        unsafe multiplyPortable($0)
      },
    ]
    return unsafe vectors + portable
  }()

  package static let scalings: [KernelEntry<ScalingFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<ScalingFunction>] = unsafe [
        KernelEntry("scale_f32_avx512vnni", .scale, nil, .avx512vnni) { unsafe scaleAVX512($0) },
        KernelEntry("scale_f32_avx2", .scale, nil, .avx2) { unsafe scaleAVX2($0) },
      ]
    #else
      let vectors: [KernelEntry<ScalingFunction>] = []
    #endif
    let portable: [KernelEntry<ScalingFunction>] = unsafe [
      KernelEntry("scale_f32_portable", .scale, nil, .portable) { unsafe scalePortable($0) }
    ]
    return unsafe vectors + portable
  }()

  package static let softmaxes: [KernelEntry<SoftmaxFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<SoftmaxFunction>] = unsafe [
        KernelEntry("softmax_f32_avx512vnni", .softmax, nil, .avx512vnni) {
          unsafe softmaxAVX512($0)
        },
        KernelEntry("softmax_f32_avx2", .softmax, nil, .avx2) { unsafe softmaxAVX2($0) },
      ]
    #else
      let vectors: [KernelEntry<SoftmaxFunction>] = []
    #endif
    let portable: [KernelEntry<SoftmaxFunction>] = unsafe [
      KernelEntry("softmax_f32_portable", .softmax, nil, .portable) { unsafe softmaxPortable($0) }
    ]
    return unsafe vectors + portable
  }()

  package static let conversions: [KernelEntry<ConversionFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<ConversionFunction>] = unsafe [
        KernelEntry("convert_f16_f32_avx512vnni", .convertToF16, nil, .avx512vnni) {
          unsafe toF16AVX512($0)
        },
        KernelEntry("convert_f32_f16_avx512vnni", .convertFromF16, nil, .avx512vnni) {
          unsafe fromF16AVX512($0)
        },
        KernelEntry("convert_s8_f32_avx512vnni", .convertToS8, nil, .avx512vnni) {
          unsafe toS8AVX512($0)
        },
        KernelEntry("convert_s16_f32_avx512vnni", .convertToS16, nil, .avx512vnni) {
          unsafe toS16AVX512($0)
        },
        KernelEntry("convert_f16_f32_avx2", .convertToF16, nil, .avx2) { unsafe toF16AVX2($0) },
        KernelEntry("convert_f32_f16_avx2", .convertFromF16, nil, .avx2) { unsafe fromF16AVX2($0) },
        KernelEntry("convert_s8_f32_avx2", .convertToS8, nil, .avx2) { unsafe toS8AVX2($0) },
        KernelEntry("convert_s16_f32_avx2", .convertToS16, nil, .avx2) { unsafe toS16AVX2($0) },
      ]
    #else
      let vectors: [KernelEntry<ConversionFunction>] = []
    #endif
    let portable: [KernelEntry<ConversionFunction>] = unsafe [
      KernelEntry("convert_f16_f32_portable", .convertToF16, nil, .portable) {
        unsafe toF16Portable($0)
      },
      KernelEntry("convert_f32_f16_portable", .convertFromF16, nil, .portable) {
        unsafe fromF16Portable($0)
      },
      KernelEntry("convert_s8_f32_portable", .convertToS8, nil, .portable) {
        unsafe toS8Portable($0)
      },
      KernelEntry("convert_s16_f32_portable", .convertToS16, nil, .portable) {
        unsafe toS16Portable($0)
      },
    ]
    return unsafe vectors + portable
  }()

  package static let rotations: [KernelEntry<RotationFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<RotationFunction>] = unsafe [
        KernelEntry("rope_halves_f32_avx512vnni", .rotateHalves, nil, .avx512vnni) {
          unsafe rotateHalvesAVX512($0)
        },
        KernelEntry("rope_adjacent_f32_avx512vnni", .rotateAdjacent, nil, .avx512vnni) {
          unsafe rotateAdjacentAVX512($0)
        },
        KernelEntry("rope_halves_f32_avx2", .rotateHalves, nil, .avx2) {
          unsafe rotateHalvesAVX2($0)
        },
        KernelEntry("rope_adjacent_f32_avx2", .rotateAdjacent, nil, .avx2) {
          unsafe rotateAdjacentAVX2($0)
        },
      ]
    #else
      let vectors: [KernelEntry<RotationFunction>] = []
    #endif
    let portable: [KernelEntry<RotationFunction>] = unsafe [
      KernelEntry("rope_halves_f32_portable", .rotateHalves, nil, .portable) {
        unsafe rotateHalvesPortable($0)
      },
      KernelEntry("rope_adjacent_f32_portable", .rotateAdjacent, nil, .portable) {
        unsafe rotateAdjacentPortable($0)
      },
    ]
    return unsafe vectors + portable
  }()

  package static let searches: [KernelEntry<SearchFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<SearchFunction>] = unsafe [
        KernelEntry("argmax_f32_avx512vnni", .argMax, nil, .avx512vnni) { unsafe argMaxAVX512($0) },
        KernelEntry("argmax_f32_avx2", .argMax, nil, .avx2) { unsafe argMaxAVX2($0) },
      ]
    #else
      let vectors: [KernelEntry<SearchFunction>] = []
    #endif
    let portable: [KernelEntry<SearchFunction>] = unsafe [
      KernelEntry("argmax_f32_portable", .argMax, nil, .portable) { unsafe argMaxPortable($0) }
    ]
    return unsafe vectors + portable
  }()

  package static let topKs: [KernelEntry<TopKFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<TopKFunction>] = unsafe [
        KernelEntry("topk_f32_avx512vnni", .topK, nil, .avx512vnni) { unsafe topKAVX512($0) },
        KernelEntry("topk_f32_avx2", .topK, nil, .avx2) { unsafe topKAVX2($0) },
      ]
    #else
      let vectors: [KernelEntry<TopKFunction>] = []
    #endif
    let portable: [KernelEntry<TopKFunction>] = unsafe [
      KernelEntry("topk_f32_portable", .topK, nil, .portable) { unsafe topKPortable($0) }
    ]
    return unsafe vectors + portable
  }()

  package static let panels: [KernelEntry<PanelFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<PanelFunction>] = unsafe [
        KernelEntry("panel_f32_f32_f32_m4n32_avx512vnni", .panelF32, nil, .avx512vnni) {
          unsafe panelF32AVX512($0)
        },
        KernelEntry("panel_f32_f32_f16_m4n32_avx512vnni", .panelF16, nil, .avx512vnni) {
          unsafe panelF16AVX512($0)
        },
        KernelEntry("panel_f32_f32_f32_m4n16_avx2", .panelF32, nil, .avx2) {
          unsafe panelF32AVX2($0)
        },
        KernelEntry("panel_f32_f32_f16_m4n16_avx2", .panelF16, nil, .avx2) {
          unsafe panelF16AVX2($0)
        },
      ]
    #else
      let vectors: [KernelEntry<PanelFunction>] = []
    #endif
    let portable: [KernelEntry<PanelFunction>] = unsafe [
      KernelEntry("panel_f32_f32_f32_m4n16_portable", .panelF32, nil, .portable) {
        unsafe panelF32Portable($0)
      },
      KernelEntry("panel_f32_f32_f16_m4n16_portable", .panelF16, nil, .portable) {
        unsafe panelF16Portable($0)
      },
    ]
    return unsafe vectors + portable
  }()

  package static let floatProducts: [KernelEntry<FloatProductFunction>] = {
    #if arch(x86_64)
      let vectors: [KernelEntry<FloatProductFunction>] = unsafe [
        KernelEntry("gemv_f32_f32_f32_r4_avx512vnni", .gemv, .f32, .avx512vnni) {
          unsafe gemvF32AVX512($0)
        },
        KernelEntry("gemv_f32_f32_f16_r4_avx512vnni", .gemv, .f16, .avx512vnni) {
          unsafe gemvF16AVX512($0)
        },
        KernelEntry("gemm_f32_f32_f32_r4t2_avx512vnni", .gemm, .f32, .avx512vnni) {
          unsafe gemmF32AVX512($0)
        },
        KernelEntry("gemm_f32_f32_f16_r4t2_avx512vnni", .gemm, .f16, .avx512vnni) {
          unsafe gemmF16AVX512($0)
        },
        KernelEntry("gemv_f32_f32_f32_r4_avx2", .gemv, .f32, .avx2) { unsafe gemvF32AVX2($0) },
        KernelEntry("gemv_f32_f32_f16_r4_avx2", .gemv, .f16, .avx2) { unsafe gemvF16AVX2($0) },
        KernelEntry("gemm_f32_f32_f32_r2t2_avx2", .gemm, .f32, .avx2) { unsafe gemmF32AVX2($0) },
        KernelEntry("gemm_f32_f32_f16_r2t2_avx2", .gemm, .f16, .avx2) { unsafe gemmF16AVX2($0) },
      ]
    #else
      let vectors: [KernelEntry<FloatProductFunction>] = []
    #endif
    let portable: [KernelEntry<FloatProductFunction>] = unsafe [
      KernelEntry("gemv_f32_f32_f32_r2_portable", .gemv, .f32, .portable) {
        unsafe gemvF32Portable($0)
      },
      KernelEntry("gemv_f32_f32_f16_r2_portable", .gemv, .f16, .portable) {
        unsafe gemvF16Portable($0)
      },
      KernelEntry("gemm_f32_f32_f32_r2t2_portable", .gemm, .f32, .portable) {
        unsafe gemmF32Portable($0)
      },
      KernelEntry("gemm_f32_f32_f16_r2t2_portable", .gemm, .f16, .portable) {
        unsafe gemmF16Portable($0)
      },
    ]
    return unsafe vectors + portable
  }()
}
