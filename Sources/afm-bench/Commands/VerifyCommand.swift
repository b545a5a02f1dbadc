import ArgumentParser
import Engines
import Foundation
import ModelFile
import TensorCore

struct VerifyCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks every checksum and every value of a packed model, and that it can run.",
    discussion: """
      Exit code 3 names the first fault: a tensor with frame and byte offset, or a tensor, a \
      tokenizer or an architecture with which the model would not run.

      Example: afm-bench verify model.afmw
      """)

  @OptionGroup var model: ModelArgument

  @Flag(help: "Prints one JSON object.")
  var json = false

  struct Result: Encodable {
    var file: String
    var bytes: Int
    var tensors: Int
    var ok: Bool
  }

  var file: String { model.path }

  var files: CommandFiles { [.file(file, "the model")] }

  func run() throws {
    let container = try PackedModel.open(file)
    try EngineLoader.check(container)
    try container.verify(threads: ProcessInfo.processInfo.activeProcessorCount) { done, total in
      Console.progress("\(100 * done / max(total, 1)) %")
    }
    Console.progress("")
    let result = Result(
      file: file, bytes: container.byteCount, tensors: container.tensors.count, ok: true)
    try Console.report(
      json
        ? Console.json(result)
        : "\(file): whole; \(result.tensors) tensors, \(result.bytes) bytes")
  }
}
