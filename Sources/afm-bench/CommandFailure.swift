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
  }

  init(_ exitCode: Code, _ message: String) {
    self.exitCode = exitCode
    self.message = message
  }

  /// Nil for errors of other kinds: the argument parser's, and what nobody expects.
  init?(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as InputError: self.init(.badInput, error.description)
    case let error as FileError: self.init(.environment, error.description)
    case .input(let error) as PackError: self.init(.badInput, error.description)
    case .output(let error) as PackError: self.init(.environment, error.description)
    case let error as SelectionError:
      switch error {
      case .unknownName, .unknownChoice: self.init(.usage, error.description)
      case .unavailable: self.init(.environment, error.description)
      }
    case .output(let reason) as SnapshotError: self.init(.environment, reason)
    case let error as SnapshotError: self.init(.badInput, error.description)
    case let error as CacheError: self.init(.usage, error.description)
    case let error as TierError: self.init(.badInput, error.description)
    case let error as EngineError: self.init(.badInput, error.description)
    case let error as TokenizerError: self.init(.badInput, String(describing: error))
    case let error as ChatTemplateError: self.init(.badInput, String(describing: error))
    default: return nil
    }
  }
}
