import Foundation
import PackedFormats
import TestSupport
import Testing

/// tools/oracles/formats_oracle.py dequantizes the same planes with NumPy.
@Suite(.needs(.python)) struct NumPyOracleTests {
  @Test(arguments: WeightFormat.elementwise, [1, 33, 130])
  func dequantizesAsNumPyDoes(format: WeightFormat, columnCount: Int) throws {
    let rowCount = 5
    let weights = gaussian(rowCount * columnCount, seed: UInt64(columnCount) + 40)
    let tensor = try PackedTensor(
      weights, format: format, rowCount: rowCount, columnCount: columnCount)
    let folder = try TemporaryFolder()
    for (name, bytes) in [
      ("codes", tensor.codes), ("scales", tensor.scales), ("minimums", tensor.minimums),
    ] {
      try Data(bytes).write(to: folder.url(name))
    }
    _ = try Oracle.script(
      "formats_oracle.py", format.name, String(rowCount), String(columnCount), folder.path)
    let output = try Data(contentsOf: folder.url("values"))
    let values = [UInt8](output)
    let expected = tensor.dequantized().flatMap { value in
      (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * UInt32($0))) }
    }
    #expect(values == expected)
  }
}
