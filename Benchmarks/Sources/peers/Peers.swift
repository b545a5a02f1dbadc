import ArgumentParser
import BenchCore
import Foundation
import KernelBench
import KernelContract
import PackedFormats
import QuantKernels

/// Our kernels and another library's on the same shapes, in turns.
@main
struct Peers: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "Times our kernels beside another library's, in one process and in turns.",
    discussion: """
      Every product begins with activations in f32 and ends with results in f32, on both sides. In \
      each repetition everybody has a turn of some milliseconds, beside the machine's roofs of that \
      moment; a ratio is the peer's time over ours, repetition by repetition. From memory the \
      weights change with every call, and take more than the caches hold, in huge pages on both \
      sides. Kernels are paired with types that store up to 1.75 times as many bits, or as few.

      Example: peers --library libggml_peer.so --weights u2c --types TQ2_0,Q2_K --tokens 1
      """)

  @Option(help: "The shared object to measure beside; tools/peers passes it.")
  var library: String

  @Option(help: "Our weight formats, a list.")
  var weights = "u2c,u2g64,u4g32,s8c,astc6x6-ldr"

  @Option(help: "Their types, a list; --list prints them all.")
  var types = "TQ1_0,TQ2_0,IQ2_XXS,IQ2_XS,IQ2_S,Q2_K,IQ3_S,Q3_K,Q4_0,Q8_0"

  @Option(help: "ROWSxCOLUMNS, a list.")
  var shape = ProductShape.usual

  @Option(help: "Tokens in a call, a list.")
  var tokens = "1,128,512"

  @Option(name: .customLong("in"), help: "Where the weights lie, a list: cache, memory.")
  var places = "memory"

  @Option(name: .customShort("t"), help: "Threads, a list; by default one a core.")
  var threads: String?

  @Option(name: .customShort("r"), help: "Repetitions; an interval of a median needs at least 6.")
  var repetitions = 15

  @Option(help: "ASTC: the most partitions of a block, 1 to 3.")
  var partitionLimit = 1

  @Option(help: "Forces an instruction set of ours: portable, avx2 or avx512vnni.")
  var isa: String?

  @Flag(
    help: "Shows every pair, not only the fastest of their types of 2, 3, 4 and more bits.")
  var all = false

  @Flag(help: "Prints the library's types.")
  var list = false

  @Flag(help: "Prints one JSON object.")
  var json = false

  func run() throws {
    let peers = try PeerLibrary(path: library)
    if list { return print(peers.types.joined(separator: "\n")) }
    let plan = try Plan(self, known: peers.types)
    var report = ComparisonReport(library: peers.name, isa: "", rows: [])
    for threadCount in plan.threadCounts {
      let platform = KernelPlatform(
        library: try KernelLibrary.named(isa), pool: ThreadPool(threadCount: threadCount))
      report.isa = platform.library.instructionSet.rawValue
      let comparison = Comparison(
        platform: platform,
        benchmark: KernelBenchmark(
          on: platform, repetitions: repetitions,
          lastCacheByteCount: EnvironmentProbe().largestCacheByteCount,
          partitionLimit: partitionLimit),
        threads: PeerThreads(peers, count: platform.pool.threadCount), formats: plan.formats,
        types: plan.types, note: Self.say)
      for place in plan.places {
        for shape in plan.shapes {
          for tokens in plan.tokenCounts {
            Self.say(
              "\(shape), \(tokens) tokens, \(platform.pool.threadCount) threads, \(place.rawValue)")
            report.rows += try comparison.measure(shape, tokens: tokens, in: place)
              .map { ComparisonReport.Row($0) }
          }
        }
      }
    }
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(report), as: UTF8.self))
    } else {
      print(report.text(all: all))
    }
  }

  /// Progress, on standard error.
  private static func say(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8))
  }
}

/// The command line, understood.
struct Plan {
  let formats: [WeightFormat]
  let types: [String]
  let shapes: [ProductShape]
  let tokenCounts: [Int]
  let threadCounts: [Int?]
  let places: [KernelCase.Place]

  init(_ command: Peers, known: [String]) throws {
    func items(_ text: String) -> [Substring] {
      text.split(separator: ",", omittingEmptySubsequences: false)
    }
    formats = try items(command.weights).map { name in
      guard let format = WeightFormat(name: String(name)), PackedMatrix.supports(format) else {
        throw ValidationError("--weights '\(name)': there are no such kernels")
      }
      return format
    }
    types = try items(command.types).map { name in
      guard let type = known.first(where: { $0 == name.uppercased() }) else {
        throw ValidationError(
          "--types '\(name)': the library has \(known.joined(separator: ", "))")
      }
      return type
    }
    shapes = try items(command.shape).map { text in
      guard let shape = ProductShape(text) else {
        throw ValidationError("--shape '\(text)': \(ProductShape.rule)")
      }
      return shape
    }
    places = try items(command.places).map { name in
      guard let place = KernelCase.Place(rawValue: String(name)) else {
        throw ValidationError("--in '\(name)': known are cache and memory")
      }
      return place
    }
    do {
      tokenCounts = try NumberList.parse(command.tokens, option: "--tokens", minimum: 1)
      threadCounts =
        try command.threads.map {
          try NumberList.parse($0, option: "-t", minimum: 1).map { $0 }
        } ?? [nil]
    } catch let error as RunPlanError {
      throw ValidationError(error.description)
    }
    guard command.repetitions > 0, command.repetitions <= 10_000 else {
      throw ValidationError("-r: 1 to 10000")
    }
    guard (1...3).contains(command.partitionLimit) else {
      throw ValidationError("--partition-limit: 1 to 3")
    }
    guard tokenCounts.allSatisfy({ $0 <= 1 << 14 }),
      threadCounts.allSatisfy({ ($0 ?? 1) <= 1024 })
    else { throw ValidationError("at most 16384 tokens and 1024 threads") }
  }
}
