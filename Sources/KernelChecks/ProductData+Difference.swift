import CKernels
import KernelContract
import QuantKernels

extension ProductData {
  /// What the reference gives, [tokens][rows].
  package var expected: [[Float]] {
    tokens.map { token in (0..<test.rows).map { reference.multiply(row: $0, token) } }
  }

  /// What differs, if anything: the kernel runs in two calls, split at a tile, with guards around
  /// its output.
  package func difference(
    _ function: PackedProductFunction, _ expected: [[Float]]
  ) -> String? {
    let activations = Activations(tokenCapacity: test.tokens + 1, columnCapacity: test.columns)
    activations.assign(tokens)
    let guardBits: UInt32 = 0x7FC0_1234
    let stride = test.rows + 3
    var output = [Float](
      repeating: Float(bitPattern: guardBits), count: 5 + test.tokens * stride + 16)
    unsafe output.withUnsafeMutableBufferPointer { buffer in
      // Never empty; 5 floats in front make the rows begin at an odd multiple of 4 bytes.
      guard let base = buffer.baseAddress else { return }
      var arguments = unsafe KernelLibrary.arguments(
        matrix, activations, base + 5, stride)
      unsafe arguments.scratch = unsafe activations.scratch(thread: 0)
      let end = unsafe arguments.tileEnd
      unsafe arguments.tileEnd = end / 2
      unsafe function(&arguments)
      unsafe arguments.tileBegin = end / 2
      unsafe arguments.tileEnd = end
      unsafe function(&arguments)
    }
    for i in output.indices {
      let token = (i - 5 + stride) / stride - 1
      let row = (i - 5 + stride) % stride
      let isResult = i >= 5 && token < test.tokens && row < test.rows
      let wanted = isResult ? expected[token][row].bitPattern : guardBits
      if output[i].bitPattern != wanted {
        return isResult
          ? "token \(token) row \(row) is \(output[i]) and not \(expected[token][row])"
          : "a guard word was overwritten at \(i)"
      }
    }
    return nil
  }
}
