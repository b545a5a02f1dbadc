import BenchCore
import CacheSnapshots
import EngineInterface
import Engines
import Files
import KVCache
import ModelFile
import QuantKernels
import TensorCore
import Tiers
import Tokenization

/// An error as the shell sees it: one line and an exit code.
struct CommandFailure: Error {
  var exitCode: Code
  var message: String

  /// The documented exit codes.
  enum Code: Int32 {
    case checkFailed = 1
    case usage = 2
    case badInput = 3
    case environment = 4
    /// A run that SIGINT or SIGTERM ended early; as shells count, 128 and the signal.
    case interrupted = 130
    case terminated = 143
  }

  /// A message of one line; whatever it repeats from outside is escaped, and cut in the middle.
  init(_ exitCode: Code, _ message: String) {
    self.exitCode = exitCode
    self.message = MessageText.line(message, limit: Self.messageLimit)
  }

  /// Room for a path, a place and a reason, each of which is cut by itself where it is long.
  private static var messageLimit: Int { 3 * MessageText.limit + 100 }

  /// Nil for errors of other kinds: the argument parser's, and what nobody expects.
  init?(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as InputError:
      self.init(error.isLackOfResources ? .environment : .badInput, error.description)
    case let error as FileError: self.init(.environment, error.description)
    case .input(let error) as PackError: self.init(error)
    case .input(let error) as LoadError: self.init(error)
    case let error as ThreadRefusal: self.init(.environment, error.description)
    case .output(let error) as PackError: self.init(.environment, error.description)
    case let error as SelectionError:
      switch error {
      case .unknownName, .unknownChoice: self.init(.usage, error.description)
      case .unavailable: self.init(.environment, error.description)
      }
    case .output(let reason) as SnapshotError: self.init(.environment, reason)
    case .input(let error) as SnapshotError: self.init(error)
    case .cache(let error) as SnapshotError: self.init(error)
    case let error as SnapshotError: self.init(.badInput, error.description)
    case let error as CacheError: self.init(Self.code(of: error), error.description)
    case .engine(let error) as TierError: self.init(error)
    case let error as TierError: self.init(.badInput, error.description)
    case .cache(let error) as EngineError: self.init(Self.code(of: error), error.description)
    case let error as EngineError: self.init(.badInput, error.description)
    case let error as TokenizerError: self.init(.badInput, String(describing: error))
    case let error as ChatTemplateError: self.init(.badInput, "chat template: \(error)")
    default: return nil
    }
  }

  /// What a cache lacks: a budget that is too small is the user's, memory the machine's, and
  /// positions a matter of the input's length.
  private static func code(of error: CacheError) -> Code {
    switch error {
    case .budgetTooSmall: .usage
    case .noMemory: .environment
    case .full, .contextExceeded: .badInput
    }
  }

  /// Whether an error comes from a layer that knows no files.
  private static func isWithoutFile(_ error: any Error) -> Bool {
    switch error {
    case is EngineError, is TierError, is CacheError, is TokenizerError, is ChatTemplateError: true
    case .cache as SnapshotError: true
    default: false
    }
  }

  /// Works on a file: an error of a layer that knows no files gets its name.
  static func naming<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch {
      guard isWithoutFile(error), let failure = CommandFailure(error) else { throw error }
      throw CommandFailure(failure.exitCode, "\(MessageText.line(file)): \(failure.message)")
    }
  }
}
