import KernelChecks
import KernelContract
import Kernels
import Testing

/// Every float kernel of the registry that this CPU can run, against its reference.
///
/// Unsafe are the types of the functions only: the checks keep to the contracts.
@Suite struct FloatKernelTests {
  static let features = CPUFeatures.detect()
  /// The first has a tie between two f16 values.
  static let seeds: [UInt64] = [1, 20_26]

  /// The failures of all kernels of a list that this CPU has, over the seeds.
  private func failures<Function>(
    _ list: [KernelEntry<Function>], _ check: (KernelEntry<Function>, UInt64) -> FloatKernelCheck
  ) -> [String] {
    list.filter { Self.features.isSuperset(of: $0.requirements) }
      .flatMap { kernel in Self.seeds.flatMap { check(kernel, $0).failures } }
  }

  @Test func norms() {
    let found = unsafe failures(KernelRegistry.norms) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func headNorms() {
    let found = unsafe failures(KernelRegistry.headNorms) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func topKs() {
    let found = unsafe failures(KernelRegistry.topKs) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func elementwise() {
    let found = unsafe failures(KernelRegistry.elementwise) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func scalings() {
    let found = unsafe failures(KernelRegistry.scalings) {
      unsafe FloatKernelCheck.checkScaling($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func softmax() {
    let found = unsafe failures(KernelRegistry.softmaxes) {
      unsafe FloatKernelCheck.checkSoftmax($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func conversions() {
    let found = unsafe failures(KernelRegistry.conversions) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func rotations() {
    let found = unsafe failures(KernelRegistry.rotations) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func searches() {
    let found = unsafe failures(KernelRegistry.searches) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func codePanels() {
    let found = unsafe failures(KernelRegistry.codePanels) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func blockSoftmaxes() {
    let found = unsafe failures(KernelRegistry.blockSoftmaxes) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func rowCodes() {
    let found = unsafe failures(KernelRegistry.rowCodes) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func nibbles() {
    let found = unsafe failures(KernelRegistry.nibbles) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func cacheVectors() {
    let found = unsafe failures(KernelRegistry.cacheVectors) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func panels() {
    let found = unsafe failures(KernelRegistry.panels) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  @Test func products() {
    let found = unsafe failures(KernelRegistry.floatProducts) {
      unsafe FloatKernelCheck.check($0, seed: $1)
    }
    #expect(found == [])
  }

  /// A check that accepts everything would hide every defect of a kernel.
  @Test func aWrongKernelIsFound() {
    let wrong: KernelEntry<SearchFunction> = unsafe KernelEntry("wrong", .argMax, nil, .portable) {
      unsafe $0.pointee.index.pointee = 0
    }
    let wrongFound = unsafe FloatKernelCheck.check(wrong, seed: 1).failures
    #expect(!wrongFound.isEmpty)
    let idle: KernelEntry<NormFunction> = unsafe KernelEntry("idle", .rmsNorm, nil, .portable) {
      _ in
    }
    let idleFound = unsafe FloatKernelCheck.check(idle, seed: 1).failures
    #expect(!idleFound.isEmpty)
  }
}
