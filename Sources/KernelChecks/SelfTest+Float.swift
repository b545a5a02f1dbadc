import KernelContract
import KernelReference
import Kernels

extension SelfTest {
  /// Every float kernel against its reference; and the vector levels against each other, which
  /// promise equal bits. Unsafe are the function types only: the checks keep to the contracts.
  mutating func checkFloats() {
    unsafe check(KernelRegistry.norms) { unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2) }
    unsafe check(KernelRegistry.headNorms) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.elementwise) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.scalings) {
      unsafe FloatKernelCheck.checkScaling($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.softmaxes) {
      unsafe FloatKernelCheck.checkSoftmax($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.conversions) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.rotations) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.searches) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.topKs) { unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2) }
    unsafe check(KernelRegistry.panels) { unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2) }
    unsafe check(KernelRegistry.codePanels) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.blockSoftmaxes) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.rowCodes) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.nibbles) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.cacheVectors) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
    unsafe check(KernelRegistry.floatProducts) {
      unsafe FloatKernelCheck.check($0, seed: $1, isQuick: $2)
    }
  }

  private mutating func check<Function>(
    _ list: [KernelEntry<Function>],
    _ compare: (KernelEntry<Function>, UInt64, Bool) -> FloatKernelCheck
  ) {
    // Digests of the vector levels; kernels of one operation and weight format compute the same.
    var digests: [String: UInt64] = [:]
    // Seed 2 has no tie between two f16 values: Bochs 2.7 rounds those up where CPUs round to even.
    let seeds: [UInt64] = isQuick ? [2] : [1, 2]
    for entry in list where isRunnable(entry) {
      var failure: String?
      for seed in seeds where failure == nil {
        let result = compare(entry, seed, isQuick)
        failure = result.failures.first
        if entry.instructionSet == .portable { continue }
        let key = "\(entry.operation.rawValue) \(entry.weights?.name ?? "") \(seed)"
        if let other = digests[key], other != result.digest {
          failure = failure ?? "seed \(seed): not the bits of the other vector level"
        }
        digests[key] = result.digest
      }
      report(entry.name, seeds.count, failure)
    }
  }
}
