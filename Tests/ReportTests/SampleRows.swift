import BenchCore

/// Rows as a run gives them, with texts that every format has to quote.
enum SampleRows {
  static var all: [RunRow] { [prefill, decode, chat, failed] }

  private static var base: RunRow {
    var row = RunRow()
    row.buildCommit = "1f41bfe"
    row.buildNumber = 12
    row.cpuInfo = "A CPU, \"fast\" @ 3 GHz"
    row.instructionSet = "avx512vnni"
    row.kernels = ["gemv_f32_s8t_s8c_r4_avx512vnni", "gemm_f32_s8t_s8c_r4_avx512vnni"]
    row.modelFilename = "models/it's | 漢字 😀.afmw"
    row.modelType = "llama s8c"
    row.modelByteCount = 136_000_000
    row.modelParameterCount = 134_515_008
    row.weightByteCount = 135_000_000
    row.batchTokens = 512
    row.microBatchTokens = 512
    row.threadCount = 2
    row.keyElement = "f16"
    row.valueElement = "s8"
    row.tier = "on-device"
    row.testTime = "2025-06-30T12:34:56Z"
    row.contextLimit = 4_096
    row.contextLimitSource = "tier"
    row.promptHash = "9f86d081"
    row.recordingOverhead = 0.0004
    row.memoryReadBytesPerSecond = 20e9
    row.peakResidentByteCount = 300_000_000
    return row
  }

  private static var prefill: RunRow {
    var row = base
    row.test = "pp512"
    row.promptTokenCount = 512
    row.sampleNanoseconds = [730_000_000, 731_000_000]
    row.sampleTokensPerSecond = [701.369863, 700.410397]
    row.averageNanoseconds = 730_500_000
    row.deviationNanoseconds = 707_107
    row.averageTokensPerSecond = 700.89013
    row.deviationTokensPerSecond = 0.678445
    row.prefillTokensPerSecond = 700.89013
    row.prefillContextFrontier = 0
    row.contextUsed.prompt = 512
    row.setVerdict(
      Verdict(findings: [
        VerdictFinding(reason: .tooFewSamples, words: "needs 6 samples, has 2"),
        VerdictFinding(reason: .stealTime, words: "3.0 % of CPU time was stolen (limit 1.0 %)"),
      ]))
    return row
  }

  private static var decode: RunRow {
    var row = base
    row.test = "tg128"
    row.depth = 256
    row.generatedTokenCount = 128
    row.averageNanoseconds = 1_000_000_000
    row.deviationNanoseconds = 0
    row.averageTokensPerSecond = 128
    row.deviationTokensPerSecond = 0
    row.decodeTokensPerSecond = 128
    row.decodeContextFrontier = 257
    row.ttftNanoseconds = 9_876_543
    row.ttftInterval = Interval(low: 9_000_000, high: 11_000_000)
    row.ttfoNanoseconds = 9_876_543
    row.ttfoInterval = Interval(low: 9_000_000, high: 11_000_000)
    row.tpotNanoseconds = 7_812_500
    row.tpotInterval = Interval(low: 7_800_000, high: 7_900_000)
    row.itlSamples = [7_812_500, 7_812_500]
    row.itlP50Nanoseconds = 7_812_500
    row.itlP90Nanoseconds = 8_000_000
    row.itlRefusal = "P99: needs 662 values, has 128"
    row.outputTokenCount = 128
    row.finish = "length"
    row.contextUsed.history = 256
    row.contextUsed.prompt = 1
    row.contextUsed.response = 128
    row.cacheBytesAllocated = 9_437_184
    row.cacheBytesUsed = 8_888_320
    row.cacheBytesIdeal = 8_870_400
    row.cacheBytesShared = 1_048_576
    row.cacheBytesWasted = 548_864
    row.memoryBandwidthUtilisation = 0.875
    return row
  }

  private static var chat: RunRow {
    var row = base
    row.test = "chat"
    row.turn = 2
    row.tier = "private-cloud"
    row.tierIsModelled = true
    row.contextLimit = 8_192
    row.contextLimitSource = "model"
    row.reasoning = "light"
    row.reasoningBudget = 64
    row.reasoningTokenCount = 64
    row.outputTokenCount = 100
    row.promptTokenCount = 30
    row.generatedTokenCount = 100
    row.averageNanoseconds = 900_000_000
    row.deviationNanoseconds = 1
    row.averageTokensPerSecond = 111.111
    row.deviationTokensPerSecond = 1.5
    row.prefillTokensPerSecond = 650.25
    row.prefillContextFrontier = 120
    row.decodeTokensPerSecond = 115.5
    row.decodeContextFrontier = 150
    row.ttftNanoseconds = 48_000_000
    row.ttfoNanoseconds = 612_345_678
    row.tpotNanoseconds = 8_660_000
    row.intervalRefusal = "a 95 % interval needs 6 samples, has 5"
    row.itlSamples = [8_600_000]
    row.itlP50Nanoseconds = 8_600_000
    row.itlRefusal = "P90: needs 64 values, has 1; P99: needs 662 values, has 1"
    row.finish = "stop"
    row.contextUsed.instructions = 20
    row.contextUsed.history = 100
    row.contextUsed.prompt = 30
    row.contextUsed.reasoning = 70
    row.contextUsed.response = 36
    return row
  }

  private static var failed: RunRow {
    var row = base
    row.test = "pp8192"
    row.promptTokenCount = 8_192
    row.error = "context exceeded:\r\nlimit '4096', \"8192\" needed\u{0}"
    row.setVerdict(
      Verdict(findings: [VerdictFinding(reason: .error, words: "context exceeded")]))
    return row
  }
}
