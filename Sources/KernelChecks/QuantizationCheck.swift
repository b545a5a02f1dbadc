import KernelContract
import KernelReference
import QuantKernels

/// A quantization kernel against the reference: plain, tiny, NaN, infinite, halfway and zero tokens.
package enum QuantizationCheck {
  package static func run(
    _ function: QuantizationFunction, isQuick: Bool
  ) -> (caseCount: Int, failure: String?) {
    var cases = 0
    var failure: String?
    var random = Sequence64(state: 99)
    for columns in isQuick ? [1, 31, 65, 257] : Array(1...130) + [255, 256, 257, 2048] {
      for kind in 0..<6 where failure == nil {
        cases += 1
        let values = (0..<columns).map { i in
          let unit = Float(Int64(bitPattern: random.next()) >> 40) * 0x1p-23
          switch kind {
          case 0: return unit
          case 1: return unit * 0x1p-112
          case 2: return i == columns / 2 ? .nan : unit
          case 3: return i == columns - 1 ? -.infinity : unit
          case 4: return i == 0 ? 127 : (unit * 128).rounded() + 0.5
          default: return -0.0
          }
        }
        if let difference = difference(function, values) {
          failure = "\(columns) columns kind \(kind): \(difference)"
        }
      }
    }
    return (cases, failure)
  }

  /// What differs from the reference, if anything.
  package static func difference(_ function: QuantizationFunction, _ values: [Float]) -> String? {
    let expected = QuantizedToken(values)
    let activations = Activations(tokenCapacity: 2, columnCapacity: values.count)
    let got = activations.quantized(values, by: function)
    if got.activations != expected.activations { return "the codes differ" }
    if got.scale.bitPattern != expected.scale.bitPattern
      && !(got.scale.isNaN && expected.scale.isNaN)
    {
      return "the scale is \(got.scale) and not \(expected.scale)"
    }
    if got.sum != expected.sum || got.groupSums != expected.groupSums { return "the sums differ" }
    return nil
  }
}
