import CAllocationCounter
import EngineInterface
import Engines
import PackedFormats
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
