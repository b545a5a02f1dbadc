import CFuzz

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// What libFuzzer calls. It is single-threaded, and calls `initialize` first.
nonisolated(unsafe) private var target: FuzzTarget?

/// Takes `--target=NAME`, which libFuzzer itself passes over, as it does `--strict`.
@c(LLVMFuzzerInitialize)
public func initialize(
  _ argumentCount: UnsafeMutablePointer<Int32>?,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> Int32 {
  let option = "--target="
  let name = CommandLine.arguments.first { $0.hasPrefix(option) }?.dropFirst(option.count)
  guard let found = FuzzTarget.named(String(name ?? "")) else {
    print("usage: Fuzz --target=\(FuzzTarget.all.map(\.name).joined(separator: "|")) …")
    exit(2)
  }
  unsafe target = found
  // Tables that are made at first use are not the input's fault.
  if !isStrict { found.run([]) }
  return 0
}

/// The longest that an input has taken.
nonisolated(unsafe) private var slowest = 0.0

/// One input: it runs to its end, within its time and the memory that its size excuses.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  guard let target = unsafe target else { return 0 }
  // libFuzzer lends `count` bytes for the call.
  let input = unsafe [UInt8](UnsafeBufferPointer(start: data, count: count))
  allocations_start()
  let start = processor_seconds()
  target.run(input)
  let seconds = processor_seconds() - start
  let peak = allocations_peak()
  // The address sanitizer makes the slowest operations take eight times as long.
  let mostSeconds = has_address_sanitizer() != 0 ? 5 * target.seconds : target.seconds
  promise(seconds <= mostSeconds, "\(seconds) seconds, at most \(mostSeconds)")
  // Each record is printed, the last of which is the run's; short ones say nothing.
  if unsafe seconds > max(slowest, 0.01) {
    unsafe slowest = seconds
    print("slowest: \((seconds * 1000).rounded() / 1000) seconds, \(count) bytes")
  }
  let limit = target.heap.fixed + target.heap.perByte * count
  promise(peak <= limit, "\(peak) bytes of heap for an input of \(count), at most \(limit)")
  return 0
}

/// Changes an input: of a template also by what its grammar writes.
@c(LLVMFuzzerCustomMutator)
public func mutate(
  _ data: UnsafeMutablePointer<UInt8>?, _ count: Int, _ capacity: Int, _ seed: UInt32
) -> Int {
  guard let target = unsafe target, target.usesGrammar, let data = unsafe data else {
    return unsafe LLVMFuzzerMutate(data, count, capacity)
  }
  var grammar = TemplateGrammar(seed: UInt64(seed))
  // libFuzzer lends `capacity` bytes, of which `count` are the input.
  let input = unsafe [UInt8](UnsafeBufferPointer(start: data, count: count))
  guard let output = grammar.mutated(input, maximumCount: capacity) else {
    return unsafe LLVMFuzzerMutate(data, count, capacity)
  }
  for (index, byte) in output.enumerated() { unsafe data[index] = byte }
  return output.count
}
