import CKernels

// Pointers: the arguments describe the whole matrix, all tokens, the output and the scratch as the
// contract says; every address below is inside of one of them, by the loop bounds.

/// All rows of the call times all tokens, which have a scale each.
@inline(__always)
func gemmPerToken<Codes: PerTokenCodes>(_: Codes.Type, _ arguments: UnsafePointer<CKProduct>) {
  unsafe multiply(IntegerSums<Codes>.self, arguments)
}

/// All rows of the call times all tokens, which have a scale per chunk of 64 columns.
@inline(__always)
func gemmPerChunk<Codes: PackedCodes, Scales: WeightScales>(
  _: Codes.Type, _: Scales.Type, _ arguments: UnsafePointer<CKProduct>
) where Codes.Primitives == Scales.Primitives {
  unsafe multiply(GroupSums<Codes, Scales>.self, arguments)
}

/// Every panel times every block of tokens, a strip of columns at a time: its codes are unpacked to
/// bytes while the first tokens of the block are multiplied with them, and the others find those in
/// the nearest cache. What is summed over a strip waits in the scratch for the next.
@inline(__always)
private func multiply<Sums: PanelSums>(
  _: Sums.Type, _ arguments: UnsafePointer<CKProduct>
) {
  typealias Panel = GEMMPanel<Sums.Codes>
  let a = unsafe arguments.pointee
  let stepCount = unsafe a.chunkCount &* 16
  var tile = unsafe a.tileBegin
  while unsafe tile < a.tileEnd {
    var token = 0
    while unsafe token < a.tokenCount {
      let panel = unsafe Panel(a, tile: tile, firstToken: token)
      unsafe panel.clear()
      var step = 0
      while step < stepCount {
        let count = unsafe min(Panel.stripSteps, stepCount &- step)
        unsafe multiplyStrip(Sums.self, a, panel, step..<step &+ count)
        step &+= count
      }
      unsafe Sums.finish(a, panel)
      unsafe token &+= panel.tokenCount
    }
    tile &+= Sums.Codes.Panel.tileCount
  }
}

/// One strip times all tokens of the block, tile by tile of as many as the registers hold.
///
/// There is a limit to what Swift inlines into one function: of eight tiles, as here, everything.
@inline(__always)
private func multiplyStrip<Sums: PanelSums>(
  _: Sums.Type, _ a: CKProduct, _ panel: GEMMPanel<Sums.Codes>, _ steps: Range<Int>
) {
  typealias Many = Sums.Codes.Tokens
  typealias Few = Sums.Codes.FewTokens
  typealias Three = ThreeTokens<Sums.Codes.Panel>
  typealias Two = TwoTokens<Sums.Codes.Panel>
  typealias One = OneToken<Sums.Codes.Panel>
  let end = unsafe panel.tokenCount
  let packed = unsafe PackedSource(panel, firstStep: steps.lowerBound)
  var token = min(Few.tokenCount, end)
  if token == Few.tokenCount {
    unsafe multiplyTile(Sums.self, Few.self, packed, a, panel, 0, steps)
  } else if Few.tokenCount > 3 && token == 3 {
    unsafe multiplyTile(Sums.self, Three.self, packed, a, panel, 0, steps)
  } else if Few.tokenCount > 2 && token == 2 {
    unsafe multiplyTile(Sums.self, Two.self, packed, a, panel, 0, steps)
  } else {
    unsafe multiplyTile(Sums.self, One.self, packed, a, panel, 0, steps)
  }
  let strip = unsafe StripSource<Sums.Codes>(panel.strip)
  // Eight as four and four: six and two would load as much for the two as for the six.
  while end &- token >= Many.tokenCount && end &- token != 2 &* Few.tokenCount {
    unsafe multiplyTile(Sums.self, Many.self, strip, a, panel, token, steps)
    token &+= Many.tokenCount
  }
  while end &- token >= Few.tokenCount {
    unsafe multiplyTile(Sums.self, Few.self, strip, a, panel, token, steps)
    token &+= Few.tokenCount
  }
  if Few.tokenCount > 2 && end &- token >= 2 {
    unsafe multiplyTile(Sums.self, Two.self, strip, a, panel, token, steps)
    token &+= 2
  }
  if Few.tokenCount > 1 && token < end {
    unsafe multiplyTile(Sums.self, One.self, strip, a, panel, token, steps)
  }
}

/// One strip times one token tile, run by run.
@inline(__always)
private func multiplyTile<Sums: PanelSums, Tokens: TokenTile, Source: StepSource>(
  _: Sums.Type, _: Tokens.Type, _ source: Source, _ a: CKProduct, _ panel: GEMMPanel<Sums.Codes>,
  _ token: Int, _ steps: Range<Int>
) where Tokens.Accumulator == Sums.Codes.Panel, Source.Codes == Sums.Codes {
  let first = unsafe panel.firstToken &+ token
  var x = unsafe UnsafeRawPointer(
    a.activations + (first &* a.activationStride &+ steps.lowerBound &* 4))
  // Twelve addresses kept from step to step would not fit the registers of a loop that also has
  // groups to count; additions are cheaper than the stack.
  let recomputes = Sums.countsGroups && Tokens.tokenCount > 6
  @inline(__always) func stride() -> Int {
    unsafe recomputes ? ck_unknown(a.activationStride) : a.activationStride
  }
  var source = source
  var step = steps.lowerBound
  while step < steps.upperBound {
    var tokens = Tokens.zero
    let end = min(step &+ Sums.runSteps, steps.upperBound)
    var inner = step
    while inner < end {
      // Loads stay in their step: moved up, they take the registers of the accumulators.
      source.begin()
      unsafe tokens.dot(source.step(0), x, stride: stride())
      ck_memory_order()
      unsafe tokens.dot(source.step(1), x + 4, stride: stride())
      ck_memory_order()
      unsafe tokens.dot(source.step(2), x + 8, stride: stride())
      ck_memory_order()
      unsafe tokens.dot(source.step(3), x + 12, stride: stride())
      ck_memory_order()
      source.next()
      unsafe x += 16
      inner &+= 4
    }
    unsafe Sums.add(tokens, a, panel, token: token, step: step)
    step = end
  }
}
