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

/// One input: it runs to its end, within the memory that its size excuses.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  guard let target = unsafe target else { return 0 }
  // libFuzzer lends `count` bytes for the call.
  let input = unsafe [UInt8](UnsafeBufferPointer(start: data, count: count))
  allocations_start()
  target.run(input)
  let peak = allocations_peak()
  let limit = target.heap.fixed + target.heap.perByte * count
  promise(peak <= limit, "\(peak) bytes of heap for an input of \(count), at most \(limit)")
  return 0
}
