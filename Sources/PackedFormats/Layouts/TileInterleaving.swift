import CKernels

/// How codes of whole tiles are brought to their places: the same bytes by different instructions.
package enum TileInterleaving: String, CaseIterable, Sendable {
  /// Four rows at a time, on any CPU.
  case portable
  /// Sixteen rows at a time, written past the caches, into tiles at multiples of 32 bytes.
  case avx2

  /// The fastest one of this CPU.
  package static let fastest: TileInterleaving =
    TileInterleaving.avx2.isSupported ? .avx2 : .portable

  /// Whether this CPU has the instructions, and this build the code: in Embedded Swift functions are
  /// compiled where they are used, away from the body that belongs into their file.
  package var isSupported: Bool {
    #if arch(x86_64) && !hasFeature(Embedded)
      let needed = UInt32(
        CK_FEATURE_AVX2 | CK_FEATURE_FMA | CK_FEATURE_F16C | CK_FEATURE_BMI2)
      return self == .portable || ck_cpu_features() & needed == needed
    #else
      return self == .portable
    #endif
  }
}

#if arch(x86_64) && !hasFeature(Embedded)
  extension CodePermutation {
    /// Brings the steps of whole rows to their tiles; the CPU must have the instructions.
    @inline(__always)
    func interleaveAVX2(_ arguments: UnsafePointer<CKInterleaving>) {
      // The arguments are the caller's, under the layout's contract.
      switch self {
      case .pairs: unsafe interleavePairsAVX2(arguments)
      case .nibbles: unsafe interleaveNibblesAVX2(arguments)
      case .bytes: unsafe interleaveBytesAVX2(arguments)
      }
    }
  }

  /// 16 bytes of each of 16 rows to their tile.
  private protocol InterleavingStep {
    static func run(_ target: UnsafeMutableRawPointer, _ source: UnsafeRawPointer, _ rowStride: Int)
  }

  // Steps read 16 bytes of each of 16 rows and write 256 bytes of a tile: what the caller of
  // `interleave` guarantees.
  private enum PairsStep: InterleavingStep {
    @inline(__always)
    static func run(_ target: UnsafeMutableRawPointer, _ source: UnsafeRawPointer, _ stride: Int) {
      unsafe ck_avx2_interleave_pairs(target, source, stride)
    }
  }

  private enum NibblesStep: InterleavingStep {
    @inline(__always)
    static func run(_ target: UnsafeMutableRawPointer, _ source: UnsafeRawPointer, _ stride: Int) {
      unsafe ck_avx2_interleave_nibbles(target, source, stride)
    }
  }

  private enum BytesStep: InterleavingStep {
    @inline(__always)
    static func run(_ target: UnsafeMutableRawPointer, _ source: UnsafeRawPointer, _ stride: Int) {
      unsafe ck_avx2_interleave_bytes(target, source, stride)
    }
  }

  @inline(__always)
  private func interleave<Step: InterleavingStep>(
    _ step: Step.Type, _ arguments: UnsafePointer<CKInterleaving>
  ) {
    // The arguments name whole rows and whole tiles.
    let work = unsafe arguments.pointee
    let (tileCount, stepCount) = unsafe (work.tileCount, work.stepCount)
    for tile in 0..<tileCount {
      let source = unsafe work.source + tile &* 16 &* work.rowStride
      let target = unsafe work.target + tile &* work.tileStride
      for index in 0..<stepCount {
        unsafe step.run(target + index &* 256, source + index &* 16, work.rowStride)
      }
    }
    ck_avx2_interleaved()
  }

  // Each `@c` body is inlined into its trampoline; the trampoline's caller stands in the same file
  // and is never inlined, so that wide code stays in functions that nothing else shares.
  @c(ck_body_interleave_pairs_avx2) @inline(__always)
  func interleavePairsAVX2Body(_ arguments: UnsafePointer<CKInterleaving>) {
    unsafe interleave(PairsStep.self, arguments)
  }

  @inline(never)
  func interleavePairsAVX2(_ arguments: UnsafePointer<CKInterleaving>) {
    unsafe ck_run_interleave_pairs_avx2(arguments)
  }

  @c(ck_body_interleave_nibbles_avx2) @inline(__always)
  func interleaveNibblesAVX2Body(_ arguments: UnsafePointer<CKInterleaving>) {
    unsafe interleave(NibblesStep.self, arguments)
  }

  @inline(never)
  func interleaveNibblesAVX2(_ arguments: UnsafePointer<CKInterleaving>) {
    unsafe ck_run_interleave_nibbles_avx2(arguments)
  }

  @c(ck_body_interleave_bytes_avx2) @inline(__always)
  func interleaveBytesAVX2Body(_ arguments: UnsafePointer<CKInterleaving>) {
    unsafe interleave(BytesStep.self, arguments)
  }

  @inline(never)
  func interleaveBytesAVX2(_ arguments: UnsafePointer<CKInterleaving>) {
    unsafe ck_run_interleave_bytes_avx2(arguments)
  }
#endif
