import KernelContract
import KernelReference
import Kernels
import Testing

/// Every float kernel of the registry that this CPU can run, against its reference.
@Suite struct FloatKernelTests {
  static let features = CPUFeatures.detect()
  static let seeds: [UInt64] = [1, 20_26]

  /// The failures of all kernels of a list that this CPU has, over the seeds.
  private func failures<Function>(
    _ list: [KernelEntry<Function>], _ check: (KernelEntry<Function>, UInt64) -> FloatKernelCheck
  ) -> [String] {
    list.filter { Self.features.isSuperset(of: $0.requirements) }
      .flatMap { kernel in Self.seeds.flatMap { check(kernel, $0).failures } }
  }

  @Test func norms() {
    #expect(failures(KernelRegistry.norms) { FloatKernelCheck.check($0, seed: $1) } == [])
  }

  @Test func elementwise() {
    #expect(failures(KernelRegistry.elementwise) { FloatKernelCheck.check($0, seed: $1) } == [])
  }

  @Test func scalings() {
    #expect(
      failures(KernelRegistry.scalings) { FloatKernelCheck.checkScaling($0, seed: $1) } == [])
  }

  @Test func softmax() {
    #expect(
      failures(KernelRegistry.softmaxes) { FloatKernelCheck.checkSoftmax($0, seed: $1) } == [])
  }

  @Test func conversions() {
    #expect(failures(KernelRegistry.conversions) { FloatKernelCheck.check($0, seed: $1) } == [])
  }

  @Test func rotations() {
    #expect(failures(KernelRegistry.rotations) { FloatKernelCheck.check($0, seed: $1) } == [])
  }

  @Test func searches() {
    #expect(failures(KernelRegistry.searches) { FloatKernelCheck.check($0, seed: $1) } == [])
  }

  @Test func panels() {
    #expect(failures(KernelRegistry.panels) { FloatKernelCheck.check($0, seed: $1) } == [])
  }

  @Test func products() {
    #expect(
      failures(KernelRegistry.floatProducts) { FloatKernelCheck.check($0, seed: $1) } == [])
  }

  /// A check that accepts everything would hide every defect of a kernel.
  @Test func aWrongKernelIsFound() {
    let wrong: KernelEntry<SearchFunction> = unsafe KernelEntry("wrong", .argMax, nil, .portable) {
      unsafe $0.pointee.index.pointee = 0
    }
    #expect(!FloatKernelCheck.check(wrong, seed: 1).failures.isEmpty)
    let idle: KernelEntry<NormFunction> = unsafe KernelEntry("idle", .rmsNorm, nil, .portable) {
      _ in
    }
    #expect(!FloatKernelCheck.check(idle, seed: 1).failures.isEmpty)
  }
}
