import Foundation
import PackedFormats
import TestSupport
import Testing

/// tools/oracles/formats_oracle.py computes the same with NumPy.
@Suite(.needs(.python)) struct NumPyOracleTests {
  /// A folder with the planes of a tensor.
  private func folder(_ tensor: PackedTensor) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (name, bytes) in [
      ("codes", tensor.codes), ("scales", tensor.scales), ("minimums", tensor.minimums),
    ] {
      try Data(bytes).write(to: folder.url(name))
    }
    return folder
  }

  private func bytes(_ values: [Float]) -> [UInt8] {
    values.flatMap { value in
      (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * UInt32($0))) }
    }
  }

  @Test(arguments: WeightFormat.elementwise, [1, 33, 130])
  func dequantizesAsNumPyDoes(format: WeightFormat, columnCount: Int) throws {
    let rowCount = 5
    let weights = gaussian(rowCount * columnCount, seed: UInt64(columnCount) + 40)
    let tensor = try PackedTensor(
      weights, format: format, rowCount: rowCount, columnCount: columnCount)
    let folder = try folder(tensor)
    _ = try Oracle.script(
      "formats_oracle.py", "values", format.name, String(rowCount), String(columnCount),
      folder.path)
    let values = [UInt8](try Data(contentsOf: folder.url("values")))
    #expect(values == bytes(tensor.dequantized()))
  }

  /// Codes are the nearest of the stored scales, and scales those of the fit where it names one.
  @Test(
    arguments: WeightFormat.coded.flatMap { format in
      [("absmax", false), ("mse", false), ("mse", true)].map { (format, $0.0, $0.1) }
    })
  func choosesAsNumPyDoes(format: WeightFormat, fit: String, isWeighted: Bool) throws {
    let (rowCount, columnCount) = (6, 333)
    let weights = gaussian(rowCount * columnCount, seed: 80)
    let importance = gaussian(columnCount, seed: 81).map { 0.01 + $0 * $0 }
    let options = QuantizationOptions(
      scaleFit: QuantizationOptions.ScaleFit(rawValue: fit),
      importance: isWeighted ? importance : nil)
    let tensor = try PackedTensor(
      weights, format: format, rowCount: rowCount, columnCount: columnCount, options: options)
    let folder = try folder(tensor)
    try Data(bytes(weights)).write(to: folder.url("weights"))
    if isWeighted { try Data(bytes(importance)).write(to: folder.url("importance")) }
    _ = try Oracle.script(
      "formats_oracle.py", "planes", format.name, String(rowCount), String(columnCount),
      folder.path, fit)
    let codes = [UInt8](try Data(contentsOf: folder.url("expected-codes")))
    for row in 0..<rowCount {
      for column in 0..<columnCount {
        let code = UInt8(truncatingIfNeeded: tensor.referenceCode(row: row, column: column))
        #expect(code == codes[row * columnCount + column], "row \(row), column \(column)")
      }
    }
    let isNamed =
      fit == "absmax" && format != .u4g32 || format == .u2c || format == .u2g64
    let scales = folder.url("expected-scales")
    #expect(FileManager.default.fileExists(atPath: scales.path) == isNamed)
    if isNamed { #expect([UInt8](try Data(contentsOf: scales)) == tensor.scales) }
  }
}
