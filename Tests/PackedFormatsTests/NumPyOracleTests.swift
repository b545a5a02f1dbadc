import Foundation
import PackedFormats
import TestSupport
import Testing

private let python = ProcessInfo.processInfo.environment["AFM_PYTHON"]
private let required = ProcessInfo.processInfo.environment["CI"] == "true"

/// tools/oracles/formats_oracle.py dequantizes the same planes with NumPy.
@Suite(.enabled(if: python != nil || required, "AFM_PYTHON names a Python with NumPy"))
struct NumPyOracleTests {
  @Test(arguments: WeightFormat.allCases, [1, 33, 130])
  func dequantizesAsNumPyDoes(format: WeightFormat, columnCount: Int) throws {
    let python = try #require(python, "AFM_PYTHON is not set")
    let rowCount = 5
    let weights = gaussian(rowCount * columnCount, seed: UInt64(columnCount) + 40)
    let tensor = try PackedTensor(
      weights, format: format, rowCount: rowCount, columnCount: columnCount)
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("formats-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, bytes) in [
      ("codes", tensor.codes), ("scales", tensor.scales), ("minimums", tensor.minimums),
    ] {
      try Data(bytes).write(to: folder.appendingPathComponent(name))
    }
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [
      root.appendingPathComponent("tools/oracles/formats_oracle.py").path, format.name,
      String(rowCount), String(columnCount), folder.path,
    ]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    let output = try Data(contentsOf: folder.appendingPathComponent("values"))
    let values = [UInt8](output)
    let expected = tensor.dequantized().flatMap { value in
      (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * UInt32($0))) }
    }
    #expect(values == expected)
  }
}
