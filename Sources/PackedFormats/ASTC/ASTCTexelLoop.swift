import CKernels

/// How the components of a block's texels are meant.
enum ASTCTexelKind: Int {
  case ldr
  case srgb
  /// All are logarithms.
  case hdr
  /// Some are logarithms.
  case mixed

  /// Whether the loops below may use vectors of 256 bits: where the CPU has them, and the build is
  /// optimized, since functions that are not inlined disagree on how such vectors are passed.
  static let hasWideVectors: Bool = {
    #if DEBUG
      return false
    #else
      let needed = CK_FEATURE_AVX2 | CK_FEATURE_FMA | CK_FEATURE_F16C | CK_FEATURE_BMI2
      return Int(ck_cpu_features()) & needed == needed
    #endif
  }()
}

/// Where 2²³ + C of a texel comes from.
private protocol ASTCInterpolation {
  init(_ texels: CKTexels)
  func shifted(_ texel: Int) -> SIMD4<Float>
}

// In all of them texels are below 36, and partitions, of which all have a line, below 4.

/// One partition, one plane.
@safe
private struct ASTCOnePartition: ASTCInterpolation {
  let line: ASTCLine
  let weights: UnsafePointer<Float>

  @inline(__always)
  init(_ texels: CKTexels) {
    line = unsafe texels.lines.load(as: ASTCLine.self)
    unsafe weights = texels.weights
  }

  @inline(__always)
  func shifted(_ texel: Int) -> SIMD4<Float> {
    unsafe line.shifted(SIMD4(repeating: weights[texel]))
  }
}

/// Any number of partitions, one plane.
@safe
private struct ASTCPartitions: ASTCInterpolation {
  let lines: UnsafePointer<ASTCLine>
  let partitions: UnsafePointer<UInt8>
  let weights: UnsafePointer<Float>

  @inline(__always)
  init(_ texels: CKTexels) {
    unsafe lines = texels.lines.assumingMemoryBound(to: ASTCLine.self)
    unsafe partitions = texels.partitions
    unsafe weights = texels.weights
  }

  @inline(__always)
  func line(_ texel: Int) -> UnsafePointer<ASTCLine> {
    unsafe lines + Int(partitions[texel])
  }

  @inline(__always)
  func shifted(_ texel: Int) -> SIMD4<Float> {
    unsafe line(texel).pointee.shifted(SIMD4(repeating: weights[texel]))
  }
}

/// Any number of partitions, two planes.
@safe
private struct ASTCTwoPlanes: ASTCInterpolation {
  let partitions: ASTCPartitions
  let isSecond: SIMDMask<SIMD4<Int32>>

  @inline(__always)
  init(_ texels: CKTexels) {
    partitions = unsafe ASTCPartitions(texels)
    let component = unsafe Int32(truncatingIfNeeded: texels.secondPlaneComponent)
    isSecond = SIMD4<Int32>(0, 1, 2, 3) .== SIMD4(repeating: component)
  }

  @inline(__always)
  func shifted(_ texel: Int) -> SIMD4<Float> {
    let weights = unsafe partitions.weights
    let weight = unsafe SIMD4(repeating: weights[texel])
      .replacing(with: SIMD4(repeating: weights[texel &+ 36]), where: isSecond)
    return unsafe partitions.line(texel).pointee.shifted(weight)
  }
}

extension ASTCTexelOutput {
  /// Writes a block's texels: the pointers are to what `CKTexels` says.
  @inline(__always)
  fileprivate static func writeAll(_ texels: CKTexels) {
    if unsafe texels.secondPlaneComponent >= 0 {
      unsafe write(ASTCTwoPlanes(texels), texels)
    } else if unsafe texels.partitionCount > 1 {
      unsafe write(ASTCPartitions(texels), texels)
    } else {
      unsafe write(ASTCOnePartition(texels), texels)
    }
  }

  @inline(__always)
  private static func write<Source: ASTCInterpolation>(_ source: Source, _ texels: CKTexels) {
    let output = unsafe texels.texels
    let stride = 4 &* MemoryLayout<Texel>.stride
    @inline(__always) func pair(_ texel: Int) -> ASTCTexelPair {
      ASTCTexelPair(lowHalf: source.shifted(texel), highHalf: source.shifted(texel &+ 1))
    }
    switch unsafe ASTCTexelKind(rawValue: texels.kind) {
    case .ldr:
      for four in 0..<9 {
        unsafe ldr(pair(4 &* four), pair(4 &* four &+ 2), into: output + four &* stride)
      }
    case .srgb:
      for four in 0..<9 {
        unsafe srgb(pair(4 &* four), pair(4 &* four &+ 2), into: output + four &* stride)
      }
    case .hdr:
      for four in 0..<9 {
        unsafe hdr(pair(4 &* four), pair(4 &* four &+ 2), into: output + four &* stride)
      }
    default:
      let partitions = unsafe ASTCPartitions(texels)
      @inline(__always) func masks(_ texel: Int) -> SIMD8<UInt32> {
        unsafe SIMD8(
          lowHalf: partitions.line(texel).pointee.hdrLanes,
          highHalf: partitions.line(texel &+ 1).pointee.hdrLanes)
      }
      for four in 0..<9 {
        unsafe mixed(
          pair(4 &* four), pair(4 &* four &+ 2), masks(4 &* four), masks(4 &* four &+ 2),
          into: output + four &* stride)
      }
    }
  }
}

// The `@c` bodies are inlined into their trampolines, and the callers of the trampolines stand in
// this file and are never inlined: so wide code stays in functions that nothing else shares.

extension ASTCFloatTexels {
  @inline(__always)
  static func write(_ texels: UnsafePointer<CKTexels>, isWide: Bool) {
    #if arch(x86_64) && !hasFeature(Embedded)
      if isWide { return unsafe writeASTCFloatsAVX2(texels) }
    #endif
    unsafe writeASTCFloats(texels)
  }
}

extension ASTCByteTexels {
  @inline(__always)
  static func write(_ texels: UnsafePointer<CKTexels>, isWide: Bool) {
    #if arch(x86_64) && !hasFeature(Embedded)
      if isWide { return unsafe writeASTCBytesAVX2(texels) }
    #endif
    unsafe writeASTCBytes(texels)
  }
}

@inline(never)
private func writeASTCFloats(_ texels: UnsafePointer<CKTexels>) {
  unsafe ASTCFloatTexels.writeAll(texels.pointee)
}

@inline(never)
private func writeASTCBytes(_ texels: UnsafePointer<CKTexels>) {
  unsafe ASTCByteTexels.writeAll(texels.pointee)
}

#if arch(x86_64) && !hasFeature(Embedded)
  @c(ck_body_astc_floats_avx2) @inline(__always)
  func astcFloatsAVX2Body(_ texels: UnsafePointer<CKTexels>) {
    unsafe ASTCFloatTexels.writeAll(texels.pointee)
  }

  @inline(never)
  private func writeASTCFloatsAVX2(_ texels: UnsafePointer<CKTexels>) {
    unsafe ck_run_astc_floats_avx2(texels)
  }

  @c(ck_body_astc_bytes_avx2) @inline(__always)
  func astcBytesAVX2Body(_ texels: UnsafePointer<CKTexels>) {
    unsafe ASTCByteTexels.writeAll(texels.pointee)
  }

  @inline(never)
  private func writeASTCBytesAVX2(_ texels: UnsafePointer<CKTexels>) {
    unsafe ck_run_astc_bytes_avx2(texels)
  }
#endif
