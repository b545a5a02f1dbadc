import CKernels
import KernelContract
import KernelReference
import Kernels
import PackedFormats
import QuantKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The walk over the registry.
struct SelfTest {
  var isQuick = false
  var level: InstructionSet?
  let features = CPUFeatures.detect()
  var failed = false

  static func main(arguments: [String]) -> Int32 {
    var test = SelfTest()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--quick": test.isQuick = true
      case "--level":
        guard let name = rest.popFirst(), let level = InstructionSet(rawValue: name) else {
          print("kernel-selftest: \(SelectionError.unknownName(rest.first ?? ""))")
          return 2
        }
        test.level = level
      default:
        print("usage: kernel-selftest [--quick] [--level portable|avx2|avx512vnni]")
        return 2
      }
    }
    return test.run()
  }

  mutating func run() -> Int32 {
    let available = InstructionSet.available(on: features)
    let best = available.max() ?? .portable
    print("host level \(best.rawValue): \(features.featureNames.joined(separator: " "))")
    if let level, !available.contains(level) {
      print("kernel-selftest: \(SelectionError.unavailable(level, available: available))")
      return 4
    }
    checkProducts()
    checkQuantizations()
    checkFloats()
    checkSelection()
    return failed ? 1 : 0
  }

  func isRunnable<F>(_ entry: KernelEntry<F>) -> Bool {
    features.isSuperset(of: entry.requirements)
      && (level == nil || entry.instructionSet == level)
  }

  mutating func report(_ name: String, _ cases: Int, _ failure: String?) {
    let padding = String(repeating: " ", count: max(1, 40 - name.utf8.count))
    print("\(name)\(padding)\(cases) cases \(failure.map { "FAIL: \($0)" } ?? "OK")")
    if failure != nil { failed = true }
  }

  // MARK: Products

  static func cases(_ format: WeightFormat, isQuick: Bool) -> [ProductCase] {
    var cases: [ProductCase] = []
    var seed: UInt64 = 1
    func add(_ rows: Int, _ columns: Int, _ tokens: Int, _ fill: ProductCase.Fill = .random) {
      seed += 1
      cases.append(
        ProductCase(
          format: format, rows: rows, columns: columns, tokens: tokens, fill: fill, seed: seed))
    }
    let sizes = [1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 257]
    if isQuick {
      for (i, rows) in [1, 17, 33, 48].enumerated() { add(rows, [1, 65, 130, 257][i], 5) }
      add(33, 128, 14)
      for fill in ProductCase.Fill.allCases { add(17, 700, 3, fill) }
    } else {
      for rows in sizes { for columns in sizes { add(rows, columns, rows * columns % 3 + 1) } }
      for tokens in 1...33 { add(tokens % 2 == 0 ? 17 : 48, 96, tokens) }
      for fill in ProductCase.Fill.allCases { add(35, 6656, 13, fill) }
    }
    return cases
  }

  mutating func checkProducts() {
    for format in [WeightFormat.u2c, .u2g64, .u4g32, .s8c] {
      let entries = KernelRegistry.packedProducts.filter {
        $0.weights == format && isRunnable($0)
      }
      var failures: [String?] = entries.map { _ in nil }
      let cases = Self.cases(format, isQuick: isQuick)
      for test in cases {
        guard let data = try? ProductData(test) else {
          failures = failures.map { $0 ?? "\(test.description): the matrix was refused" }
          continue
        }
        let expected = data.tokens.map { token in
          (0..<test.rows).map { data.reference.multiply(row: $0, token) }
        }
        for (i, entry) in entries.enumerated() where failures[i] == nil {
          if let failure = Self.compare(entry.function, data, test, expected) {
            failures[i] = "\(test.description): \(failure)"
          }
        }
      }
      for (entry, failure) in zip(entries, failures) { report(entry.name, cases.count, failure) }
    }
  }

  /// What differs, if anything: the kernel runs in two calls, split at a tile, with guards around
  /// its output.
  static func compare(
    _ function: PackedProductFunction, _ data: ProductData, _ test: ProductCase,
    _ expected: [[Float]]
  ) -> String? {
    let activations = Activations(tokenCapacity: test.tokens + 1, columnCapacity: test.columns)
    activations.assign(data.tokens)
    let guardBits: UInt32 = 0x7FC0_1234
    let stride = test.rows + 3
    var output = [Float](
      repeating: Float(bitPattern: guardBits), count: 5 + test.tokens * stride + 16)
    unsafe output.withUnsafeMutableBufferPointer { buffer in
      // Never empty; 5 floats in front make the rows begin at an odd multiple of 4 bytes.
      guard let base = buffer.baseAddress else { return }
      var arguments = unsafe KernelLibrary.arguments(
        data.matrix, activations, base + 5, stride)
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

  // MARK: Quantization

  mutating func checkQuantizations() {
    for entry in KernelRegistry.quantizations where isRunnable(entry) {
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
          if let difference = Self.compare(entry.function, values) {
            failure = "\(columns) columns kind \(kind): \(difference)"
          }
        }
      }
      report(entry.name, cases, failure)
    }
  }

  static func compare(_ function: QuantizationFunction, _ values: [Float]) -> String? {
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

  // MARK: Selection

  /// What was forced is what is chosen.
  mutating func checkSelection() {
    for forced in InstructionSet.available(on: features) where level == nil || level == forced {
      let names = (try? KernelLibrary(forcing: forced))?.selectedKernelNames ?? []
      let isRight = !names.isEmpty && names.allSatisfy { $0.hasSuffix("_\(forced.rawValue)") }
      report("selection \(forced.rawValue)", names.count, isRight ? nil : "\(names)")
    }
  }
}
