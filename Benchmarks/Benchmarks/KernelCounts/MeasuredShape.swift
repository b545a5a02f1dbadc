import Foundation
import KernelBench

/// A line of Shapes/layers.txt.
struct MeasuredShape {
  let shape: ProductShape
  let tokenCounts: [Int]

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// All lines, without comments.
  static func all() throws -> [MeasuredShape] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Shapes/layers.txt")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
      .map { line in
        let fields = line.split(separator: " ")
        guard fields.count == 2, let shape = ProductShape(fields[0]) else {
          throw Failure(description: "\(file.path): '\(line)' is not ROWSxCOLUMNS TOKENS,…")
        }
        let tokens = fields[1].split(separator: ",").compactMap { Int($0) }.filter { $0 > 0 }
        return MeasuredShape(shape: shape, tokenCounts: tokens)
      }
  }
}
