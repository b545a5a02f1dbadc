import CAllocationCounter
import EngineInterface
import Engines
import ModelFile
import PackedFormats
import TestSupport
import Testing

/// A session has all the memory that it will need when it is made; of ASTC, whose rows are looked up
/// through arrays, this is not so.
struct AllocationTests {
  static let formats: [WeightFormat] = [.u2c, .u4g32, .s8c, .f16]

  @Test(.enabled(if: ac_is_available())) func decodingAllocatesNothing() async {
    // A process of its own, where nothing else allocates at the same time.
    await #expect(processExitsWith: .success) {
      for model in TinyModel.allCases {
        for format in Self.formats {
          for threads in [1, 2] {
            let count = try model.packed(format) { try Self.allocations($0, threads: threads) }
            #expect(count == 0, "\(model) \(format), \(threads) threads")
          }
        }
      }
    }
  }

  @Test(.enabled(if: ac_is_available())) func stepsOfSeveralSessionsAllocateNothing() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let adapterPath = folder.file("adapter.safetensors")
      _ = try PresetAdapter(.onDeviceTiny, rank: 4, seed: 1).write(to: adapterPath)
      try packing(PresetSource(.onDeviceTiny, seed: 3), .u2c) { path in
        for cache in ["f16", "s8", "u4g32"] {
          let count = try Self.stepAllocations(path, adapter: adapterPath, cache: cache)
          #expect(count == 0, "\(cache)")
        }
      }
    }
  }

  /// Allocations while sessions, one in two with an adapter, are decoded together and sampled, within
  /// a page of the cache.
  private static func stepAllocations(
    _ path: String, adapter: String, cache: String
  ) throws -> UInt64 {
    let engine = try EngineLoader.load(path, options: EngineOptions(threads: 2))
    let group = try engine.makeSessionGroup(
      SessionOptions(
        contextLimit: 64, keyElement: cache, valueElement: cache, batchTokens: 64,
        cacheBudget: 1 << 26, sharesPrefixes: true))
    let adapter = try engine.loadAdapter(adapter)
    let sessions = try (0..<6).map { index in
      let session = try group.makeSession()
      if index % 2 == 1 { try session.use(adapter) }
      try session.prefill([5, 6, Int32(index)])
      return session
    }
    var tokens = [Int32](repeating: 0, count: sessions.count)
    var sampler = Sampler(.greedy)
    func decode(_ count: Int) throws {
      for _ in 0..<count {
        for index in sessions.indices {
          tokens[index] = try sessions[index].sample(using: &sampler)
        }
        try group.decode(tokens, in: sessions)
      }
    }
    try decode(2)
    ac_start()
    try decode(4)
    return ac_stop()
  }

  /// Allocations while some tokens are decoded and sampled, within a page of the cache.
  private static func allocations(_ path: String, threads: Int) throws -> UInt64 {
    let engine = try EngineLoader.load(path, options: EngineOptions(threads: threads))
    let session = try engine.makeSession(SessionOptions(contextLimit: 64))
    var greedy = Sampler(.greedy)
    var drawing = Sampler(Sampler.Options(temperature: 1, topK: 40, seed: 3))
    try session.prefill([5, 6, 7])
    func decode(_ count: Int) throws {
      for _ in 0..<count {
        try session.decode(try session.sample(using: &greedy))
        try session.decode(try session.sample(using: &drawing))
      }
    }
    // What is made once is made now.
    try decode(2)
    ac_start()
    try decode(4)
    return ac_stop()
  }
}
