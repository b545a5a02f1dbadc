import KernelContract

extension KernelRegistry {
  /// Packed weights times int8 activations: one token (GEMV) and many (GEMM).
  package static let packedProducts: [KernelEntry<PackedProductFunction>] = {
    var list: [KernelEntry<PackedProductFunction>] = []
    #if arch(x86_64)
      unsafe list += [
        .init("gemv_f32_s8t_u2c_r16_avx512vnni", .gemv, .u2c, .avx512vnni, .init(gemvU2CAVX512)),
        .init(
          "gemv_f32_s8g64_u2g64_r16_avx512vnni", .gemv, .u2g64, .avx512vnni, .init(gemvU2G64AVX512)),
        .init(
          "gemv_f32_s8g64_u4g32_r16_avx512vnni", .gemv, .u4g32, .avx512vnni, .init(gemvU4G32AVX512)),
        .init("gemv_f32_s8g64_s8c_r16_avx512vnni", .gemv, .s8c, .avx512vnni, .init(gemvS8CAVX512)),
        .init("gemm_f32_s8t_u2c_r32t12_avx512vnni", .gemm, .u2c, .avx512vnni, .init(gemmU2CAVX512)),
        .init(
          "gemm_f32_s8g64_u2g64_r32t12_avx512vnni", .gemm, .u2g64, .avx512vnni,
          .init(gemmU2G64AVX512)
        ),
        .init(
          "gemm_f32_s8g64_u4g32_r32t12_avx512vnni", .gemm, .u4g32, .avx512vnni,
          .init(gemmU4G32AVX512)
        ),
        .init(
          "gemm_f32_s8g64_s8c_r32t12_avx512vnni", .gemm, .s8c, .avx512vnni, .init(gemmS8CAVX512)),
        .init("gemv_f32_s8g64_u4c_r16_avx512vnni", .gemv, .u4c, .avx512vnni, .init(gemvU4CAVX512)),
        .init(
          "gemv_f32_s8g64_s8g32_r16_avx512vnni", .gemv, .s8g32, .avx512vnni, .init(gemvS8G32AVX512)),
        .init(
          "gemm_f32_s8g64_u4c_r32t12_avx512vnni", .gemm, .u4c, .avx512vnni, .init(gemmU4CAVX512)),
        .init(
          "gemm_f32_s8g64_s8g32_r32t12_avx512vnni", .gemm, .s8g32, .avx512vnni,
          .init(gemmS8G32AVX512)),
      ]
      unsafe list += [
        .init(
          "gemv_f32_s8g64_s8c_r16_avx2vnni", .gemv, .s8c, .avx2vnni, .init(gemvS8CAVX2VNNI)),
        .init(
          "gemv_f32_s8g64_s8g32_r16_avx2vnni", .gemv, .s8g32, .avx2vnni, .init(gemvS8G32AVX2VNNI)),
        .init(
          "gemv_f32_s8g64_u4g32_r16_avx2vnni", .gemv, .u4g32, .avx2vnni, .init(gemvU4G32AVX2VNNI)),
        .init(
          "gemv_f32_s8g64_u4c_r16_avx2vnni", .gemv, .u4c, .avx2vnni, .init(gemvU4CAVX2VNNI)),
        .init(
          "gemv_f32_s8t_u2c_r16_avx2vnni", .gemv, .u2c, .avx2vnni, .init(gemvU2CAVX2VNNI)),
        .init(
          "gemv_f32_s8g64_u2g64_r16_avx2vnni", .gemv, .u2g64, .avx2vnni, .init(gemvU2G64AVX2VNNI)),
        .init(
          "gemm_f32_s8g64_s8c_r16t6_avx2vnni", .gemm, .s8c, .avx2vnni, .init(gemmS8CAVX2VNNI)),
        .init(
          "gemm_f32_s8g64_s8g32_r16t6_avx2vnni", .gemm, .s8g32, .avx2vnni, .init(gemmS8G32AVX2VNNI)),
        .init(
          "gemm_f32_s8g64_u4g32_r16t6_avx2vnni", .gemm, .u4g32, .avx2vnni, .init(gemmU4G32AVX2VNNI)),
        .init(
          "gemm_f32_s8g64_u4c_r16t6_avx2vnni", .gemm, .u4c, .avx2vnni, .init(gemmU4CAVX2VNNI)),
        .init(
          "gemm_f32_s8t_u2c_r16t6_avx2vnni", .gemm, .u2c, .avx2vnni, .init(gemmU2CAVX2VNNI)),
        .init(
          "gemm_f32_s8g64_u2g64_r16t6_avx2vnni", .gemm, .u2g64, .avx2vnni, .init(gemmU2G64AVX2VNNI)),
      ]
      unsafe list += [
        .init("gemv_f32_s8t_u2c_r16_avx2", .gemv, .u2c, .avx2, .init(gemvU2CAVX2)),
        .init("gemv_f32_s8g64_u2g64_r16_avx2", .gemv, .u2g64, .avx2, .init(gemvU2G64AVX2)),
        .init("gemv_f32_s8g64_u4g32_r16_avx2", .gemv, .u4g32, .avx2, .init(gemvU4G32AVX2)),
        .init("gemv_f32_s8g64_s8c_r16_avx2", .gemv, .s8c, .avx2, .init(gemvS8CAVX2)),
        .init("gemm_f32_s8t_u2c_r16t6_avx2", .gemm, .u2c, .avx2, .init(gemmU2CAVX2)),
        .init("gemm_f32_s8g64_u2g64_r16t6_avx2", .gemm, .u2g64, .avx2, .init(gemmU2G64AVX2)),
        .init("gemm_f32_s8g64_u4g32_r16t6_avx2", .gemm, .u4g32, .avx2, .init(gemmU4G32AVX2)),
        .init("gemm_f32_s8g64_s8c_r16t4_avx2", .gemm, .s8c, .avx2, .init(gemmS8CAVX2)),
        .init("gemv_f32_s8g64_u4c_r16_avx2", .gemv, .u4c, .avx2, .init(gemvU4CAVX2)),
        .init("gemv_f32_s8g64_s8g32_r16_avx2", .gemv, .s8g32, .avx2, .init(gemvS8G32AVX2)),
        .init("gemm_f32_s8g64_u4c_r16t6_avx2", .gemm, .u4c, .avx2, .init(gemmU4CAVX2)),
        .init("gemm_f32_s8g64_s8g32_r16t4_avx2", .gemm, .s8g32, .avx2, .init(gemmS8G32AVX2)),
      ]
    #endif
    unsafe list += [
      .init("gemv_f32_s8t_u2c_r16_portable", .gemv, .u2c, .portable, .init(gemvU2CPortable)),
      .init(
        "gemv_f32_s8g64_u2g64_r16_portable", .gemv, .u2g64, .portable, .init(gemvU2G64Portable)),
      .init(
        "gemv_f32_s8g64_u4g32_r16_portable", .gemv, .u4g32, .portable, .init(gemvU4G32Portable)),
      .init("gemv_f32_s8g64_s8c_r16_portable", .gemv, .s8c, .portable, .init(gemvS8CPortable)),
      .init("gemm_f32_s8t_u2c_r16t2_portable", .gemm, .u2c, .portable, .init(gemmU2CPortable)),
      .init(
        "gemm_f32_s8g64_u2g64_r16t2_portable", .gemm, .u2g64, .portable, .init(gemmU2G64Portable)),
      .init(
        "gemm_f32_s8g64_u4g32_r16t2_portable", .gemm, .u4g32, .portable, .init(gemmU4G32Portable)),
      .init("gemm_f32_s8g64_s8c_r16t1_portable", .gemm, .s8c, .portable, .init(gemmS8CPortable)),
      .init("gemv_f32_s8g64_u4c_r16_portable", .gemv, .u4c, .portable, .init(gemvU4CPortable)),
      .init(
        "gemv_f32_s8g64_s8g32_r16_portable", .gemv, .s8g32, .portable, .init(gemvS8G32Portable)),
      .init("gemm_f32_s8g64_u4c_r16t2_portable", .gemm, .u4c, .portable, .init(gemmU4CPortable)),
      .init(
        "gemm_f32_s8g64_s8g32_r16t1_portable", .gemm, .s8g32, .portable, .init(gemmS8G32Portable)),
    ]
    return list + astcProducts
  }()

