import Foundation
import Testing

/// Imports go down, and what the manifest says is what the files do.
@Suite struct LayeringTests {
  /// The floor of every target; an import goes to a lower one.
  static let floors: [String: Int] = [
    "TensorCore": 0, "TraceCore": 0, "RandomNumbers": 0, "CKernels": 0, "CPlatform": 0,
    "CProcess": 0, "CZstd": 0, "CQuantKernels": 0, "BuildStamp": 0,
    "Files": 1, "CAllocationGuard": 1,
    "ForkJoin": 1, "PackedFormats": 1, "KVCache": 1, "TraceExport": 1, "Tokenization": 1,
    "KernelContract": 2, "ModelFile": 2, "CacheSnapshots": 2, "EngineInterface": 2,
    "Kernels": 3, "KernelReference": 3, "FloatBaseline": 3, "Tiers": 3, "Workloads": 3,
    "QuantKernels": 4, "QuantKernelsC": 4, "BenchCore": 4,
    "KernelChecks": 5, "KernelBench": 5, "Engines": 5, "Report": 5, "Comparison": 5,
    "afm-bench": 6, "kernel-selftest": 6, "kernel-fuzz": 6,
  ]

  /// Targets that tests alone use.
  static let testSupport: Set = ["TestSupport", "CAllocationCounter", "CVNNIEmulation", "CFaults"]

  /// Modules of other packages that a target may import, where it declares their product.
  static let foreign = ["ArgumentParser"]

  private let source: PackageSource
  private let declared: [String: Set<String>]

  init() throws {
    source = try PackageSource()
    declared = try source.declaredDependencies()
  }

  @Test func everyTargetHasAFloorAndAFolder() throws {
    let ours = Set(declared.keys).subtracting(Self.testSupport)
    #expect(ours == Set(Self.floors.keys))
    let folders = Set(
      source.files.compactMap { $0.path.split(separator: "/").first.map(String.init) })
    #expect(folders.isSubset(of: ours), "a folder of Sources is no target")
  }

  @Test func everyDeclaredDependencyIsOnALowerFloor() throws {
    for (target, names) in declared where !Self.testSupport.contains(target) {
      let floor = try #require(Self.floors[target])
      for name in names where !Self.foreign.contains(name) && Self.floors[name] != nil {
        let below = try #require(Self.floors[name])
        #expect(below < floor, "\(target) depends on \(name), which is not below it")
      }
    }
  }

  @Test func everyImportIsDeclaredAndGoesDown() throws {
    let pattern =
      /^\s*(?:@[A-Za-z_]+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?([A-Za-z_][A-Za-z0-9_]*)/
    var importCount = 0
    for file in source.files {
      let target = try #require(file.path.split(separator: "/").first.map(String.init))
      let floor = try #require(Self.floors[target], "\(file.path) belongs to no known target")
      let allowed = try #require(declared[target])
      for line in file.lines {
        guard let match = line.firstMatch(of: pattern) else { continue }
        let name = String(match.1)
        #expect(!line.contains("@testable"), "\(file.path)")
        if Self.foreign.contains(name) {
          #expect(allowed.contains(name), "\(file.path) imports \(name), undeclared")
          continue
        }
        guard let below = Self.floors[name] else { continue }
        importCount += 1
        #expect(allowed.contains(name), "\(file.path) imports \(name), undeclared")
        #expect(below < floor, "\(file.path) imports \(name), which is not below \(target)")
      }
    }
    #expect(importCount > 100, "hardly any import was found: the pattern is broken")
  }

  /// Files reach intrinsics, through the formats that use them, but no kernel.
  @Test func kernelsKnowNoFilesAndFilesNoKernels() throws {
    let kernels: Set = [
      "KernelContract", "Kernels", "KernelReference", "QuantKernels", "KernelChecks",
      "QuantKernelsC", "CQuantKernels",
    ]
    let files: Set = ["Files", "ModelFile", "CacheSnapshots", "Tokenization", "CZstd"]
    for target in kernels.union(["CKernels"]) {
      #expect(try reachable(target).isDisjoint(with: files))
    }
    for target in files {
      #expect(try reachable(target).isDisjoint(with: kernels))
      #expect(try !#require(declared[target]).contains("CKernels"))
    }
    #expect(try !reachable("TraceCore").contains("TraceExport"))
    #expect(try reachable("Engines").isDisjoint(with: ["BenchCore", "Tiers", "Report"]))
  }

  /// Everything below a target, through any number of steps.
  private func reachable(_ target: String) throws -> Set<String> {
    var found: Set<String> = []
    var open = [target]
    while let next = open.popLast() {
      for name in try #require(declared[next]) where Self.floors[name] != nil {
        if found.insert(name).inserted { open.append(name) }
      }
    }
    return found
  }
}
