-- t/s: mean ± standard deviation over the samples, tokens of the test's phase per second, beginning at the context frontier: the positions already in the cache; xN: of N sessions that run together
-- TTFT: request submitted to first token of any kind, tokenizing and prefill included
-- TTFO: request submitted to first visible token; reasoning comes before it
-- ITL: gap between consecutive tokens: a distribution
-- TPOT: (end-to-end - TTFT) / (tokens - 1): one number a request
-- prefill, decode: median tokens per second of the phase @ the context frontier where it begins
-- 95 %: of the median decode rate, or of the prefill rate where nothing is decoded: between the order statistics that hold the true median with 95 % or more, of independent requests of this process; needs 6 of them
-- interval: 95 % bootstrap percentile interval of the median, resampled by request; needs 6 samples
-- times as fast: Hodges-Lehmann: the median of all quotients of two rows' rates, request by request, with the 95 % interval of the Mann-Whitney test, which needs 4 requests of each; undecided where it includes 1. It is of this process: another load, process or day may differ by more
-- percentile: nearest rank; refused with too few values (P90 needs 64, P99 662 independent ones: MLPerf LoadGen's early-stopping rule at 99 % confidence)
-- context used: positions in the cache after the request: instructions + tools + history + prompt + reasoning + response, against the limit and whose limit that is
-- KV: cache bytes, of each session by itself: predicted before the request for all tokens it may take, then allocated (whole pages), used (stored positions with scales), ideal (positions x bytes a position), wasted (allocated - used); of the tier, shared: what pages with several holders, the frontier of -d among them, save
-- MBU: bytes that must move per token, or per step of several sessions / time / memory read bandwidth measured in this run
-- modelled: the tier runs in this process on the same kernels; network and data centre are not in its times
-- verdict: trusted: nothing speaks against it; noisy: disturbed; invalid: not a measurement
CREATE TABLE IF NOT EXISTS afm_bench (
  build_commit TEXT,
  build_number INTEGER,
  cpu_info TEXT,
  model_filename TEXT,
  model_type TEXT,
  model_size INTEGER,
  model_n_params INTEGER,
  n_batch INTEGER,
  n_ubatch INTEGER,
  n_threads INTEGER,
  type_k TEXT,
  type_v TEXT,
  use_mmap INTEGER,
  n_prompt INTEGER,
  n_gen INTEGER,
  n_depth INTEGER,
  test_time TEXT,
  avg_ns INTEGER,
  stddev_ns INTEGER,
  avg_ts REAL,
  stddev_ts REAL,
  samples_ns TEXT,
  samples_ts TEXT,
  adapter TEXT,
  prefill_layers TEXT,
  n_sessions INTEGER,
  n_cores INTEGER,
  file_bytes INTEGER,
  test TEXT,
  turn INTEGER,
  tier TEXT,
  tier_modelled INTEGER,
  reasoning TEXT,
  stands_for TEXT,
  same_as TEXT,
  reasoning_budget INTEGER,
  reasoning_tokens INTEGER,
  output_tokens INTEGER,
  finish TEXT,
  ttft_ns REAL,
  ttfo_ns REAL,
  tpot_ns REAL,
  ttft_ns_interval TEXT,
  ttfo_ns_interval TEXT,
  tpot_ns_interval TEXT,
  interval_refusal TEXT,
  ttft_ns_samples TEXT,
  ttfo_ns_samples TEXT,
  tpot_ns_samples TEXT,
  itl_ns_p50 REAL,
  itl_ns_p90 REAL,
  itl_ns_p99 REAL,
  itl_ns_p50_interval TEXT,
  itl_refusal TEXT,
  itl_ns_samples TEXT,
  prefill_ts REAL,
  prefill_context_frontier INTEGER,
  decode_ts REAL,
  decode_context_frontier INTEGER,
  prefill_ts_interval TEXT,
  decode_ts_interval TEXT,
  prefill_ts_samples TEXT,
  decode_ts_samples TEXT,
  kv_bytes_allocated INTEGER,
  kv_bytes_used INTEGER,
  kv_bytes_ideal INTEGER,
  kv_bytes_shared INTEGER,
  kv_bytes_wasted INTEGER,
  kv_bytes_predicted INTEGER,
  context_limit INTEGER,
  context_limit_source TEXT,
  context_used_instructions INTEGER,
  context_used_tools INTEGER,
  context_used_history INTEGER,
  context_used_prompt INTEGER,
  context_used_reasoning INTEGER,
  context_used_response INTEGER,
  weight_bytes INTEGER,
  peak_rss_bytes INTEGER,
  mbu REAL,
  memory_read_bytes_per_second REAL,
  isa TEXT,
  kernels TEXT,
  prompt_hash TEXT,
  warmup_requests INTEGER,
  warmup_ns INTEGER,
  recording_overhead REAL,
  verdict TEXT,
  verdict_reasons TEXT,
  verdict_words TEXT,
  error TEXT
);

INSERT INTO afm_bench (build_commit, build_number, cpu_info, model_filename, model_type, model_size, model_n_params, n_batch, n_ubatch, n_threads, type_k, type_v, use_mmap, n_prompt, n_gen, n_depth, test_time, avg_ns, stddev_ns, avg_ts, stddev_ts, samples_ns, samples_ts, adapter, prefill_layers, n_sessions, n_cores, file_bytes, test, turn, tier, tier_modelled, reasoning, stands_for, same_as, reasoning_budget, reasoning_tokens, output_tokens, finish, ttft_ns, ttfo_ns, tpot_ns, ttft_ns_interval, ttfo_ns_interval, tpot_ns_interval, interval_refusal, ttft_ns_samples, ttfo_ns_samples, tpot_ns_samples, itl_ns_p50, itl_ns_p90, itl_ns_p99, itl_ns_p50_interval, itl_refusal, itl_ns_samples, prefill_ts, prefill_context_frontier, decode_ts, decode_context_frontier, prefill_ts_interval, decode_ts_interval, prefill_ts_samples, decode_ts_samples, kv_bytes_allocated, kv_bytes_used, kv_bytes_ideal, kv_bytes_shared, kv_bytes_wasted, kv_bytes_predicted, context_limit, context_limit_source, context_used_instructions, context_used_tools, context_used_history, context_used_prompt, context_used_reasoning, context_used_response, weight_bytes, peak_rss_bytes, mbu, memory_read_bytes_per_second, isa, kernels, prompt_hash, warmup_requests, warmup_ns, recording_overhead, verdict, verdict_reasons, verdict_words, error) VALUES ('1f41bfe', 12, 'A CPU, "fast" @ 3 GHz', 'models/it''s | 漢字 😀.afmw', 'llama s8c', 136000000, 134515008, 512, 512, 2, 'f16', 's8', 0, 512, 0, 0, '2025-06-30T12:34:56Z', 730500000, 707107, 700.89013, 0.678445, '[730000000,731000000]', '[701.369863,700.410397]', NULL, 'needed', 1, NULL, NULL, 'pp512', NULL, 'on-device', 0, 'none', '[]', NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[]', '[]', '[]', NULL, NULL, NULL, NULL, NULL, '[]', 700.89013, 0, NULL, NULL, NULL, NULL, '[]', '[]', 0, 0, 0, 0, 0, 0, 4096, 'tier', 0, 0, 0, 512, 0, 0, 135000000, 300000000, NULL, 20000000000, 'avx512vnni', '["gemv_f32_s8t_s8c_r4_avx512vnni","gemm_f32_s8t_s8c_r4_avx512vnni"]', '9f86d081', NULL, NULL, 0.0004, 'noisy', '["too-few-samples","steal-time"]', '["needs 6 samples, has 2","3.0 % of CPU time was stolen (limit 1.0 %)"]', NULL);
INSERT INTO afm_bench (build_commit, build_number, cpu_info, model_filename, model_type, model_size, model_n_params, n_batch, n_ubatch, n_threads, type_k, type_v, use_mmap, n_prompt, n_gen, n_depth, test_time, avg_ns, stddev_ns, avg_ts, stddev_ts, samples_ns, samples_ts, adapter, prefill_layers, n_sessions, n_cores, file_bytes, test, turn, tier, tier_modelled, reasoning, stands_for, same_as, reasoning_budget, reasoning_tokens, output_tokens, finish, ttft_ns, ttfo_ns, tpot_ns, ttft_ns_interval, ttfo_ns_interval, tpot_ns_interval, interval_refusal, ttft_ns_samples, ttfo_ns_samples, tpot_ns_samples, itl_ns_p50, itl_ns_p90, itl_ns_p99, itl_ns_p50_interval, itl_refusal, itl_ns_samples, prefill_ts, prefill_context_frontier, decode_ts, decode_context_frontier, prefill_ts_interval, decode_ts_interval, prefill_ts_samples, decode_ts_samples, kv_bytes_allocated, kv_bytes_used, kv_bytes_ideal, kv_bytes_shared, kv_bytes_wasted, kv_bytes_predicted, context_limit, context_limit_source, context_used_instructions, context_used_tools, context_used_history, context_used_prompt, context_used_reasoning, context_used_response, weight_bytes, peak_rss_bytes, mbu, memory_read_bytes_per_second, isa, kernels, prompt_hash, warmup_requests, warmup_ns, recording_overhead, verdict, verdict_reasons, verdict_words, error) VALUES ('1f41bfe', 12, 'A CPU, "fast" @ 3 GHz', 'models/it''s | 漢字 😀.afmw', 'llama s8c', 136000000, 134515008, 512, 512, 2, 'f16', 's8', 0, 0, 128, 256, '2025-06-30T12:34:56Z', 1000000000, 0, 128, 0, '[]', '[]', NULL, 'needed', 1, NULL, NULL, 'tg128', NULL, 'on-device', 0, 'none', '[]', NULL, 0, 0, 128, 'length', 9876543, 9876543, 7812500, '[9000000,11000000]', '[9000000,11000000]', '[7800000,7900000]', NULL, '[]', '[]', '[]', 7812500, 8000000, NULL, NULL, 'P99: needs 662 values, has 128', '[7812500,7812500]', NULL, NULL, 128, 257, NULL, NULL, '[]', '[]', 9437184, 8888320, 8870400, 1048576, 548864, 0, 4096, 'tier', 0, 0, 256, 1, 0, 128, 135000000, 300000000, 0.875, 20000000000, 'avx512vnni', '["gemv_f32_s8t_s8c_r4_avx512vnni","gemm_f32_s8t_s8c_r4_avx512vnni"]', '9f86d081', NULL, NULL, 0.0004, 'trusted', '[]', '[]', NULL);
INSERT INTO afm_bench (build_commit, build_number, cpu_info, model_filename, model_type, model_size, model_n_params, n_batch, n_ubatch, n_threads, type_k, type_v, use_mmap, n_prompt, n_gen, n_depth, test_time, avg_ns, stddev_ns, avg_ts, stddev_ts, samples_ns, samples_ts, adapter, prefill_layers, n_sessions, n_cores, file_bytes, test, turn, tier, tier_modelled, reasoning, stands_for, same_as, reasoning_budget, reasoning_tokens, output_tokens, finish, ttft_ns, ttfo_ns, tpot_ns, ttft_ns_interval, ttfo_ns_interval, tpot_ns_interval, interval_refusal, ttft_ns_samples, ttfo_ns_samples, tpot_ns_samples, itl_ns_p50, itl_ns_p90, itl_ns_p99, itl_ns_p50_interval, itl_refusal, itl_ns_samples, prefill_ts, prefill_context_frontier, decode_ts, decode_context_frontier, prefill_ts_interval, decode_ts_interval, prefill_ts_samples, decode_ts_samples, kv_bytes_allocated, kv_bytes_used, kv_bytes_ideal, kv_bytes_shared, kv_bytes_wasted, kv_bytes_predicted, context_limit, context_limit_source, context_used_instructions, context_used_tools, context_used_history, context_used_prompt, context_used_reasoning, context_used_response, weight_bytes, peak_rss_bytes, mbu, memory_read_bytes_per_second, isa, kernels, prompt_hash, warmup_requests, warmup_ns, recording_overhead, verdict, verdict_reasons, verdict_words, error) VALUES ('1f41bfe', 12, 'A CPU, "fast" @ 3 GHz', 'models/it''s | 漢字 😀.afmw', 'llama s8c', 136000000, 134515008, 512, 512, 2, 'f16', 's8', 0, 30, 100, 0, '2025-06-30T12:34:56Z', 900000000, 1, 111.111, 1.5, '[]', '[]', NULL, 'needed', 1, NULL, NULL, 'chat', 2, 'private-cloud', 1, 'light', '[]', NULL, 64, 64, 100, 'stop', 48000000, 612345678, 8660000, NULL, NULL, NULL, 'a 95 % interval needs 6 samples, has 5', '[]', '[]', '[]', 8600000, NULL, NULL, NULL, 'P90: needs 64 values, has 1; P99: needs 662 values, has 1', '[8600000]', 650.25, 120, 115.5, 150, NULL, NULL, '[]', '[]', 0, 0, 0, 0, 0, 0, 8192, 'model', 20, 0, 100, 30, 70, 36, 135000000, 300000000, NULL, 20000000000, 'avx512vnni', '["gemv_f32_s8t_s8c_r4_avx512vnni","gemm_f32_s8t_s8c_r4_avx512vnni"]', '9f86d081', NULL, NULL, 0.0004, 'trusted', '[]', '[]', NULL);
INSERT INTO afm_bench (build_commit, build_number, cpu_info, model_filename, model_type, model_size, model_n_params, n_batch, n_ubatch, n_threads, type_k, type_v, use_mmap, n_prompt, n_gen, n_depth, test_time, avg_ns, stddev_ns, avg_ts, stddev_ts, samples_ns, samples_ts, adapter, prefill_layers, n_sessions, n_cores, file_bytes, test, turn, tier, tier_modelled, reasoning, stands_for, same_as, reasoning_budget, reasoning_tokens, output_tokens, finish, ttft_ns, ttfo_ns, tpot_ns, ttft_ns_interval, ttfo_ns_interval, tpot_ns_interval, interval_refusal, ttft_ns_samples, ttfo_ns_samples, tpot_ns_samples, itl_ns_p50, itl_ns_p90, itl_ns_p99, itl_ns_p50_interval, itl_refusal, itl_ns_samples, prefill_ts, prefill_context_frontier, decode_ts, decode_context_frontier, prefill_ts_interval, decode_ts_interval, prefill_ts_samples, decode_ts_samples, kv_bytes_allocated, kv_bytes_used, kv_bytes_ideal, kv_bytes_shared, kv_bytes_wasted, kv_bytes_predicted, context_limit, context_limit_source, context_used_instructions, context_used_tools, context_used_history, context_used_prompt, context_used_reasoning, context_used_response, weight_bytes, peak_rss_bytes, mbu, memory_read_bytes_per_second, isa, kernels, prompt_hash, warmup_requests, warmup_ns, recording_overhead, verdict, verdict_reasons, verdict_words, error) VALUES ('1f41bfe', 12, 'A CPU, "fast" @ 3 GHz', 'models/it''s | 漢字 😀.afmw', 'llama s8c', 136000000, 134515008, 512, 512, 2, 'f16', 's8', 0, 8192, 0, 0, '2025-06-30T12:34:56Z', NULL, NULL, NULL, NULL, '[]', '[]', NULL, 'needed', 1, NULL, NULL, 'pp8192', NULL, 'on-device', 0, 'none', '[]', NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[]', '[]', '[]', NULL, NULL, NULL, NULL, NULL, '[]', NULL, NULL, NULL, NULL, NULL, NULL, '[]', '[]', 0, 0, 0, 0, 0, 0, 4096, 'tier', 0, 0, 0, 0, 0, 0, 135000000, 300000000, NULL, 20000000000, 'avx512vnni', '["gemv_f32_s8t_s8c_r4_avx512vnni","gemm_f32_s8t_s8c_r4_avx512vnni"]', '9f86d081', NULL, NULL, 0.0004, 'invalid', '["error"]', '["context exceeded"]', 'context exceeded:
limit ''4096'', "8192" needed�');
