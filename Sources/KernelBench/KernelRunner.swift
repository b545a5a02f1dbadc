import KernelContract
import PackedFormats
import QuantKernels
import TensorCore

/// The operands of a case, ready to be run over and over.
package protocol KernelRunner: AnyObject {
  /// Bytes that a call must read and write: weights, inputs, outputs.
  var byteCount: Int { get }
  /// Bytes that it keeps for working: quantized activations, scratch memory.
  var workingByteCount: Int { get }
  /// The kernel's name.
  var kernelName: String { get }
  /// So many calls, each with other weights than the last one's where the case is about memory.
  func run(callCount: Int)
  /// Returns when no thread waits spinning any more: it would take a core from the next in turn.
  func rest()
}

/// Where everything of a measurement runs.
package struct KernelPlatform: Sendable {
  package let library: KernelLibrary
  package let pool: ThreadPool
  let vectors: VectorKernels
  let roofs = MachineRoofs()

  package init(library: KernelLibrary, pool: ThreadPool) {
    self.library = library
    self.pool = pool
    vectors = VectorKernels(library)
  }
}

/// An operation on vectors of one length, on the calling thread.
final class VectorRunner: KernelRunner {
  private let platform: KernelPlatform
  private let what: KernelCase
  private let activations: Activations
  /// Three vectors of `columns` floats for each token of each copy.
  private let storage: AlignedStorage
  private let keyStorage = AlignedStorage(byteCount: topCount * 8)
  private let copyCount: Int
  private var turn = 0
  let byteCount: Int
  let kernelName: String

  /// How many values the top-k search looks for, or all where there are fewer.
  private static var topCount: Int { 64 }

  init(_ what: KernelCase, memoryByteCount: Int, on platform: KernelPlatform) {
    self.what = what
    self.platform = platform
    let copyBytes = 12 * what.columns * what.tokens
    copyCount = what.place == .memory ? memoryByteCount / copyBytes + 1 : 1
    storage = AlignedStorage(byteCount: copyCount * copyBytes, prefersHugePages: true)
    // Three vectors a token and copy.
    let values = unsafe storage.baseAddress.assumingMemoryBound(to: Float.self)
    for index in 0..<copyCount * copyBytes / 4 {
      unsafe values[index] = Float(index &* 37 % 255 - 127) / 64
    }
    activations = Activations(tokenCapacity: what.tokens, columnCapacity: what.columns)
    let names = platform.library.selectedKernelNames + platform.vectors.kernelNames
    kernelName =
      names.first { $0.hasPrefix(what.operation.rawValue + "_") } ?? what.operation.rawValue
    byteCount = what.tokens * what.columns * Self.bytesPerElement(what.operation)
  }

  /// Bytes read and written of an element.
  private static func bytesPerElement(_ operation: KernelOperation) -> Int {
    switch operation {
    case .add, .multiply, .swiglu, .rmsNorm: 12
    case .scale, .softmax, .headNorm: 8
    case .convertToF16, .convertFromF16: 6
    case .convertToS8, .quantizePerToken, .quantizePerChunk, .quantizePerBlock: 5
    default: 4
    }
  }

  var workingByteCount: Int { activations.byteCount }

  func run(callCount: Int) {
    for _ in 0..<callCount { call() }
  }

  /// All but quantization runs on the calling thread alone, and nothing is measured in its turns.
  func rest() {}

  private func call() {
    let count = what.columns
    let vectors = platform.vectors
    // The copy's first token; each has three vectors of `count` floats.
    let copy =
      unsafe storage.baseAddress.assumingMemoryBound(to: Float.self)
      + turn * what.tokens * count * 3
    turn = turn + 1 == copyCount ? 0 : turn + 1
    if let grouping = what.operation.quantizedGrouping {
      unsafe activations.quantize(
        copy, tokenCount: what.tokens, columnCount: count, stride: count * 3,
        for: grouping, using: platform.library, pool: platform.pool)
      return
    }
    for token in 0..<what.tokens {
      let a = unsafe copy + token * count * 3
      let (b, c) = unsafe (a + count, a + 2 * count)
      switch what.operation {
      case .rmsNorm: unsafe vectors.rmsNorm(a, weight: b, epsilon: 1e-5, output: c, count: count)
      case .swiglu: unsafe vectors.swiglu(gate: a, up: b, output: c, count: count)
      case .add: unsafe vectors.add(a, b, output: c, count: count)
      case .multiply: unsafe vectors.multiply(a, b, output: c, count: count)
      // By 1 and as scores: what is written stays finite however often it is done.
      case .scale: unsafe vectors.scale(a, by: 1, count: count)
      case .softmax: unsafe vectors.softmax(a, count: count, scale: 1)
      case .convertToF16: unsafe vectors.convert(a, toF16: UnsafeMutableRawPointer(c), count: count)
      case .convertFromF16:
        unsafe vectors.convert(fromF16: UnsafeRawPointer(a), to: c, count: count)
      case .convertToS8:
        _ = unsafe vectors.quantize(
          a, toS8: UnsafeMutableRawPointer(c).assumingMemoryBound(to: Int8.self), count: count)
      // Heads of 64 where they fit.
      case .headNorm:
        let dimension = min(64, count)
        unsafe vectors.rmsNorm(
          heads: a, count: count / dimension, stride: dimension, dimension: dimension, weight: b,
          epsilon: 1e-5)
      case .topK:
        let keys = unsafe keyStorage.baseAddress.assumingMemoryBound(to: UInt64.self)
        unsafe c.withMemoryRebound(to: Int32.self, capacity: count) { indices in
          // Both have room for so many.
          _ = unsafe vectors.topK(
            a, count: count, k: min(Self.topCount, count), keys: keys, indices: indices)
        }
      case .argMax: _ = unsafe vectors.argMax(a, count: count)
      default: preconditionFailure("\(what.operation) is not measured")
      }
    }
  }
}
