/// What a trace span or an instant is about: a closed list, so that names stay low in number and
/// details go into arguments.
///
/// Raw values are stored in recordings and never change their meaning. Values from 64 on are
/// details: see ``isDetail``. Those that are ``isReserved`` are read and exported, and nothing here
/// records them.
public enum TraceName: UInt8, CaseIterable, Hashable, Sendable {
  /// A session on a tier, from its opening to its closing.
  case session = 1
  /// A request from its submission to its complete answer: the interval called end-to-end.
  case request = 2
  /// One run of the model for a request; a request with a tool call has several.
  case inference = 3
  /// Applying the chat template.
  case template = 4
  /// Text to token ids.
  case tokenize = 5
  /// The prefill phase.
  case prefill = 6
  /// A decode loop outside a conversation, as in a plain benchmark of the decode rate.
  case decode = 7
  /// The phase that generates reasoning tokens.
  case reasoning = 8
  /// The phase that generates visible tokens.
  case response = 9
  /// A tool at work.
  case tool = 10
  /// The work for one output token; ends the moment its id is known.
  case token = 11
  /// Token ids to text.
  case detokenize = 12
  /// Waiting for room: from a request's arrival to its first work.
  case queued = 13
  /// Loading a model, all steps.
  case load = 16
  /// Opening and mapping a file.
  case open = 17
  /// Reading bytes from a file.
  case read = 18
  /// Decompressing zstd frames.
  case inflate = 19
  /// Changing the layout or format of weights.
  case transcode = 20
  /// Checking checksums.
  case verify = 21
  /// Choosing the tier for a request.
  case route = 22
  /// Holding values against the rules of their formats.
  case validate = 23
  /// Getting memory from the system, cleared.
  case allocate = 24

  /// One transformer layer.
  case layer = 64
  /// The attention half of a layer.
  case attention = 65
  /// The feed-forward half of a layer.
  case feedForward = 66
  /// Final norm and logits.
  case output = 67
  /// Choosing a token id from logits.
  case sample = 68
  /// One kernel call; its argument ``TraceKey/kernel`` says which.
  case kernel = 69
  /// Looking up embedding rows.
  case embed = 70
  /// Writing keys and values into cache pages.
  case cacheWrite = 71

  /// Whether the span is below the token. A writer that runs full drops these first, so that what
  /// the metrics are computed from outlasts them.
  @inlinable public var isDetail: Bool { rawValue >= 64 }

  /// Whether nothing in this project records it: it names what a recording may say one day, or what
  /// a recording from elsewhere says.
  public var isReserved: Bool {
    switch self {
    case .inference, .decode, .tool, .open, .route, .kernel, .embed, .cacheWrite: true
    default: false
    }
  }

  /// The word shown in viewers, such as `feedForward`.
  public var label: String { String(describing: self) }
}
