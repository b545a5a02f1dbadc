import KernelContract
import Kernels
import QuantKernels
import Report

/// The kernels of the registry, for `kernels --list`.
struct KernelList: Encodable {
  struct Row: Encodable {
    var kernel: String
    var op: String
    var weights: String?
    var isa: String
    /// CPU features that it needs.
    var requires: [String]
    /// Whether this CPU can run it.
    var available: Bool
    /// What the CPU lacks for it.
    var missing: [String]
    /// Whether it is the one chosen at the level asked for.
    var selected: Bool
  }

  var isa: String
  var rows: [Row]

  init(isa name: String?) throws {
    let library = try KernelLibrary.named(name)
    let chosen = Set(library.selectedKernelNames + VectorKernels(library).kernelNames)
    var rows: [Row] = []
    func add<Function>(_ list: [KernelEntry<Function>]) {
      rows += list.map { entry in
        Row(
          kernel: entry.name, op: entry.operation.rawValue, weights: entry.weights?.name,
          isa: entry.instructionSet.rawValue, requires: entry.requirements.featureNames,
          available: library.features.isSuperset(of: entry.requirements),
          missing: entry.requirements.subtracting(library.features).featureNames,
          selected: chosen.contains(entry.name))
      }
    }
    add(KernelRegistry.packedProducts)
    add(KernelRegistry.quantizations)
    unsafe add(KernelRegistry.norms)
    unsafe add(KernelRegistry.elementwise)
    unsafe add(KernelRegistry.scalings)
    unsafe add(KernelRegistry.softmaxes)
    unsafe add(KernelRegistry.conversions)
    unsafe add(KernelRegistry.rotations)
    unsafe add(KernelRegistry.searches)
    unsafe add(KernelRegistry.panels)
    unsafe add(KernelRegistry.codePanels)
    unsafe add(KernelRegistry.floatProducts)
    isa = library.instructionSet.rawValue
    self.rows = rows
  }

  /// Why a kernel does not run: all of what the CPU lacks, or how much more there is of it.
  private static func lack(_ features: [String]) -> String {
    guard features.count > 2 else { return "needs " + features.joined(separator: " ") }
    return "needs \(features[0]) and \(features.count - 1) more"
  }

  /// A line per kernel.
  var text: String {
    var table = TextTable([
      .init("kernel", .left), .init("op", .left), .init("weights", .left), .init("isa", .left),
      .init("here", .left),
    ])
    for row in rows {
      table.append([
        row.kernel, row.op, row.weights ?? "–", row.isa,
        row.selected ? "chosen" : row.available ? "runs" : Self.lack(row.missing),
      ])
    }
    return table.text
  }
}
