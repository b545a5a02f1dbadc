import TraceCore

/// Follows the nesting of one track and collects its requests.
struct RequestReader {
  private struct OpenSpan {
    var name: TraceName
    var begin: TraceEvent
  }

  /// A request under way.
  private struct OpenRequest {
    var summary: RequestSummary
    var tokenEnds: [UInt64] = []
    /// The position of the second token span: the frontier of the decode rate.
    var decodeFrontier: Int64?
    var firstVisibleEnd: UInt64?
    var prefillTokens: Int64 = 0
    var prefillNanoseconds: UInt64 = 0
    var prefillFrontier: Int64?
    var hasPrefill = false
    var tokenizedTokens: Int64?
    /// The first record of the time waited for threads behind the first token.
    var waitedAtFirstToken: Int64?
  }

  private(set) var requests: [RequestSummary] = []

  private let trackName: String
  private let recording: Recording
  private var spans: [OpenSpan] = []
  private var request: OpenRequest?
  /// The last value of each counter on the track.
  private var counters: [TraceCounter: Int64] = [:]

  init(track: Recording.Track, recording: Recording) {
    trackName = track.name
    self.recording = recording
  }

  mutating func read(_ event: TraceEvent) {
    switch event.kind {
    case .begin:
      guard let name = event.name else { return }
      if name == .request, request == nil { request = open(event) }
      spans.append(OpenSpan(name: name, begin: event))
    case .end:
      guard let span = spans.popLast() else { return }
      close(span, event)
    case .counter:
      guard let counter = event.counter else { return }
      counters[counter] = event.counterValue
      if counter == .threadWait, let open = request, !open.tokenEnds.isEmpty {
        request?.waitedAtFirstToken = open.waitedAtFirstToken ?? event.counterValue
      }
      let before = request?.summary.counters[counter]
      request?.summary.counters[counter] = .init(
        last: event.counterValue,
        maximum: max(before?.maximum ?? event.counterValue, event.counterValue))
    case .instant:
      break
    }
  }

  // MARK: Boundaries of spans

  private func open(_ event: TraceEvent) -> OpenRequest {
    let session = spans.last { $0.name == .session }?.begin
    let shared = recording.sharedArguments(of: event)
    func number(_ key: TraceKey) -> Int64? {
      event.value(of: key) ?? shared.first { $0.key == key }?.value ?? session?.value(of: key)
    }
    func text(_ key: TraceKey) -> String? { number(key).flatMap(recording.string) }
    var summary = RequestSummary(
      request: event.value(of: .request), repetition: number(.repetition), tier: text(.tier),
      model: text(.model), reasoningLevel: text(.reasoningLevel), stopReason: nil,
      contextLimit: number(.contextLimit), trackName: trackName,
      submittedNanoseconds: event.timestamp, endToEndNanoseconds: 0, ttftNanoseconds: nil,
      ttfoNanoseconds: nil, itlNanosecondsSamples: [], promptTokens: nil, cachedTokens: 0,
      reasoningTokens: 0, responseTokens: 0, outputTokens: 0, prefill: nil, decode: nil,
      decodeWaitNanoseconds: nil,
      counters: counters.mapValues { .init(last: $0, maximum: $0) })
    summary.sessions = max(1, Int(clamping: number(.sessions) ?? 1))
    summary.test = text(.test)
    summary.turn = number(.turn)
    summary.depth = number(.depth)
    summary.modelFile = text(.modelFile)
    summary.keyElement = text(.keyElement)
    summary.valueElement = text(.valueElement)
    summary.adapter = text(.adapter)
    summary.threads = number(.threads)
    return OpenRequest(summary: summary)
  }

  private mutating func close(_ span: OpenSpan, _ end: TraceEvent) {
    guard var open = request else { return }
    switch span.name {
    case .token:
      token(span, end, &open)
    case .queued:
      open.summary.queuedNanoseconds =
        (open.summary.queuedNanoseconds ?? 0) &+ (end.timestamp &- span.begin.timestamp)
    case .tokenize:
      guard let tokens = end.value(of: .tokens) else { return }
      open.tokenizedTokens = (open.tokenizedTokens ?? 0) &+ tokens
    case .prefill:
      open.hasPrefill = true
      open.prefillFrontier = open.prefillFrontier ?? span.begin.value(of: .position)
      open.prefillTokens &+= span.begin.value(of: .tokens) ?? 0
      open.summary.cachedTokens &+= span.begin.value(of: .cachedTokens) ?? 0
      open.prefillNanoseconds &+= end.timestamp &- span.begin.timestamp
    case .request:
      // A request within a request would close here too; the convention has none.
      guard span.begin.timestamp == open.summary.submittedNanoseconds else { return }
      requests.append(finish(open, end))
      request = nil
      return
    default:
      return
    }
    request = open
  }

  private func token(_ span: OpenSpan, _ end: TraceEvent, _ open: inout OpenRequest) {
    open.tokenEnds.append(end.timestamp)
    if open.tokenEnds.count == 2 { open.decodeFrontier = span.begin.value(of: .position) }
    switch spans.last(where: { $0.name == .reasoning || $0.name == .response })?.name {
    case .reasoning:
      open.summary.reasoningTokens += 1
    case .response:
      open.summary.responseTokens += 1
      open.firstVisibleEnd = open.firstVisibleEnd ?? end.timestamp
    default:
      break
    }
  }

  /// The figures, by the formulas of TraceCore's convention.
  private func finish(_ open: OpenRequest, _ end: TraceEvent) -> RequestSummary {
    var summary = open.summary
    let submitted = summary.submittedNanoseconds
    let ends = open.tokenEnds
    summary.endToEndNanoseconds = end.timestamp &- submitted
    summary.ttftNanoseconds = ends.first.map { $0 &- submitted }
    summary.ttfoNanoseconds = open.firstVisibleEnd.map { $0 &- submitted }
    summary.itlNanosecondsSamples = zip(ends, ends.dropFirst()).map { $1 &- $0 }
    summary.outputTokens = ends.count
    summary.stopReason = end.value(of: .stopReason).flatMap(recording.string)
    if open.prefillNanoseconds > 0 {
      summary.prefill = RequestSummary.Rate(
        tokens: Int(open.prefillTokens), nanoseconds: open.prefillNanoseconds,
        contextFrontier: open.prefillFrontier)
    }
    summary.promptTokens =
      open.tokenizedTokens
      ?? (open.hasPrefill
        ? open.prefillTokens / Int64(summary.sessions) &+ summary.cachedTokens : nil)
    if let first = ends.first, let last = ends.last, last > first {
      summary.decode = RequestSummary.Rate(
        tokens: (ends.count - 1).multipliedReportingOverflow(by: summary.sessions).partialValue,
        nanoseconds: last &- first, contextFrontier: open.decodeFrontier)
      if let first = open.waitedAtFirstToken, let last = summary.counters[.threadWait]?.last {
        // What does not grow is no time.
        summary.decodeWaitNanoseconds = UInt64(
          clamping: last.subtractingReportingOverflow(first).partialValue)
      }
    }
    return summary
  }
}
