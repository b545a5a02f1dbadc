import ArgumentParser
import Files
import Foundation
import ModelFile
import TensorCore

struct ExportCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes a packed model as safetensors.",
    usage: "afm-bench export [<options>] <input> <output>",
    discussion: """
      --as f32 (f16, bf16) writes every tensor's real values, for any notebook; --as codes writes \
      codes and scales, which pack takes back bit for bit. The file appears whole or not at all.

      Example: afm-bench export model.afmw model.safetensors --as bf16
      """)

  @Argument(help: ArgumentHelp("The packed model (.afmw).", valueName: "input"))
  var first: String?

  @Argument(help: ArgumentHelp("The file to write.", valueName: "output"))
  var second: String?

  @Option(name: ModelArgument.optionNames, help: ModelArgument.optionHelp) var model: String?

  @Option(
    name: .customLong("as"), help: ArgumentHelp("What is written.", valueName: "content"))
  var content: SafetensorsExport.Content = .f32

  @Option(
    help: ArgumentHelp(
      "Tensor names: own, as inspect lists them, or huggingface (and rows in its order).",
      valueName: "naming"))
  var names: SafetensorsExport.Naming = .own

  @OptionGroup var threads: ThreadOption

  @Flag(help: "Prints one JSON object.")
  var json = false

  struct Summary: Encodable {
    var file: String
    var bytes: Int
    var tensors: Int
  }

  private var places: ArgumentPlaces {
    ArgumentPlaces(["input", "output"], model: model, positional: [first, second])
  }

  var input: String { places[0] }
  var output: String { places[1] }

  func validate() throws { try places.check() }

  var files: CommandFiles {
    [.file(input, "the model"), .output(output, "the file to write", .safetensors)]
  }

  func run() throws {
    let file = try PackedModel.open(input)
    let export = SafetensorsExport(
      content: content, naming: names,
      threads: threads.count ?? ProcessInfo.processInfo.activeProcessorCount)
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
