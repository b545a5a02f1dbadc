/// The accumulators of several tokens against one panel, in registers.
///
/// Written out as structs of structs, since an array of accumulators would live in memory.
protocol TokenTile: BitwiseCopyable {
  associatedtype Accumulator: PanelAccumulator
  static var tokenCount: Int { get }
  static var zero: Self { get }
  /// Adds one step: token i's activations lie at x + i · stride.
  mutating func dot(_ codes: Accumulator.Codes, _ x: UnsafeRawPointer, stride: Int)
  /// Calls with every token's accumulator, by a function that is inlined for each.
  func forEach(from first: Int, _ body: (Int, Accumulator) -> Void)
}

struct OneToken<Accumulator: PanelAccumulator>: TokenTile {
  var accumulator: Accumulator

  @inline(__always) static var tokenCount: Int { 1 }
  @inline(__always) static var zero: Self { Self(accumulator: .zero) }

  @inline(__always)
  mutating func dot(_ codes: Accumulator.Codes, _ x: UnsafeRawPointer, stride: Int) {
    unsafe accumulator.dot(codes, x)
  }

  @inline(__always) func forEach(from first: Int, _ body: (Int, Accumulator) -> Void) {
    body(first, accumulator)
  }
}

/// Two tiles, the second one's tokens after the first one's.
struct BothTokens<First: TokenTile, Second: TokenTile>: TokenTile
where First.Accumulator == Second.Accumulator {
  typealias Accumulator = First.Accumulator
  var first: First
  var second: Second

  @inline(__always) static var tokenCount: Int { First.tokenCount &+ Second.tokenCount }
  @inline(__always) static var zero: Self { Self(first: .zero, second: .zero) }

  @inline(__always)
  mutating func dot(_ codes: Accumulator.Codes, _ x: UnsafeRawPointer, stride: Int) {
    unsafe first.dot(codes, x, stride: stride)
    unsafe second.dot(codes, x + First.tokenCount &* stride, stride: stride)
  }

  @inline(__always) func forEach(from index: Int, _ body: (Int, Accumulator) -> Void) {
    first.forEach(from: index, body)
    second.forEach(from: index &+ First.tokenCount, body)
  }
}

typealias TwoTokens<A: PanelAccumulator> = BothTokens<OneToken<A>, OneToken<A>>
typealias ThreeTokens<A: PanelAccumulator> = BothTokens<TwoTokens<A>, OneToken<A>>
typealias FourTokens<A: PanelAccumulator> = BothTokens<TwoTokens<A>, TwoTokens<A>>
typealias SixTokens<A: PanelAccumulator> = BothTokens<ThreeTokens<A>, ThreeTokens<A>>
typealias TwelveTokens<A: PanelAccumulator> = BothTokens<SixTokens<A>, SixTokens<A>>
