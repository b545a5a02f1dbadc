import EngineInterface
import TraceCore

/// What the spans of a replay's requests say of the replay.
struct ReplayLabels {
  /// The number of the arguments that all requests have.
  let shared: Int64
  /// Why a request ended: as long as it was to be, or never begun.
  let length: Int64
  let refused: Int64
  private let place: String

  init(_ options: EngineReplay.Options, facts: EngineFacts) {
    let session = options.session
    let file = options.modelFile ?? facts.modelName
    let name = file.split(separator: "/").last.map(String.init) ?? file
    place = session.tier.isEmpty ? name : "\(session.tier) · \(name)"
    guard let recorder = options.recorder else {
      (shared, length, refused) = (0, 0, 0)
      return
    }
    length = recorder.intern("length").value
    refused = recorder.intern("refused").value
    let texts: [(TraceKey, String?)] = [
      (.test, "replay"), (.tier, session.tier.isEmpty ? nil : session.tier),
      (.reasoningLevel, "none"), (.model, facts.modelName), (.modelFile, options.modelFile),
      (.adapter, options.adapter?.name), (.keyElement, session.keyElement),
      (.valueElement, session.valueElement), (.instructionSet, facts.instructionSet),
    ]
    let numbers: [(TraceKey, Int)] = [
      (.contextLimit, session.contextLimit), (.threads, facts.threadCount),
    ]
    let arguments = texts.compactMap { key, text in
      text.map { TraceArgument(key: key, value: recorder.intern($0).value) }
    }
    shared =
      recorder.intern(
        arguments + numbers.map { TraceArgument(key: $0, value: Int64($1)) }
      ).value
  }

  /// The name of a track that shows one request at a time.
  func trackName(_ index: Int) -> String { "\(place): requests \(index + 1)" }
}
