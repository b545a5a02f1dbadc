// swift-tools-version:6.2
import PackageDescription

// The sources that read bytes from outside, as a package of their own: built with coverage and
// address sanitizers they must not mix with the ordinary build, and in one package with the fuzz
// targets they keep their `package` interfaces. The folders are links into ../../Sources.

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
  name: "afm-fuzz",
  targets: [
    module("TensorCore"),
    module("Files", ["CProcess", "TensorCore"]),
    .target(name: "CProcess"),
    .target(name: "CPlatform"),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .target(name: "CKernels"),
    module("PackedFormats", ["TensorCore", "CKernels"]),
    module("Tokenization"),
    module("RandomNumbers"),
    module(
      "ModelFile",
      [
        "PackedFormats", "Tokenization", "TensorCore", "Files", "RandomNumbers", "CPlatform",
        "CZstd",
      ]),
    module("KVCache", ["RandomNumbers", "TensorCore"]),
    module("CacheSnapshots", ["KVCache", "TensorCore", "Files", "CZstd"]),
    module("TraceCore"),
    module("EngineInterface", ["KVCache", "TensorCore", "TraceCore", "RandomNumbers"]),
    module(
      "Workloads", ["EngineInterface", "KVCache", "RandomNumbers", "TensorCore", "TraceCore"]),
    .target(name: "CFuzz"),
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "ModelFile", "PackedFormats", "Tokenization", "TensorCore", "Files", "KVCache",
        "CacheSnapshots", "Workloads", "RandomNumbers", "CFuzz",
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
