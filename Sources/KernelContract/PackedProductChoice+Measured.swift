import PackedFormats

extension PackedProductChoice {
  /// What stands in the repository for a level, as `afm-bench kernels --tune` prints it.
  ///
  /// AVX2: on Zen 3, 2048x2048 (ASTC 512x2048), medians of 15 interleaved repetitions on a quiet
  /// machine, time of GEMV over GEMM at 2, 4, 6 and 8 tokens: u2c 0.75, 0.87, 1.09, 1.12; u2g64 0.75,
  /// 0.92, 1.01, 1.12; u4g32 1.21, 1.51, 1.77, 1.99; u4c 0.80, 1.00, 1.22, 1.23; s8c 0.73, 0.92, 0.98,
  /// 1.02; s8g32 0.75, 0.97, 1.07, 1.13; ASTC tiles of kind 0 1.04, 1.63, 1.91, 2.19, of kind 1 1.47,
  /// 2.59, 3.21, 3.81. The other levels have not been measured on a quiet machine.
  package static func measured(_ level: InstructionSet) -> PackedProductChoice {
    switch level {
    case .portable, .avx2vnni, .avx512vnni: measured(.avx2)
    case .avx2:
      PackedProductChoice(
        s8c: 8, s8g32: 6, u4g32: 2, u4c: 4, u2c: 6, u2g64: 6, astc6x6LDR: 2, astc6x6HDR: 2)
    }
  }

  /// Whether GEMM multiplies so many tokens at any level.
  package static func mayUseGEMM(_ format: WeightFormat, tokenCount: Int) -> Bool {
    InstructionSet.allCases.contains {
      measured($0).usesGEMM(format, tokenCount: tokenCount)
    }
  }
}