  /// The same over ASTC tiles.
  private static let astcProducts: [KernelEntry<PackedProductFunction>] = {
    var list: [KernelEntry<PackedProductFunction>] = []
    #if arch(x86_64)
      let bytes: CPUFeatures = [.avx512vbmi, .avx512vbmi2]
      unsafe list += [
        .init(
          "gemv_f32_s8g36_astc6x6-ldr_r16_avx512vnni", .gemv, .astc6x6LDR, .avx512vnni,
          additionally: bytes, .init(gemvASTCLDRAVX512)),
        .init(
          "gemv_f32_s8g36_astc6x6-hdr_r16_avx512vnni", .gemv, .astc6x6HDR, .avx512vnni,
          additionally: bytes, .init(gemvASTCHDRAVX512)),
        .init(
          "gemm_f32_s8g36_astc6x6-ldr_r32t12_avx512vnni", .gemm, .astc6x6LDR, .avx512vnni,
          additionally: bytes, .init(gemmASTCLDRAVX512)),
        .init(
          "gemm_f32_s8g36_astc6x6-hdr_r32t12_avx512vnni", .gemm, .astc6x6HDR, .avx512vnni,
          additionally: bytes, .init(gemmASTCHDRAVX512)),
        .init(
          "gemv_f32_s8g36_astc6x6-ldr_r16_avx2", .gemv, .astc6x6LDR, .avx2,
          .init(gemvASTCLDRAVX2)),
        .init(
          "gemv_f32_s8g36_astc6x6-hdr_r16_avx2", .gemv, .astc6x6HDR, .avx2,
          .init(gemvASTCHDRAVX2)),
        .init(
          "gemm_f32_s8g36_astc6x6-ldr_r16t4_avx2", .gemm, .astc6x6LDR, .avx2,
          .init(gemmASTCLDRAVX2)),
        .init(
          "gemm_f32_s8g36_astc6x6-hdr_r16t4_avx2", .gemm, .astc6x6HDR, .avx2,
          .init(gemmASTCHDRAVX2)),
      ]
    #endif
    unsafe list += [
      .init(
        "gemv_f32_s8g36_astc6x6-ldr_r16_portable", .gemv, .astc6x6LDR, .portable,
        .init(gemvASTCLDRPortable)),
      .init(
        "gemv_f32_s8g36_astc6x6-hdr_r16_portable", .gemv, .astc6x6HDR, .portable,
        .init(gemvASTCHDRPortable)),
      .init(
        "gemm_f32_s8g36_astc6x6-ldr_r16t2_portable", .gemm, .astc6x6LDR, .portable,
        .init(gemmASTCLDRPortable)),
      .init(
        "gemm_f32_s8g36_astc6x6-hdr_r16t2_portable", .gemm, .astc6x6HDR, .portable,
        .init(gemmASTCHDRPortable)),
    ]
    return list
  }()

