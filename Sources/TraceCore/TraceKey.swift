/// The name of an argument of a trace event; it also says what the 64-bit value means.
///
/// Raw values are stored in recordings and never change their meaning. Values from 64 on are
/// strings: see ``isString``. Those that are ``isReserved`` are read and exported, and nothing here
/// records them.
public enum TraceKey: UInt8, CaseIterable, Hashable, Sendable {
  /// Place in the enclosing span: of a layer in its model, of a token in its request.
  case index = 1
  /// A number of tokens.
  case tokens = 2
  /// Token index in its sequence; of a phase, the context frontier at which it starts.
  case position = 3
  /// The number of a request in its run, from 0.
  case request = 4
  /// A token of the vocabulary.
  case tokenID = 5
  /// The most positions a context may have.
  case contextLimit = 6
  /// A number of bytes.
  case bytes = 7
  /// Rows of a weight matrix.
  case rows = 8
  /// Columns of a weight matrix.
  case columns = 9
  /// A number of worker threads.
  case threads = 10
  /// Prompt tokens that were found in the cache and not computed.
  case cachedTokens = 11
  /// The number of a repetition of the same request, from 0; negative while warming up.
  case repetition = 12
  /// A number of sessions that are served together.
  case sessions = 13
  /// Arguments that many events have: an index in ``Recording/argumentSets``.
  case shared = 14
  /// The turn of a conversation, from 1.
  case turn = 15
  /// Positions in the cache before a measurement begins.
  case depth = 16
  /// The place of a session among those that are served at the same time, from 0.
  case session = 17

  /// String: the tier, such as `on-device`.
  case tier = 64
  /// String: the reasoning level, such as `none` or `deep`.
  case reasoningLevel = 65
  /// String: the model's own name.
  case model = 66
  /// String: the kernel's name in its registry.
  case kernel = 67
  /// String: the instruction set selected.
  case instructionSet = 68
  /// String: why generation stopped.
  case stopReason = 69
  /// String: the tensor.
  case tensor = 70
  /// String: the weight format.
  case weightFormat = 71
  /// String: the test as the results name it, such as `pp512`, `tg128` or `chat`.
  case test = 72
  /// String: the model's file as it was given.
  case modelFile = 73
  /// String: how the cache stores keys.
  case keyElement = 74
  /// String: how the cache stores values.
  case valueElement = 75
  /// String: the low-rank adapter's file.
  case adapter = 76

  /// Whether the value is a ``TraceString`` and not a number.
  @inlinable public var isString: Bool { rawValue >= 64 }

  /// Whether nothing in this project records it: it names what a recording may say one day, or what
  /// a recording from elsewhere says.
  public var isReserved: Bool {
    switch self {
    case .rows, .columns, .kernel, .tensor, .weightFormat: true
    default: false
    }
  }

  /// The word shown in viewers, such as `tokenID`.
  public var label: String { String(describing: self) }
}
