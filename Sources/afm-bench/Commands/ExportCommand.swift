import ArgumentParser
import Files
import Foundation
import ModelFile
import TensorCore

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes a packed model as safetensors.",
    discussion: """
      --as f32 (f16, bf16) writes every tensor's real values, for any notebook; --as codes writes
      codes and scales, which pack takes back bit for bit. The file appears whole or not at all.

      Example: afm-bench export model.afmw model.safetensors --as bf16
      """)

  @Argument(help: "The packed model (.afmw).")
  var input: String

  @Argument(help: "The file to write.")
  var output: String

  @Option(name: .customLong("as"), help: "What is written: f32, f16, bf16 or codes.")
  var content: SafetensorsExport.Content = .f32

  @Option(
    help: "Tensor names: own, as inspect lists them, or huggingface (and rows in its order).")
  var names: SafetensorsExport.Naming = .own

  @Option(name: [.customShort("t"), .long], help: "Threads; by default one a core.")
  var threads: Int?

  @Flag(help: "Prints one JSON object.")
  var json = false

  struct Summary: Encodable {
    var file: String
    var bytes: Int
    var tensors: Int
  }

  func validate() throws {
    if let threads { try Limits.check(threads, upTo: Limits.threads, option: "-t") }
  }

  func run() throws {
    try OutputPath.check(output, isNot: input)
    let file = try AFMWFile(opening: input)
    let export = SafetensorsExport(
      content: content, naming: names,
      threads: threads ?? ProcessInfo.processInfo.activeProcessorCount)
    let report: SafetensorsExport.Report
    do throws(PackError) {
      report = try export.write(file, to: output) { done, total in
        Console.progress("\(100 * done / max(total, 1)) %")
      }
    } catch {
      switch error {
      case .input(let fault): throw fault.inFile(input)
      case .output(let fault): throw fault
      }
    }
    Console.progress("")
    let summary = Summary(file: output, bytes: report.byteCount, tensors: report.tensorCount)
    try Console.report(
      json
        ? Console.json(summary)
        : "\(output): \(summary.tensors) tensors, \(summary.bytes) bytes of data as "
          + content.rawValue)
  }
}

extension SafetensorsExport.Content: ExpressibleByArgument {}
extension SafetensorsExport.Naming: ExpressibleByArgument {}
