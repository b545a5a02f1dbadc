import CPeers
import KernelBench

/// A library of others, open: what `peers.h` says.
@safe final class PeerLibrary {
  /// Why a library cannot be measured.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  // Valid for ever: libraries are never closed.
  fileprivate let functions: peer_functions

  init(path: String) throws(Failure) {
    var error: UnsafePointer<CChar>?
    guard let functions = unsafe peers_load(path, &error) else {
      let reason = unsafe error.map { unsafe String(cString: $0) } ?? "no such symbol"
      throw Failure(description: "\(path): \(reason)")
    }
    self.functions = unsafe functions.pointee
  }

  var name: String { unsafe String(cString: functions.name()) }

  /// The types that it has products of.
  var types: [String] {
    var found: [String] = []
    while let name = unsafe functions.type_name(Int32(found.count)) {
      found.append(unsafe String(cString: name))
    }
    return found
  }
}

/// Threads of another library.
@safe final class PeerThreads {
  let library: PeerLibrary
  fileprivate let threads: OpaquePointer

  init(_ library: PeerLibrary, count: Int) {
    self.library = library
    unsafe threads = library.functions.start_threads(Int32(count))
  }

  deinit { unsafe library.functions.end_threads(threads) }

  func rest() { unsafe library.functions.rest_threads(threads) }
}

/// A product of another library, over and over.
@safe final class PeerRunner: KernelRunner {
  let type: String
  /// What the library calls the memory where the weights lie.
  let place: String
  /// Of one copy of the weights.
  let weightByteCount: Int
  let byteCount: Int

  private let threads: PeerThreads
  private let shape: ProductShape
  private let tokens: Int
  // What the product reads, at one place as long as it lives.
  private let weights: UnsafeMutablePointer<Float>
  private let input: UnsafeMutablePointer<Float>
  private let product: OpaquePointer

  /// Quantizing takes others minutes for a whole matrix, and what is multiplied does not change how
  /// long it takes: so many rows are quantized, and repeated.
  private static let distinctRowCount = 256

  /// Nil where the library does not have the type, or not for so many columns.
  ///
  /// - Parameter totalByteCount: the copies of the weights take at least so many bytes together.
  init?(_ type: String, of what: KernelCase, totalByteCount: Int, on threads: PeerThreads) {
    self.type = type
    self.threads = threads
    shape = ProductShape(rows: what.rows, columns: what.columns)
    tokens = what.tokens
    let rows = min(what.rows, Self.distinctRowCount)
    unsafe weights = Self.copy(ProductOperands.weights(count: rows * what.columns))
    unsafe input = Self.copy(ProductOperands.input(count: what.tokens * what.columns))
    let functions = threads.library.functions
    var operands = unsafe peer_operands(
      rows: Int64(what.rows), columns: Int64(what.columns), tokens: Int64(what.tokens),
      weights: weights, distinct_rows: Int64(rows), input: input,
      total_bytes: totalByteCount)
    guard let product = unsafe functions.make_product(threads.threads, type, &operands) else {
      unsafe weights.deallocate()
      unsafe input.deallocate()
      return nil
    }
    unsafe self.product = product
    weightByteCount = unsafe functions.weight_bytes(product)
    byteCount = weightByteCount + what.tokens * (what.columns + what.rows * 4)
    place = unsafe String(cString: functions.place(product))
  }

  deinit {
    unsafe threads.library.functions.free_product(product)
    unsafe weights.deallocate()
    unsafe input.deallocate()
  }

  /// At a cache line, as our own operands are.
  private static func copy(_ values: [Float]) -> UnsafeMutablePointer<Float> {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: values.count * 4, alignment: 64)
    let floats = unsafe memory.bindMemory(to: Float.self, capacity: values.count)
    for (index, value) in values.enumerated() { unsafe floats[index] = value }
    return unsafe floats
  }

  /// The type, with its memory where that is not simply the CPU's.
  var kernelName: String { place == "CPU" ? type : "\(type) (\(place))" }

  /// What it keeps is not known.
  var workingByteCount: Int { 0 }

  func run(callCount: Int) {
    unsafe threads.library.functions.multiply(product, Int64(callCount))
  }

  func rest() { threads.rest() }

  /// Runs the product once, and says how far it is from the f32 product of its dequantized weights.
  func relativeError() -> Double {
    let functions = threads.library.functions
    run(callCount: 1)
    // Tokens × rows floats, as the interface says.
    let output = unsafe UnsafeBufferPointer(
      start: functions.output(product), count: tokens * shape.rows)
    let input = unsafe UnsafeBufferPointer(start: input, count: tokens * shape.columns)
    return unsafe ProductCheck.relativeError(
      of: shape, tokens: tokens, input: input.span, output: output.span
    ) { row, values in
      // A row's columns.
      unsafe values.withUnsafeMutableBufferPointer { values in
        if let base = values.baseAddress {
          unsafe functions.dequantize_row(product, Int64(row), base)
        }
      }
    }
  }
}
