import ArgumentParser
import Engines
import ModelFile
import PackedFormats
import TensorCore

/// How `pack` chooses scales, endpoints and codes.
struct QuantizationArguments: ParsableArguments {
  @Option(help: ArgumentHelp("How long ASTC blocks are searched.", valueName: "effort"))
  var effort: QuantizationOptions.Effort = .medium

  @Option(
    help: ArgumentHelp(
      "What scales are fitted to; by default what each format does best with.",
      valueName: "measure"))
  var fit: QuantizationOptions.ScaleFit?

  @Option(
    help: ArgumentHelp(
      "ASTC: clips each row at so many times its root mean square.",
      discussion: "Without it the range covers the row. What is clipped is counted.",
      valueName: "sigmas"))
  var clip: Float?

  @Option(
    help: ArgumentHelp(
      "ASTC: the most partitions of a block, 1 to 3.",
      discussion: "With 1 kernels run at full speed; with more the error is smaller.",
      valueName: "count"))
  var partitionLimit: Int?

  @Option(
    help: ArgumentHelp(
      "Keeps so many singular vectors of each linear layer as a low-rank adapter in f16.",
      discussion: "The packed weights hold what they leave. Needs OpenBLAS.", valueName: "rank"))
  var adapterRank = 0

  static let adapterRankLimit = 1 << 14

  func validate() throws {
    if let clip, !(clip > 0 && clip.isFinite) {
      throw ValidationError("--clip must be a positive number.")
    }
    guard partitionLimit.map({ 1...3 ~= $0 }) ?? true else {
      throw ValidationError("--partition-limit must be in 1...3.")
    }
    guard (0...Self.adapterRankLimit).contains(adapterRank) else {
      throw ValidationError("--adapter-rank must be in 0...\(Self.adapterRankLimit).")
    }
  }

  func apply(to packer: inout ModelPacker) throws {
    packer.options = QuantizationOptions(
      scaleFit: fit, effort: effort, clipping: clip, partitionLimit: partitionLimit)
    packer.adapterRank = adapterRank
    if adapterRank > 0 {
      do { packer.lowRank = try SingularVectors() } catch {
        throw CommandFailure(.environment, "--adapter-rank: \(error)")
      }
    }
  }
}

/// Where `pack` gets activation statistics from.
struct CalibrationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Weights errors with the model's activations over text of its own, or a file.",
      discussion: "A file is text, or statistics that --save-calibration has written.",
      valueName: "self|file"))
  var calibrate: String?

  @Option(help: ArgumentHelp("Tokens that --calibrate self samples.", valueName: "tokens"))
  var calibrationTokens = Calibrator.Sampling().tokenCount

  @Option(
    help: ArgumentHelp(
      "Where the random numbers of --calibrate self begin.", valueName: "number"))
  var seed: UInt64 = Calibrator.Sampling().seed

  @Option(
    help: ArgumentHelp("Writes the statistics, for another --calibrate.", valueName: "file"))
  var saveCalibration: String?

  func validate() throws {
    try Limits.check(calibrationTokens, upTo: Limits.tokens, option: "--calibration-tokens")
    if saveCalibration != nil && calibrate == nil {
      throw ValidationError("--save-calibration needs --calibrate.")
    }
  }

  /// What `pack` reads and writes for them.
  var files: CommandFiles {
    [
      .text(calibrate == "self" ? nil : calibrate, "--calibrate"),
      .output(saveCalibration, "--save-calibration", .safetensors),
    ]
  }

  /// The statistics that were asked for, nil if none were.
  func statistics(of model: String, threads: Int?) throws -> ActivationStatistics? {
    guard let calibrate else { return nil }
    let statistics = try gather(calibrate, of: model, threads: threads)
    Console.progress("")
    if let saveCalibration { try statistics.write(to: saveCalibration) }
    return statistics
  }

  private func gather(
    _ calibrate: String, of model: String, threads: Int?
  ) throws -> ActivationStatistics {
    var text: [UInt8] = []
    if calibrate != "self" {
      if let saved = try ActivationStatistics(savedAt: calibrate) { return saved }
      text = try WholeFile.read(calibrate, .text)
    }
    let started = ContinuousClock.now
    let calibrator = Calibrator(
      engine: try EngineLoader.load(model, options: EngineOptions(threads: threads)),
      text: try ModelText.open(model)
    ) { done, total in
      WorkProgress.show(
        "calibrating, \(done) of \(total) tokens", done: done, total: total, since: started)
    }
    do {
      return try CommandFailure.naming(model) {
        calibrate == "self"
          ? try calibrator.sampleText(.init(seed: seed, tokenCount: calibrationTokens))
          : try calibrator.read(text, named: calibrate)
      }
    } catch let error as InputError {
      throw error.inFile(model)
    }
  }
}

extension QuantizationOptions.Effort: ExpressibleByArgument {}
extension QuantizationOptions.ScaleFit: ExpressibleByArgument {}