  /// Activations to int8.
  package static let quantizations: [KernelEntry<QuantizationFunction>] = {
    var list: [KernelEntry<QuantizationFunction>] = []
    #if arch(x86_64)
      unsafe list += [
        .init(
          "quantize_s8t_f32_avx512vnni", .quantizePerToken, nil, .avx512vnni,
          .init(quantizeS8TAVX512)),
        .init(
          "quantize_s8g64_f32_avx512vnni", .quantizePerChunk, nil, .avx512vnni,
          .init(quantizeS8G64AVX512)),
        .init(
          "quantize_s8g36_f32_avx512vnni", .quantizePerBlock, nil, .avx512vnni,
          .init(quantizeS8G36AVX512)),
        .init("quantize_s8g36_f32_avx2", .quantizePerBlock, nil, .avx2, .init(quantizeS8G36AVX2)),
        .init("quantize_s8t_f32_avx2", .quantizePerToken, nil, .avx2, .init(quantizeS8TAVX2)),
        .init("quantize_s8g64_f32_avx2", .quantizePerChunk, nil, .avx2, .init(quantizeS8G64AVX2)),
      ]
    #endif
    unsafe list += [
      .init(
        "quantize_s8t_f32_portable", .quantizePerToken, nil, .portable, .init(quantizeS8TPortable)),
      .init(
        "quantize_s8g64_f32_portable", .quantizePerChunk, nil, .portable,
        .init(quantizeS8G64Portable)),
      .init(
        "quantize_s8g36_f32_portable", .quantizePerBlock, nil, .portable,
        .init(quantizeS8G36Portable)),
    ]
    return list
  }()
}
