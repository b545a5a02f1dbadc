extension RunRow {
  /// The names in JSON, CSV and SQL, in the order of the columns: llama-bench's first.
  package enum CodingKeys: String, CodingKey, CaseIterable, Sendable {
    case buildCommit = "build_commit"
    case buildNumber = "build_number"
    case cpuInfo = "cpu_info"
    case modelFilename = "model_filename"
    case modelType = "model_type"
    case modelByteCount = "model_size"
    case modelParameterCount = "model_n_params"
    case batchTokens = "n_batch"
    case microBatchTokens = "n_ubatch"
    case threadCount = "n_threads"
    case keyElement = "type_k"
    case valueElement = "type_v"
    case promptTokenCount = "n_prompt"
    case generatedTokenCount = "n_gen"
    case depth = "n_depth"
    case testTime = "test_time"
    case averageNanoseconds = "avg_ns"
    case deviationNanoseconds = "stddev_ns"
    case averageTokensPerSecond = "avg_ts"
    case deviationTokensPerSecond = "stddev_ts"
    case sampleNanoseconds = "samples_ns"
    case sampleTokensPerSecond = "samples_ts"

    case adapter
    case prefillLayers = "prefill_layers"
    case test
    case turn
    case tier
    case tierIsModelled = "tier_modelled"
    case reasoning
    case reasoningBudget = "reasoning_budget"
    case reasoningTokenCount = "reasoning_tokens"
    case outputTokenCount = "output_tokens"
    case finish
    case ttftNanoseconds = "ttft_ns"
    case ttfoNanoseconds = "ttfo_ns"
    case tpotNanoseconds = "tpot_ns"
    case ttftInterval = "ttft_ns_interval"
    case ttfoInterval = "ttfo_ns_interval"
    case tpotInterval = "tpot_ns_interval"
    case intervalRefusal = "interval_refusal"
    case ttftSamples = "ttft_ns_samples"
    case ttfoSamples = "ttfo_ns_samples"
    case tpotSamples = "tpot_ns_samples"
    case itlP50Nanoseconds = "itl_ns_p50"
    case itlP90Nanoseconds = "itl_ns_p90"
    case itlP99Nanoseconds = "itl_ns_p99"
    case itlP50Interval = "itl_ns_p50_interval"
    case itlRefusal = "itl_refusal"
    case itlSamples = "itl_ns_samples"
    case prefillTokensPerSecond = "prefill_ts"
    case prefillContextFrontier = "prefill_context_frontier"
    case decodeTokensPerSecond = "decode_ts"
    case decodeContextFrontier = "decode_context_frontier"
    case cacheBytesAllocated = "kv_bytes_allocated"
    case cacheBytesUsed = "kv_bytes_used"
    case cacheBytesIdeal = "kv_bytes_ideal"
    case contextLimit = "context_limit"
    case contextLimitSource = "context_limit_source"
    case contextUsed = "context_used"
    case weightByteCount = "weight_bytes"
    case peakResidentByteCount = "peak_rss_bytes"
    case memoryBandwidthUtilisation = "mbu"
    case memoryReadBytesPerSecond = "memory_read_bytes_per_second"
    case instructionSet = "isa"
    case kernels
    case promptHash = "prompt_hash"
    case warmupCount = "warmup_requests"
    case warmupNanoseconds = "warmup_ns"
    case recordingOverhead = "recording_overhead"
    case verdict
    case verdictReasons = "verdict_reasons"
    case verdictWords = "verdict_words"
    case error
  }
}
