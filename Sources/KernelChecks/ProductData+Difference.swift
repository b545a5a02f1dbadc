import CKernels
import KernelContract
import QuantKernels

extension ProductData {
  /// What the reference gives, [tokens][rows].
  package var expected: [[Float]] {
    tokens.map { token in (0..<test.rows).map { reference.multiply(row: $0, token) } }
  }

  /// What differs, if anything: the kernel runs in two calls, split at a tile, with guards around
  /// its output, and all that it reads beside the codes is aligned as its elements only.
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
      let inputs = unsafe Misaligned(&arguments, activations, matrix)
      // The copies live as long as the kernel reads them.
      defer { withExtendedLifetime(inputs) {} }
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

/// Copies of a product's inputs at the least alignment that its contract allows.
@safe private final class Misaligned {
  private var copies: [UnsafeMutableRawPointer] = unsafe []

  /// Makes the arguments, which are those of the activations and the matrix, read the copies.
  @unsafe init(_ arguments: inout CKProduct, _ activations: Activations, _ matrix: PackedMatrix) {
    // Byte counts are those of the contract's shapes; every pointer was bound to its type before.
    let tokens = activations.tokenCount
    unsafe arguments.activations = unsafe UnsafePointer(
      copy(arguments.activations, tokens * activations.stride, shift: 1)
        .assumingMemoryBound(to: Int8.self))
    unsafe arguments.activationScales = unsafe UnsafePointer(
      copy(arguments.activationScales, tokens * activations.scaleStride * 4, shift: 4)
        .assumingMemoryBound(to: Float.self))
    unsafe arguments.tokenSums = unsafe UnsafePointer(
      copy(arguments.tokenSums, tokens * 4, shift: 4).assumingMemoryBound(to: Int32.self))
    unsafe arguments.groupSums = unsafe UnsafePointer(
      copy(arguments.groupSums, tokens * activations.groupSumStride * 4, shift: 4)
        .assumingMemoryBound(to: Float.self))
    unsafe arguments.scales = unsafe UnsafeRawPointer(
      copy(
        arguments.scales, matrix.tileCount * matrix.scaleTileBytes,
        shift: matrix.format.groupSize == nil ? 4 : 2))
  }

  private func copy(_ from: UnsafeRawPointer, _ byteCount: Int, shift: Int)
    -> UnsafeMutableRawPointer
  {
    let block = UnsafeMutableRawPointer.allocate(byteCount: byteCount + shift, alignment: 64)
    unsafe copies.append(block)
    // The block has room for the bytes after the shift, and is no part of `from`.
    unsafe (block + shift).copyMemory(from: from, byteCount: byteCount)
    return unsafe block + shift
  }

  // Each block was allocated by `copy`, once.
  deinit { unsafe copies.forEach { unsafe $0.deallocate() } }
}
