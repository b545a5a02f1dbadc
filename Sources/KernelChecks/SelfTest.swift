import KernelContract
import Kernels
import PackedFormats
import QuantKernels

/// The walk over the registry: every kernel that this CPU can run, a line each.
package struct SelfTest {
  var isQuick = false
  var level: InstructionSet?
  let features = CPUFeatures.detect()
  var failed = false

  /// What the program `kernel-selftest` does; returns its exit code.
  package static func main(arguments: [String]) -> Int32 {
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
        print("usage: kernel-selftest [--quick] [--level portable|avx2|avx2vnni|avx512vnni]")
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

  mutating func checkProducts() {
    for format in ProductCase.formats {
      let entries = KernelRegistry.packedProducts.filter {
        $0.weights == format && isRunnable($0)
      }
      var failures: [String?] = entries.map { _ in nil }
      let cases = ProductCase.cases(format, isQuick: isQuick)
      for test in cases {
        guard let data = try? ProductData(test) else {
          failures = failures.map { $0 ?? "\(test.description): the matrix was refused" }
          continue
        }
        let expected = data.expected
        for (i, entry) in entries.enumerated() where failures[i] == nil {
          if let failure = data.difference(entry.function, expected) {
            failures[i] = "\(test.description): \(failure)"
          }
        }
      }
      for (entry, failure) in zip(entries, failures) { report(entry.name, cases.count, failure) }
    }
  }

  mutating func checkQuantizations() {
    for entry in KernelRegistry.quantizations where isRunnable(entry) {
      guard let grouping = entry.operation.quantizedGrouping else { continue }
      let result = QuantizationCheck.run(entry.function, grouping, isQuick: isQuick)
      report(entry.name, result.caseCount, result.failure)
    }
  }

  // MARK: Selection

  /// Whether no kernel of a list that the CPU runs is nearer to the level than the one of that name;
  /// nil where the list has none of that name.
  private func isNearest<F>(
    _ name: String, in list: [KernelEntry<F>], to level: InstructionSet
  ) -> Bool? {
    guard let chosen = list.first(where: { $0.name == name }) else { return nil }
    return chosen.instructionSet <= level
      && !list.contains {
        $0.operation == chosen.operation && $0.weights == chosen.weights
          && $0.instructionSet > chosen.instructionSet && $0.instructionSet <= level
          && features.isSuperset(of: $0.requirements)
      }
  }

  /// What was forced is what is chosen.
  mutating func checkSelection() {
    for forced in InstructionSet.available(on: features) where level == nil || level == forced {
      let names = (try? KernelLibrary(forcing: forced))?.selectedKernelNames ?? []
      let wrong = names.filter { name in
        let isRight =
          isNearest(name, in: KernelRegistry.packedProducts, to: forced)
          ?? isNearest(name, in: KernelRegistry.quantizations, to: forced)
        return isRight != true
      }
      let isRight = !names.isEmpty && wrong.isEmpty
      report("selection \(forced.rawValue)", names.count, isRight ? nil : "\(wrong)")
    }
  }
}
