// swift-tools-version:6.2
import PackageDescription

// What measures kernels and needs more than the package itself: counts under thresholds, with
// ordo-one's Benchmark, and products beside other libraries' (`../tools/peers`). A package of its
// own, so that nobody who depends on kernels fetches any of it; in one package with the kernels'
// sources (those folders of Sources are links into ../Sources) it uses their `package` interfaces.

let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableExperimentalFeature("Lifetimes"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// A Swift target with the settings of the project's own manifest.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
  name: "afm-benchmarks",
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    // Without its traits: no interposed allocator or runtime is in what is measured.
    .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
  ],
  targets: [
    module("TensorCore"),
    module("TraceCore"),
    module("RandomNumbers"),
    .target(name: "CKernels"),
    .target(name: "CPlatform"),
    module("ForkJoin", ["CPlatform"]),
    module("PackedFormats", ["TensorCore", "CKernels"]),
    module("KVCache", ["RandomNumbers", "TensorCore"]),
    module("KernelContract", ["PackedFormats", "TensorCore", "CKernels"]),
    module("EngineInterface", ["KVCache", "TensorCore", "TraceCore", "RandomNumbers"]),
    module("Kernels", ["KernelContract", "CKernels"]),
    module("Tiers", ["EngineInterface", "KVCache", "TraceCore"]),
    module(
      "QuantKernels",
      [
        "Kernels", "KernelContract", "PackedFormats", "ForkJoin", "TensorCore", "CKernels",
        "CPlatform",
      ]),
    module("BenchCore", ["Tiers", "EngineInterface", "TraceCore", "RandomNumbers"]),
    module("Report", ["BenchCore"]),
    module(
      "KernelBench",
      [
        "QuantKernels", "BenchCore", "KernelContract", "PackedFormats", "TensorCore", "CPlatform",
      ]),

    .target(name: "CAllocations"),
    .executableTarget(
      name: "KernelCounts",
      dependencies: [
        "KernelBench", "QuantKernels", "KernelContract", "PackedFormats", "CAllocations",
        .product(name: "Benchmark", package: "benchmark"),
      ],
      path: "Benchmarks/KernelCounts",
      swiftSettings: strict,
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),

    .target(name: "CPeers", linkerSettings: [.linkedLibrary("dl")]),
    .executableTarget(
      name: "peers",
      dependencies: [
        "KernelBench", "Report", "BenchCore", "QuantKernels", "KernelContract", "PackedFormats",
        "CPeers", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
