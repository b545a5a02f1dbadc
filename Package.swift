// swift-tools-version:6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableExperimentalFeature("Lifetimes"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// Only the program needs it, and only the program's trait fetches it.
let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser",
  condition: .when(traits: ["CommandLine"]))

/// A Swift target of ours with the project's settings.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The tests of one target; they reach it through `package` access, never `@testable`.
func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(name)Tests",
    dependencies: [.target(name: name), "TestSupport"] + dependencies,
    swiftSettings: strict)
}

let package = Package(
  name: "afm-bench",
  products: [
    .executable(name: "afm-bench", targets: ["afm-bench"]),
    .library(name: "QuantKernels", targets: ["QuantKernels"]),
    .library(name: "QuantKernelsC", targets: ["QuantKernelsC", "CQuantKernels"]),
    .library(name: "PackedFormats", targets: ["PackedFormats"]),
    .library(name: "ModelFile", targets: ["ModelFile"]),
    .library(name: "KVCache", targets: ["KVCache", "CacheSnapshots"]),
    .library(name: "TraceCore", targets: ["TraceCore"]),
    .library(name: "TraceExport", targets: ["TraceExport"]),
  ],
  traits: [
    .trait(
      name: "CommandLine",
      description: "The program afm-bench; those who use the libraries alone say `traits: []`."),
    .default(enabledTraits: ["CommandLine"]),
  ],
  // Exact: what measures is the same program wherever it is built.
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2")
  ],
  targets: [
    // Floor 0: the ground.
    module("TensorCore"),
    module("TraceCore"),
    module("RandomNumbers"),
    .target(name: "BuildStamp", swiftSettings: strict, plugins: ["StampBuild"]),
    .plugin(name: "StampBuild", capability: .buildTool()),
    .target(name: "CKernels"),
    .target(name: "CPlatform"),
    .target(name: "CProcess"),
    .target(name: "CQuantKernels"),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),

    // Floor 1.
    module("Files", ["CProcess", "TensorCore"]),
    .target(name: "CAllocationGuard", dependencies: ["CProcess"]),
    module("ForkJoin", ["CPlatform"]),
    module("PackedFormats", ["TensorCore", "CKernels"]),
    module("KVCache", ["RandomNumbers", "TensorCore"]),
    module("TraceExport", ["TraceCore", "TensorCore"]),
    module("Tokenization"),

    // Floor 2.
    module("KernelContract", ["PackedFormats", "TensorCore", "CKernels"]),
    module("CacheSnapshots", ["KVCache", "TensorCore", "Files", "CZstd"]),
    module(
      "ModelFile",
      [
        "PackedFormats", "Tokenization", "TensorCore", "Files", "RandomNumbers", "CPlatform",
        "CZstd",
      ]),
    module("EngineInterface", ["KVCache", "TensorCore", "TraceCore", "RandomNumbers"]),

    // Floor 3.
    module("Kernels", ["KernelContract", "CKernels"]),
    module("KernelReference", ["KernelContract", "CKernels", "PackedFormats"]),
    module("FloatBaseline", ["KernelContract"]),
    module("Tiers", ["EngineInterface", "KVCache", "TraceCore"]),
    module(
      "Workloads", ["EngineInterface", "KVCache", "RandomNumbers", "TensorCore", "TraceCore"]),

    // Floor 4.
    module(
      "QuantKernels",
      [
        "Kernels", "KernelContract", "PackedFormats", "ForkJoin", "TensorCore", "CKernels",
        "CPlatform",
      ]),
    module(
      "QuantKernelsC",
      [
        "Kernels", "KernelContract", "PackedFormats", "ForkJoin", "CKernels", "CPlatform",
        "CQuantKernels",
      ]),
    module("BenchCore", ["Tiers", "EngineInterface", "TraceCore", "RandomNumbers"]),

    // Floor 5.
    module(
      "KernelChecks",
      [
        "QuantKernels", "Kernels", "KernelReference", "KernelContract", "CKernels", "PackedFormats",
        "RandomNumbers",
      ]),
    module(
      "Engines",
      [
        "QuantKernels", "FloatBaseline", "KernelContract", "ModelFile", "EngineInterface",
        "KVCache", "CacheSnapshots", "Tokenization", "PackedFormats", "TensorCore", "TraceCore",
        "Files", "RandomNumbers",
      ]),
    module("Report", ["BenchCore"]),
    module("Comparison", ["BenchCore", "TensorCore"]),
    module(
      "KernelBench",
      [
        "QuantKernels", "BenchCore", "KernelContract", "PackedFormats", "TensorCore", "CPlatform",
      ]),

    // Floor 6.
    .executableTarget(
      name: "afm-bench",
      dependencies: [
        "Engines", "Report", "Comparison", "KernelBench", "BenchCore", "Tiers", "Workloads",
        "EngineInterface", "ModelFile", "TraceExport", "TraceCore", "QuantKernels", "Kernels", "KernelContract",
        "PackedFormats", "KVCache", "CacheSnapshots", "Tokenization", "TensorCore", "Files",
        "RandomNumbers", "BuildStamp", "CProcess", "CPlatform", "CAllocationGuard", argumentParser,
      ],
      swiftSettings: strict),

    .executableTarget(
      name: "kernel-selftest", dependencies: ["KernelChecks"], swiftSettings: strict),

    .executableTarget(
      name: "kernel-fuzz",
      dependencies: [
        "QuantKernelsC", "KernelContract", "PackedFormats", "RandomNumbers", "CQuantKernels",
      ],
      swiftSettings: strict),

    // Tests.
    .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
    .target(
      name: "TestSupport", dependencies: ["RandomNumbers"], path: "Tests/TestSupport",
      swiftSettings: strict),
    .target(name: "CVNNIEmulation", path: "Tests/CVNNIEmulation"),
    .target(name: "CFaults", dependencies: ["CProcess"], path: "Tests/CFaults"),
    tests("CProcess", ["CFaults"]),
    tests("Files"),
    tests("PackedFormats", ["TensorCore"]),
    tests("ModelFile", ["PackedFormats", "Tokenization", "TensorCore", "Files"]),
    tests("Tokenization"),
    tests("TraceCore"),
    tests("TraceExport", ["TraceCore", "TensorCore"]),
    tests(
      "Kernels",
      [
        "CVNNIEmulation", "KernelChecks", "KernelContract", "KernelReference", "QuantKernels",
        "CKernels",
      ]),
    tests(
      "QuantKernels",
      [
        "CAllocationCounter", "ForkJoin", "KernelChecks", "KernelContract", "KernelReference",
        "Kernels", "PackedFormats",
      ]),
    tests(
      "QuantKernelsC",
      [
        "CQuantKernels", "KernelChecks", "KernelContract", "PackedFormats", "QuantKernels",
        "TensorCore",
      ]),
    tests("BenchCore", ["Tiers", "EngineInterface"]),
    tests("KernelBench", ["BenchCore", "KernelContract", "PackedFormats", "QuantKernels"]),
    tests("Report", ["BenchCore"]),
    tests("Comparison", ["BenchCore", "TensorCore"]),
    // These run the built program as a process.
    .testTarget(
      name: "CommandLineTests", dependencies: ["TestSupport"], swiftSettings: strict),
    tests("FloatBaseline", ["KernelReference", "KernelContract"]),
    tests("TensorCore"),
    tests("KVCache", ["CAllocationCounter", "CacheSnapshots", "TensorCore"]),
    tests("Workloads", ["KVCache", "TensorCore"]),
    tests("EngineInterface"),
    tests(
      "Engines",
      [
        "CAllocationCounter", "EngineInterface", "ModelFile", "KVCache", "KernelContract",
        "PackedFormats", "QuantKernels", "RandomNumbers", "Tokenization", "TensorCore", "TraceCore",
        "Workloads",
      ]
    ),
    tests("Tiers", ["EngineInterface", "KVCache", "TraceCore", "TraceExport"]),
    .testTarget(name: "ArchitectureTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
