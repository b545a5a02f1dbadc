import PackedFormats

extension PackedProductChoice {
  /// What stands in the repository for a level, as `afm-bench kernels --tune` prints it.
  ///
  /// AVX2: on Zen 3, 2048x2048, processor time of GEMV over GEMM at 2, 3, 4 and 8 tokens, medians of 25
  /// interleaved repetitions while others loaded the machine: u2c 0.89, 1.11, 1.10, 1.25; u2g64 0.94,
  /// 1.11, 1.09, 1.23; u4g32 1.39, 1.78, 1.82, 2.11; u4c 1.20, 1.26, 1.42, 1.34; s8c 1.39, 1.64, 1.51,
  /// 1.43; s8g32 1.37, 1.53, 1.49, 1.42. ASTC 512x2048, on a quiet machine, at 2, 4, 6 and 8 tokens:
  /// tiles of kind 0 1.04, 1.63, 1.91, 2.19, of kind 1 1.47, 2.59, 3.21, 3.81. The other levels have not
  /// been measured.
  package static func measured(_ level: InstructionSet) -> PackedProductChoice {
    switch level {
    case .portable, .avx2vnni, .avx512vnni: measured(.avx2)
    case .avx2:
      PackedProductChoice(
        s8c: 2, s8g32: 2, u4g32: 2, u4c: 2, u2c: 3, u2g64: 3, astc6x6LDR: 2, astc6x6HDR: 2)
    }
  }

  /// Whether GEMM multiplies so many tokens at any level.
  package static func mayUseGEMM(_ format: WeightFormat, tokenCount: Int) -> Bool {
    InstructionSet.allCases.contains {
      measured($0).usesGEMM(format, tokenCount: tokenCount)
    }
  }
}
