import KernelContract
import KernelReference
import RandomNumbers

/// Compares float kernels with their references on seeded inputs; tests and the self-test of the
/// emulated CPUs share it.
package struct FloatKernelCheck {
  /// Every length up to 257 and a model's; around every vector width where it has to be quick.
  static func counts(_ isQuick: Bool) -> [Int] {
    isQuick
      ? [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 576]
      : Array(1...257) + [576]
  }

  let kernel: String
  let seed: UInt64
  /// Roundings that the level makes in a multiply-add: the portable one does not fuse.
  let roundings: Double
  /// A line for each deviation, the first five.
  package private(set) var failures: [String] = []
  /// A hash of the bits of all results (NaN is one value): equal for kernels with equal bits.
  package private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
  private var generator: SplitMix64

  init(_ kernel: String, _ level: InstructionSet, seed: UInt64) {
    self.kernel = kernel
    self.seed = seed
    roundings = level == .portable ? 2 : 1
    generator = SplitMix64(seed: seed)
  }

  /// A number in -1 ..< 1.
  mutating func number() -> Float {
    Float(Int64(bitPattern: generator.next()) >> 40) * 0x1p-23
  }

  mutating func numbers(_ count: Int, times factor: Float = 1) -> [Float] {
    (0..<count).map { _ in number() * factor }
  }

  /// Records a deviation unless the condition holds.
  mutating func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds && failures.count < 5 { failures.append("\(kernel), seed \(seed): \(what())") }
  }

  /// Expects values near the reference; NaN only where the reference has NaN.
  mutating func expect(
    _ got: [Float], near wanted: [Double], _ shape: @autoclosure () -> String,
    within tolerance: (Int) -> Double
  ) {
    expect(got.count == wanted.count, "\(shape()): \(got.count) of \(wanted.count) values")
    for index in 0..<min(got.count, wanted.count) {
      let bits = got[index].isNaN ? Float.nan.bitPattern : got[index].bitPattern
      digest = (digest ^ UInt64(bits)) &* 0x100_0000_01B3
      let (value, reference) = (Double(got[index]), wanted[index])
      let isRight =
        value == reference || value.isNaN && reference.isNaN
        || abs(value - reference) <= tolerance(index)
      expect(isRight, "\(shape()), index \(index): \(value), reference \(reference)")
    }
  }
}
