import RandomNumbers
import Foundation

/// Makes workloads with the percentiles of published traces: lengths, arrivals, common beginnings.
///
/// The same profile, seed and count give the same workload on every machine. Lengths and pauses are
/// drawn from tables of quantiles. Conversations begin as a Poisson process; a request is continued
/// by another with a chance that grows with the conversation, after a drawn pause; the continuation
/// begins with the prompt before, all of it or, one time in seven, a part.
package struct WorkloadGenerator {
  private let profile: WorkloadProfile
  private var random: SplitMix64

  package init(profile: WorkloadProfile, seed: UInt64) {
    self.profile = profile
    random = SplitMix64(seed: seed)
  }

  /// A workload of `count` requests.
  package mutating func workload(count: Int) -> Workload {
    precondition(count > 0, "a workload has requests")
    let requests =
      switch profile {
      case .conversation: conversations(count)
      case .azureCode:
        independent(count, .azureCodeInputs, .azureCodeOutputs, gaps: .azureCodeGaps)
      case .azureConversation:
        independent(
          count, .azureConversationInputs, .azureConversationOutputs, gaps: .azureConversationGaps)
      }
    return Workload(
      name: profile.rawValue, requests: requests,
      hashPositions: profile == .conversation ? Workload.publishedHashPositions : nil)
  }

  /// 0 ..< 1, 53 bits.
  private mutating func share() -> Double { random.unit() }

  private mutating func draw(_ table: QuantileTable) -> Int {
    Int(table.value(share: share()).rounded())
  }

  // MARK: - Independent requests

  private mutating func independent(
    _ count: Int, _ inputs: QuantileTable, _ outputs: QuantileTable, gaps: QuantileTable
  ) -> [WorkloadRequest] {
    var requests: [WorkloadRequest] = []
    var microseconds: Int64 = 0
    // A few long gaps are much of the time: each strip of the distribution comes once, anywhere.
    var strips = Array(0..<count)
    for index in strips.indices.dropLast() {
      strips.swapAt(index, index + Int(share() * Double(count - index)))
    }
    for index in 0..<count {
      if index > 0 {
        let share = (Double(strips[index]) + share()) / Double(count)
        microseconds += Int64(gaps.value(share: share).rounded())
      }
      requests.append(
        WorkloadRequest(
          arrivalNanoseconds: microseconds * 1_000, inputCount: max(1, draw(inputs)),
          outputCount: draw(outputs)))
    }
    return requests
  }

  // MARK: - Conversations

  /// A request that waits for its turn.
  private struct Pending: Comparable {
    var milliseconds: Int
    /// What makes the order total.
    var number: Int
    /// The whole hashes that it begins with; empty for a first prompt.
    var shared: [UInt64]
    var depth: Int

    static func < (a: Pending, b: Pending) -> Bool {
      (a.milliseconds, a.number) < (b.milliseconds, b.number)
    }
  }

  private mutating func conversations(_ count: Int) -> [WorkloadRequest] {
    var requests: [WorkloadRequest] = []
    var nextHash: UInt64 = UInt64(ConversationShape.commonHashCount)
    var made = 0
    var nextBeginning = 0.0
    var waiting: [Pending] = []
    while requests.count < count {
      // Beginnings go on for ever, so there is always one to compare with.
      let beginning = Pending(
        milliseconds: Int(nextBeginning * 1_000), number: made, shared: [], depth: 0)
      made += 1
      let request: Pending
      if let first = waiting.last, first < beginning {
        request = waiting.removeLast()
      } else {
        request = beginning
        nextBeginning += -log(1 - share()) * ConversationShape.secondsBetweenBeginnings
      }
      let hashes = append(request, to: &requests, nextHash: &nextHash)
      guard let next = continuation(of: request, hashes, requests[requests.count - 1], made)
      else { continue }
      made += 1
      // Descending, so that the next one is the last.
      let place = waiting.firstIndex { $0 < next } ?? waiting.count
      waiting.insert(next, at: place)
    }
    return requests
  }

  /// Writes a request down; returns its hashes.
  private mutating func append(
    _ pending: Pending, to requests: inout [WorkloadRequest], nextHash: inout UInt64
  ) -> [UInt64] {
    let unit = Workload.publishedHashPositions
    let isFirst = pending.shared.isEmpty
    let inputs =
      isFirst
      ? max(1, draw(.conversationFirst)) : pending.shared.count * unit + draw(.conversationAdded)
    var hashes =
      isFirst ? (0..<UInt64(ConversationShape.commonHashCount)).map { $0 } : pending.shared
    let needed = (inputs + unit - 1) / unit
    while hashes.count < needed {
      hashes.append(nextHash)
      nextHash += 1
    }
    requests.append(
      WorkloadRequest(
        arrivalNanoseconds: Int64(pending.milliseconds) * 1_000_000, inputCount: inputs,
        outputCount: draw(.conversationOutputs), prefixHashes: Array(hashes.prefix(needed))))
    return hashes
  }

  /// The request that continues another, if one does.
  private mutating func continuation(
    of pending: Pending, _ hashes: [UInt64], _ request: WorkloadRequest, _ number: Int
  ) -> Pending? {
    let chances = ConversationShape.chances
    let isShort = pending.depth == 0 && request.inputCount <= ConversationShape.shortPositions
    let chance =
      isShort ? ConversationShape.shortChance : chances[min(pending.depth, chances.count - 1)]
    guard share() < chance else { return nil }
    let whole = request.inputCount / Workload.publishedHashPositions
    var kept = whole
    if share() >= ConversationShape.wholeShare {
      kept = whole * draw(.conversationParts) / 1_000
    }
    return Pending(
      milliseconds: Int(request.arrivalNanoseconds / 1_000_000) + draw(.conversationPauses),
      number: number, shared: Array(hashes.prefix(max(1, kept))), depth: pending.depth + 1)
  }
}
