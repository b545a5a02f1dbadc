import ArgumentParser
import Files
import Foundation
import ModelFile
import PackedFormats
import TensorCore

struct MakeCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Makes a preset's model with weights from a seed.",
    usage: "afm-bench make [<options>] <preset> <output>",
    discussion: """
      The shape is the preset's, the weights are random: the file is as large and as fast as the \
      real model, but its answers mean nothing. The same seed gives the same weights on every \
      machine, and with the same release of zstd the same file. Presets: \(presetNames).

      With --adapter-rank the file is not the model but a low-rank adapter for it, in safetensors.

      Example: afm-bench make afm-ondevice-2025 afm.afmw
      Example: afm-bench make afm-ondevice-2025 a.safetensors --adapter-rank 32
      """)

  private static let presetNames = ModelPreset.allCases.map(\.name).joined(separator: ", ")

  @Argument(help: "The preset.")
  var preset: String

  @Argument(help: "The file to write.")
  var output: String

  @Option(help: ArgumentHelp("The seed of the weights.", valueName: "number"))
  var seed: UInt64 = 1

  @Option(
    help: ArgumentHelp("Makes an adapter of this rank for the preset's model.", valueName: "rank"))
  var adapterRank: Int?

  @Option(
    help: ArgumentHelp(
      "The linear layers' format.", discussion: LlamaCppFormat.weightsNote, valueName: "format"))
  var weights = FormatArgument(.u2c)

  @Option(help: ArgumentHelp("The embedding's format.", valueName: "format"))
  var embedding = FormatArgument(.u4g32)

  @Option(help: ArgumentHelp("The zstd level.", valueName: "level"))
  var level = 3

  @Option(
    help: ArgumentHelp(
      "How planes lie in the file: kernel is to be mapped at load.", valueName: "layout"))
  var layout: FileLayout = .canonical

  @OptionGroup var threads: ThreadOption

  @Flag(help: "Prints one JSON object.")
  var json = false

  func validate() throws {
    guard ModelPreset(name: preset) != nil else {
      throw ValidationError("The preset '\(preset)' is unknown: known are \(Self.presetNames).")
    }
    guard FrameCompression.levels.contains(level) else {
      throw ValidationError("--level must be in \(FrameCompression.levels).")
    }
    if let adapterRank {
      try Limits.check(
        adapterRank, upTo: QuantizationArguments.adapterRankLimit, option: "--adapter-rank")
    }
  }

  var files: CommandFiles {
    [.output(output, "the file to write", adapterRank == nil ? .packedModel : .safetensors)]
  }

  func run() throws {
    guard let preset = ModelPreset(name: preset) else { return }
    if let adapterRank {
      try makeAdapter(PresetAdapter(preset, rank: adapterRank, seed: seed), rank: adapterRank)
      return
    }
    var packer = ModelPacker(
      weights: weights.format, embedding: embedding.format, compression: .zstd(level: level),
      threads: threads.count ?? ProcessInfo.processInfo.activeProcessorCount)
    packer.usesKernelLayouts = layout == .kernel
    let started = ContinuousClock.now
    let report: PackReport
    do throws(PackError) {
      report = try packer.pack(PresetSource(preset, seed: seed), to: output) { progress in
        WorkProgress.show(
          progress.tensor, done: progress.doneElementCount, total: progress.totalElementCount,
          since: started)
      }
    } catch {
      switch error {
      case .input(let fault): throw fault
      case .output(let fault): throw fault
      }
    }
    Console.progress("")
    try show(
      MakeSummary(report, file: output, preset: preset, seed: seed),
      elapsed: ContinuousClock.now - started)
  }

  private func makeAdapter(_ adapter: PresetAdapter, rank: Int) throws {
    let byteCount = try adapter.write(to: output)
    let summary = MadeAdapter(
      file: output, preset: preset, seed: seed, adapter_rank: rank,
      adapter_parameters: adapter.parameterCount, bytes: byteCount)
    if json {
      try Console.report(Console.json(summary))
      return
    }
    let size = String(format: "%.1f MB", Double(byteCount) / 1e6)
    try Console.report(
      "\(output): an adapter of rank \(rank) for \(preset), seed \(seed), "
        + "\(summary.adapter_parameters) parameters, \(size)")
  }

  private func show(_ summary: MakeSummary, elapsed: Duration) throws {
    if json {
      try Console.report(Console.json(summary))
      return
    }
    let size = String(format: "%.1f MB", Double(summary.bytes) / 1e6)
    let seconds = String(format: "%.1f", elapsed / .seconds(1))
    try Console.report(
      """
      \(output): \(preset), seed \(seed), \(size) in \(seconds) s
      \(summary.parameters) parameters, \(summary.adapter_parameters) in an adapter of rank \
      \(summary.adapter_rank)
      \(String(format: "%.2f", summary.total_bpw)) bits per weight, \
      \(String(format: "%.2f", summary.file_bpw)) in the file
      """)
  }
}

/// What `make --json` prints.
private struct MakeSummary: Encodable {
  var file: String
  var preset: String
  var seed: UInt64
  var parameters: Int
  var adapter_rank: Int
  var adapter_parameters: Int
  var bytes: Int
  /// Of all planes in memory.
  var weight_bytes: Int
  var total_bpw: Double
  var file_bpw: Double

  init(_ report: PackReport, file: String, preset: ModelPreset, seed: UInt64) {
    let tensors = OnDeviceTensors(preset.header)
    self.file = file
    self.preset = preset.name
    self.seed = seed
    parameters = tensors.parameterCount
    adapter_rank = 32
    adapter_parameters = tensors.adapterParameterCount(rank: adapter_rank)
    bytes = report.fileByteCount
    weight_bytes = report.byteCount
    total_bpw = report.totalBitsPerWeight
    file_bpw = report.fileBitsPerWeight
  }
}

/// What `make --adapter-rank --json` prints.
private struct MadeAdapter: Encodable {
  var file: String
  var preset: String
  var seed: UInt64
  var adapter_rank: Int
  var adapter_parameters: Int
  var bytes: Int
}
