/// Walks over valid UTF-8 and cuts it into pre-tokens, in time linear in the bytes.
struct PreTokenScanner {
  private let kind: PreTokenizer
  private let bytes: [UInt8]
  private let table = ScalarClassTable.shared
  private let end: Int
  private var offset: Int
  /// Where the text between two numbers ends (`smollm`): expressions do not see beyond it.
  private var segmentEnd: Int

  /// The bytes in the range are valid UTF-8.
  init(_ kind: PreTokenizer, bytes: [UInt8], range: Range<Int>) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= bytes.count, "range outside the bytes")
    self.kind = kind
    self.bytes = bytes
    end = range.upperBound
    offset = range.lowerBound
    segmentEnd = kind == .smollm ? range.lowerBound : range.upperBound
  }

  /// The next pre-token; nil at the end.
  mutating func next() -> Range<Int>? {
    guard offset < end else { return nil }
    let start = offset
    switch kind {
    case .gpt2: offset = gpt2Cut(from: start)
    case .smollm: offset = smollmCut(from: start)
    case .qwen2: offset = qwen2Cut(from: start, numbersPerPiece: 1)
    case .llama3: offset = qwen2Cut(from: start, numbersPerPiece: 3)
    }
    return start..<offset
  }
}

// MARK: - Reading scalars

extension PreTokenScanner {
  /// The class of the scalar at an offset, and the offset behind it.
  @inline(__always)
  private func scalar(at offset: Int) -> (kind: ScalarClass, next: Int) {
    let lead = bytes[offset]
    if lead < 0x80 { return (table.kind(of: UInt32(lead)), offset + 1) }
    return wideScalar(at: offset, lead: UInt32(lead))
  }

  private func wideScalar(at offset: Int, lead: UInt32) -> (kind: ScalarClass, next: Int) {
    func low(_ index: Int) -> UInt32 { UInt32(bytes[offset + index] & 0x3F) }
    if lead < 0xE0 { return (table.kind(of: (lead & 0x1F) << 6 | low(1)), offset + 2) }
    if lead < 0xF0 {
      return (table.kind(of: (lead & 0x0F) << 12 | low(1) << 6 | low(2)), offset + 3)
    }
    let value = (lead & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3)
    return (table.kind(of: value), offset + 4)
  }

  /// Where the run of scalars of one class that holds `start` ends.
  @inline(__always)
  private func runEnd(of kind: ScalarClass, from start: Int) -> Int {
    var offset = start
    while offset < segmentEnd {
      let scalar = scalar(at: offset)
      if scalar.kind != kind { break }
      offset = scalar.next
    }
    return offset
  }

  /// A run of white space: where it ends, where its last scalar begins, and where the last line
  /// break in it ends.
  private func whitespaceRun(from start: Int) -> (end: Int, last: Int, lineBreakEnd: Int?) {
    var (offset, last, lineBreakEnd) = (start, start, Int?.none)
    while offset < segmentEnd {
      let scalar = scalar(at: offset)
      guard scalar.kind.isWhitespace else { break }
      last = offset
      offset = scalar.next
      if scalar.kind == .newline { lineBreakEnd = offset }
    }
    return (offset, last, lineBreakEnd)
  }

  /// `\s+(?!\S)|\s+`: a run leaves its last scalar to what follows, unless that is all it has.
  private func whitespaceCut(from start: Int, end runEnd: Int, last: Int) -> Int {
    runEnd == segmentEnd || last == start ? runEnd : last
  }

  /// The end of `'s`, `'t`, `'re`, … at an offset that holds an apostrophe.
  private func contractionEnd(from start: Int, ignoringCase: Bool) -> Int? {
    let mask: UInt8 = ignoringCase ? 0x20 : 0
    func letter(_ index: Int) -> UInt8 {
      start + index < segmentEnd ? bytes[start + index] | mask : 0
    }
    switch letter(1) {
    case UInt8(ascii: "s"), UInt8(ascii: "t"), UInt8(ascii: "m"), UInt8(ascii: "d"):
      return start + 2
    case UInt8(ascii: "r"), UInt8(ascii: "v"):
      return letter(2) == UInt8(ascii: "e") ? start + 3 : nil
    case UInt8(ascii: "l"): return letter(2) == UInt8(ascii: "l") ? start + 3 : nil
    case 0xC5 | mask where ignoringCase && start + 2 < segmentEnd:
      // The long s, U+017F, is an s when case is ignored.
      return bytes[start + 1] == 0xC5 && bytes[start + 2] == 0xBF ? start + 3 : nil
    default: return nil
    }
  }
}

// MARK: - The expressions

extension PreTokenScanner {
  private func gpt2Cut(from start: Int) -> Int {
    let first = bytes[start]
    if first == UInt8(ascii: "'"), let cut = contractionEnd(from: start, ignoringCase: false) {
      return cut
    }
    let scalar = scalar(at: start)
    guard scalar.kind.isWhitespace else { return runEnd(of: scalar.kind, from: scalar.next) }
    if first == UInt8(ascii: " "), scalar.next < segmentEnd {
      let following = self.scalar(at: scalar.next)
      if !following.kind.isWhitespace { return runEnd(of: following.kind, from: following.next) }
    }
    let run = whitespaceRun(from: start)
    return whitespaceCut(from: start, end: run.end, last: run.last)
  }

  private mutating func smollmCut(from start: Int) -> Int {
    if start == segmentEnd {
      let first = scalar(at: start)
      if first.kind == .number {
        segmentEnd = first.next
        return first.next
      }
      segmentEnd = first.next
      while segmentEnd < end {
        let scalar = scalar(at: segmentEnd)
        if scalar.kind == .number { break }
        segmentEnd = scalar.next
      }
    }
    return gpt2Cut(from: start)
  }

  private func qwen2Cut(from start: Int, numbersPerPiece: Int) -> Int {
    let first = bytes[start]
    if first == UInt8(ascii: "'"), let cut = contractionEnd(from: start, ignoringCase: true) {
      return cut
    }
    let scalar = scalar(at: start)
    if scalar.kind == .letter { return runEnd(of: .letter, from: scalar.next) }
    if scalar.kind == .number { return numberCut(from: scalar.next, atMost: numbersPerPiece - 1) }
    if scalar.kind != .newline, scalar.next < segmentEnd {
      let following = self.scalar(at: scalar.next)
      if following.kind == .letter { return runEnd(of: .letter, from: following.next) }
      if first == UInt8(ascii: " "), following.kind == .other {
        return symbolCut(from: following.next)
      }
    }
    if scalar.kind == .other { return symbolCut(from: scalar.next) }
    let run = whitespaceRun(from: start)
    return run.lineBreakEnd ?? whitespaceCut(from: start, end: run.end, last: run.last)
  }

  /// `[^\s\p{L}\p{N}]*[\r\n]*`
  private func symbolCut(from start: Int) -> Int {
    runEnd(of: .newline, from: runEnd(of: .other, from: start))
  }

  private func numberCut(from start: Int, atMost count: Int) -> Int {
    var offset = start
    for _ in 0..<count {
      guard offset < segmentEnd else { break }
      let scalar = scalar(at: offset)
      guard scalar.kind == .number else { break }
      offset = scalar.next
    }
    return offset
  }
}
