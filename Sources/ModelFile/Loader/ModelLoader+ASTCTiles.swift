import Glibc
import PackedFormats
import TensorCore

extension ModelLoader {
  /// Whether a tensor that has been loaded is to be brought into tiles.
  func becomesASTCTiles(_ tensor: LoadedTensor) -> Bool {
    tensor.layout == .canonical && tensor.format.isASTC
      && layout(tensor.description) == .astcTiles && tensor.description.fits(.astcTiles)
  }

  /// Brings ASTC tensors into tiles, one after the other on all threads, and gives their canonical
  /// planes back: at no time more than one tensor exists twice.
  ///
  /// A tensor with a block that the layout does not hold stays canonical.
  func makeASTCTiles(_ loaded: inout Loaded, _ file: AFMWFile) throws(LoadError) {
    let start = StageClock.nanoseconds(CLOCK_MONOTONIC)
    let processorStart = StageClock.nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    var timing = LoadReport.Timing()
    for index in loaded.tensors.indices where becomesASTCTiles(loaded.tensors[index]) {
      if let cancellation, cancellation.isCancelled { throw .cancelled }
      let before = loaded.tensors[index].byteCount
      do throws(ASTCTileLayout.Refusal) {
        loaded.tensors[index] = try loaded.tensors[index].inASTCTiles(threads: threads)
        loaded.report.tensorByteCount += loaded.tensors[index].byteCount - before
      } catch {
        loaded.refusals.append(
          InputError(
            file: file.path, place: "tensor \(loaded.tensors[index].name)",
            reason: "\(error); it stays in the canonical layout"))
      }
      timing.byteCount += before
      timing.count += 1
    }
    let elapsed = Int(StageClock.nanoseconds(CLOCK_MONOTONIC) &- start)
    timing.processorNanoseconds = Int(
      StageClock.nanoseconds(CLOCK_PROCESS_CPUTIME_ID) &- processorStart)
    timing.elapsedNanoseconds = elapsed * loaded.report.threadCount
    loaded.report.stages[.transcode, default: LoadReport.Timing()].add(timing)
    loaded.report.readyNanoseconds += elapsed
  }
}
