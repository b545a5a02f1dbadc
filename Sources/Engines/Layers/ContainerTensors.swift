import ModelFile
import PackedFormats
import QuantKernels
import Synchronization
import TensorCore

/// The tensors of a packed file, loaded all in one pass when the first one is asked for, each in the
/// layout that it runs in.
///
/// A tensor is handed out once and then forgotten here, so that whoever converts it can give its
/// memory back.
final class ContainerTensors: Sendable {
  let file: AFMWFile
  private let threads: Int
  private let mapsWeights: Bool
  /// By name; nil until the first one is asked for.
  private let tensors = Mutex<[String: LoadedTensor]?>(nil)

  init(_ file: AFMWFile, threads: Int, mapsWeights: Bool) {
    self.file = file
    self.threads = threads
    self.mapsWeights = mapsWeights
  }

  /// Hands out a tensor.
  func take(_ name: String) throws(InputError) -> LoadedTensor {
    let found: Result<LoadedTensor?, InputError> = tensors.withLock { tensors in
      if tensors == nil {
        do throws(InputError) { tensors = try load() } catch { return .failure(error) }
      }
      return .success(tensors?.removeValue(forKey: name))
    }
    if let tensor = try found.get() { return tensor }
    // A tensor that the file has is missing here only where it was taken before.
    return try file.loadTensor(named: name, threads: threads)
  }

  private func load() throws(InputError) -> [String: LoadedTensor] {
    var loader = ModelLoader(threads: threads)
    loader.layout = Self.layout
    loader.mapsStoredPlanes = mapsWeights
    do throws(LoadError) {
      let loaded = try loader.load(file)
      return Dictionary(uniqueKeysWithValues: loaded.tensors.map { ($0.name, $0) })
    } catch {
      switch error {
      case .input(let fault): throw fault
      case .cancelled: preconditionFailure("nothing cancels this loading")
      }
    }
  }

  /// The layout that a tensor runs in.
  static func layout(_ tensor: StoredTensor) -> WeightLayout {
    guard tensor.shape.dimensions.count == 2, PackedMatrix.supports(tensor.format),
      tensor.shape.columnCount <= PackedMatrix.columnLimit
    else { return .canonical }
    return tensor.format.kernelLayout ?? .canonical
  }
}
